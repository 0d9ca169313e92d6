# SPDX-License-Identifier: Apache-2.0
import json
import pathlib
import pickle
import random
import threading
import unittest
import warnings

import command
import numpy

import millrace


def drawn_graph(seed):
    """A random graph of every kind of member."""
    draw = random.Random(seed)
    ops = []
    for i in range(draw.randrange(1, 30)):
        seconds = draw.choice([None, draw.random(), {"cpu": draw.random(), "gpu": draw.random()}])
        ops.append(
            millrace.Op(
                f"op {i}",
                draw.choice(["Conv", "Relu", "", "MatMul"]),
                flops=draw.choice([0, 1e9 * draw.random()]),
                weight_bytes=draw.choice([0.0, 4096 * draw.random()]),
                bytes_accessed=draw.choice([None, draw.random()]),
                seconds=seconds,
                colocate=draw.choice(["", "", "here"]),
                layer=draw.choice([None, 3]),
            )
        )
    tensors = [millrace.Tensor("in", -1, [0], 100)]
    for i in range(len(ops)):
        readers = [j for j in range(i + 1, len(ops)) if draw.random() < 0.2]
        tensors.append(millrace.Tensor(f"t{i}", i, readers, 1e6 * draw.random(), output=not readers))
    return millrace.Graph(f"graph {seed}", ops, tensors, [millrace.GroupTime([0], {"cpu": 0.5})])


class Graphs(command.TestInFolder):
    def test_survive_every_way_out_and_back(self):
        for seed in range(30):
            graph = drawn_graph(seed)
            graph.save(self.path("graph.json"))
            for again in (
                millrace.Graph.from_json(graph.to_json()),
                millrace.Graph.from_dict(graph.to_dict()),
                millrace.load(pathlib.Path(self.path("graph.json"))),
                millrace.Graph(graph.name, graph.ops, graph.tensors, graph.group_seconds),
                pickle.loads(pickle.dumps(graph)),
            ):
                self.assertEqual(again, graph)
                self.assertEqual(again.ops, graph.ops)
                self.assertEqual(again.tensors, graph.tensors)
                self.assertEqual(again.hash, graph.hash)
            self.assertEqual(json.loads(graph.to_json()), graph.to_dict())

    def test_are_what_the_command_reads(self):
        graph = drawn_graph(7)
        graph.save(self.path("graph.json"))
        command.run("convert", self.path("graph.json"), self.path("again.json"))
        self.assertEqual(millrace.load(self.path("again.json")), graph)

    def test_know_their_neighbours(self):
        graph = millrace.Graph.from_edges([1, 2.5, None], [(0, 1, 10), (0, 2, 20), (1, 2, 30)], types=["A", "B", "C"])
        self.assertEqual([op.seconds for op in graph.ops], [1.0, 2.5, None])
        self.assertEqual([op.type for op in graph.ops], ["A", "B", "C"])
        self.assertEqual(graph.successors(0), [1, 2])
        self.assertEqual(graph.predecessors(2), [0, 1])
        self.assertEqual(graph.topological_order(), [0, 1, 2])
        self.assertEqual(graph.tensors[2].bytes, 30)
        self.assertEqual(len(graph), graph.num_ops)
        with self.assertRaises(IndexError):
            graph.op(3)
        with self.assertRaises(IndexError):
            graph.predecessors(-1)

    def test_take_numbers_of_numpy(self):
        seconds = numpy.array([1.0, 2.0])
        graph = millrace.Graph.from_edges(seconds, [(numpy.int64(0), numpy.int32(1), numpy.float32(4))])
        self.assertEqual(graph.op(1).seconds, 2.0)
        as_dict = graph.to_dict()
        as_dict["ops"][0]["seconds"] = numpy.float64(3)
        as_dict["tensors"][0]["consumers"] = numpy.array([1])
        self.assertEqual(millrace.Graph.from_dict(as_dict).op(0).seconds, 3.0)

    def test_refuse_what_makes_no_sense(self):
        def refused(words, make, *arguments, **named):
            with self.assertRaisesRegex(millrace.InvalidInput, words):
                make(*arguments, **named)

        edges = millrace.Graph.from_edges
        refused("cycle", edges, [1, 1], [(0, 1, 0), (1, 0, 0)])
        refused("no op 5|unknown|5", edges, [1, 1], [(0, 5, 0)])
        refused("no op -1", edges, [1, 1], [(-1, 1, 0)])
        refused("negative|>= 0|-1", edges, [-1], [])
        refused("finite|nan", edges, [float("nan")], [])
        refused("one for each op", edges, [1], [], names=["a", "b"])
        refused("device kind", millrace.Op, "x", seconds={})
        refused("version", millrace.Graph.from_dict, {"format": "millrace.graph", "version": 9})
        refused("JSON", millrace.Graph.from_json, "nonsense")
        refused("missing.json", millrace.load, self.path("missing.json"))
        with self.assertRaises(ValueError):  # which InvalidInput is, too
            millrace.Graph.from_dict({"format": "millrace.graph", "version": float("nan")})
        with self.assertRaises(TypeError):
            millrace.Graph.from_dict({"format": object()})
        with self.assertRaises(millrace.WorkFailed):
            drawn_graph(1).save(self.path("no folder/graph.json"))

    def test_have_complaints_without_control_characters(self):
        with self.assertRaises(millrace.InvalidInput) as caught:
            millrace.load("no\nfile\x1b[31m.json")
        self.assertNotIn("\n", str(caught.exception))
        self.assertNotIn("\x1b", str(caught.exception))

    def test_of_models_are_executable(self):
        path = self.generated("towers", "model.onnx", seed=2)
        graph = millrace.load(path)
        self.assertTrue(graph.executable)
        self.assertFalse(drawn_graph(0).executable)
        command.run("convert", path, self.path("graph.json"))
        self.assertEqual(millrace.load(self.path("graph.json")), graph)
        with self.assertRaises(TypeError):
            pickle.dumps(graph)

    def test_of_damaged_models_are_refused(self):
        path = self.generated("towers", "model.onnx", seed=2)
        whole = pathlib.Path(path).read_bytes()
        pathlib.Path(path).write_bytes(whole[: len(whole) // 2])
        with self.assertRaisesRegex(millrace.InvalidInput, "model.onnx"):
            millrace.load(path)

    def test_bind_dimensions(self):
        path = self.generated("towers", "model.onnx", seed=2)
        with self.assertRaisesRegex(millrace.InvalidInput, "dimension n: 0"):
            millrace.load(path, dimensions={"n": 0})

    def test_are_loaded_without_warnings_where_all_is_well(self):
        path = self.generated("layered", "graph.json", ops=20)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            self.assertEqual(millrace.load(path).warnings, [])

    def test_are_loaded_by_several_threads_at_once(self):
        path = self.generated("towers", "model.onnx", seed=2)
        whole = millrace.load(path)
        loaded = []
        threads = [threading.Thread(target=lambda: loaded.append(millrace.load(path))) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(loaded, [whole] * 4)


if __name__ == "__main__":
    unittest.main()

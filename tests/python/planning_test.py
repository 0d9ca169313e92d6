# SPDX-License-Identifier: Apache-2.0
import json
import pathlib
import pickle
import threading
import unittest

import command
import numpy

import millrace

PROBLEMS = (
    ("layered", {"ops": 40, "seed": 1}, "homogeneous:3,latency=1e-3"),
    ("er", {"ops": 25, "seed": 2}, "p100x4"),
    ("towers", {"seed": 3}, "cpu-gpu"),
)


class Planning(command.TestInFolder):
    def problems(self):
        for number, (family, options, machine) in enumerate(PROBLEMS):
            path = self.generated(family, f"graph{number}.json", **options)
            yield path, millrace.load(path), machine

    def test_finds_the_plans_of_the_command(self):
        methods = (
            ("heft", {}),
            ("random", {"samples": 20}),
            ("anneal", {"iterations": 2000}),
            ("gflownet", {"samples": 4, "temperature": 0.02}),
            ("go", {"samples": 2}),
        )
        for path, graph, machine in self.problems():
            for method, options in methods:
                words = [word for name, value in options.items() for word in (f"--{name}", value)]
                said = command.answer(
                    "schedule", path, "--machine", machine, "--method", method, "--seed", 5, *words, "-o", self.path("plan.json")
                )
                found = millrace.schedule(graph, machine, method, seed=5, **options)
                self.assertEqual(found.plan, millrace.load_plan(self.path("plan.json"), graph), method)
                for member in said:
                    if hasattr(found, member) and member != "wall_seconds":
                        self.assertEqual(getattr(found, member), said[member], (method, member))
                self.assertIn("proven_bound_seconds", said)
                self.assertLessEqual(found.proven_bound_seconds, found.makespan_seconds * (1 + 1e-9))

    def test_finds_the_same_at_any_number_of_threads(self):
        for _, graph, machine in self.problems():
            plans = [
                millrace.schedule(graph, machine, "gflownet", samples=16, seed=9, threads=threads).plan
                for threads in (1, 2, 3)
            ]
            self.assertEqual(plans, [plans[0]] * 3)

    def test_goes_on_in_several_threads_at_once(self):
        problems = list(self.problems())
        alone = [millrace.schedule(graph, machine, "anneal", iterations=3000).plan for _, graph, machine in problems]
        beside = [None] * len(problems)

        def work(i):
            beside[i] = millrace.schedule(problems[i][1], problems[i][2], "anneal", iterations=3000).plan

        threads = [threading.Thread(target=work, args=(i,)) for i in range(len(problems))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(beside, alone)

    def test_leaves_other_threads_their_turn(self):
        graph = millrace.load(self.generated("layered", "graph.json", ops=100))
        turns = []
        stop = threading.Event()

        def count():
            while not stop.wait(0.01):
                turns.append(1)

        thread = threading.Thread(target=count)
        thread.start()
        millrace.schedule(graph, "homogeneous:4", "anneal", time_limit=0.6)
        stop.set()
        thread.join()
        self.assertGreater(len(turns), 5)

    def test_refuses_what_methods_do_not_take(self):
        graph = millrace.Graph.from_edges([1, 2], [(0, 1, 0)])
        for words, named in (
            ("no such|there is no|nosuch", {"method": "nosuch"}),
            ("heft takes no samples", {"samples": 3}),
            ("heft takes no iterations", {"iterations": 3}),
            ("heft takes no weights", {"weights": "w.safetensors"}),
            ("temperature", {"temperature": 0.1}),
            ("samples: 0", {"method": "random", "samples": 0}),
            ("iterations: 1.5", {"method": "anneal", "iterations": 1.5}),
            ("seed: -1", {"seed": -1}),
            ("seed: 18446744073709551616", {"seed": 2**64}),
            ("time_limit", {"time_limit": float("nan")}),
            ("time_limit", {"time_limit": 0}),
            ("threads: 5000", {"threads": 5000}),
            ("proxy 'fast'", {"proxy": "fast"}),
            ("fusion", {"fusion": "all"}),
            ("none.safetensors", {"method": "gflownet", "weights": self.path("none.safetensors")}),
        ):
            with self.assertRaisesRegex(millrace.InvalidInput, words, msg=str(named)):
                millrace.schedule(graph, "homogeneous:2", **named)
        with self.assertRaises(TypeError):
            millrace.schedule("graph.json", "homogeneous:2")
        with self.assertRaises(TypeError):
            millrace.schedule(graph, None)

    def test_keeps_to_what_is_settled_before(self):
        graph = millrace.load(self.generated("layered", "graph.json", ops=40))
        first = millrace.schedule(graph, "homogeneous:3,bandwidth=1e9").plan
        names = [op.name for op in graph.ops]
        pinned = millrace.schedule(graph, "homogeneous:3,bandwidth=1e9", "anneal", iterations=500, pins={"*": 2}).plan
        self.assertEqual(set(pinned.placement), {2})
        kept = millrace.schedule(graph, "homogeneous:3,bandwidth=1e9", "anneal", iterations=500, keep=first)
        self.assertEqual(list(kept.plan.placement), list(first.placement))
        some = millrace.schedule(graph, "homogeneous:3,bandwidth=1e9", "random", keep=first, keep_ops=[names[0]]).plan
        self.assertEqual(some.placement[0], first.placement[0])
        for words, named in (
            ("keep_ops", {"keep_ops": ["a"]}),
            ("a list", {"keep": first, "keep_ops": "a"}),
            ("name matches .nosuch", {"pins": {"nosuch": 0}}),
            ("device", {"pins": {"*": "nosuch"}}),
            ("objective", {"objective": "beauty"}),
        ):
            with self.assertRaisesRegex(millrace.InvalidInput, words, msg=str(named)):
                millrace.schedule(graph, "homogeneous:3", **named)

    def test_trades_latency_for_memory(self):
        graph = millrace.load(self.generated("layered", "graph.json", ops=60))
        machine = "homogeneous:2,bandwidth=1e9"
        found = millrace.schedule(graph, machine, "anneal", iterations=2000, objective="memory,within=2")
        self.assertTrue(found.front)
        self.assertIn(found.makespan_seconds, [seconds for seconds, _ in found.front])
        self.assertEqual([value for _, value in found.front], sorted((value for _, value in found.front), reverse=True))
        self.assertEqual(millrace.schedule(graph, "homogeneous:2").front, ())

    def test_fails_where_nothing_fits(self):
        graph = millrace.Graph("big", [millrace.Op("op", seconds=1, weight_bytes=1e12)], [])
        with self.assertRaisesRegex(millrace.WorkFailed, "memory"):
            millrace.schedule(graph, "p100x2")

    def test_knows_its_methods(self):
        methods = millrace.methods()
        self.assertIn("heft", methods)
        self.assertTrue(methods["gflownet"].learned and methods["gflownet"].available)
        self.assertTrue(methods["random"].takes_samples)
        self.assertIn("temperature", [option.name for option in methods["gflownet"].options])
        graph = millrace.Graph.from_edges([1, 2, 3], [(0, 1, 0), (0, 2, 0)])
        for name in methods:
            plan = millrace.schedule(graph, "homogeneous:2", name, time_limit=0.2).plan
            millrace.verify(graph, plan)


class Simulation(command.TestInFolder):
    def test_says_what_the_command_says(self):
        for number, (family, options, machine) in enumerate(PROBLEMS):
            path = self.generated(family, f"graph{number}.json", **options)
            graph = millrace.load(path)
            plan = millrace.schedule(graph, machine, "random", fusion="greedy").plan
            plan.save(self.path("plan.json"))
            for proxy in (None, "linear", "contended"):
                words = [] if proxy is None else ["--proxy", proxy]
                said = command.answer("simulate", path, "--plan", self.path("plan.json"), *words)
                timeline = millrace.simulate(graph, plan, proxy=proxy)
                numpy.testing.assert_array_equal(timeline.start, [group["start"] for group in said["groups"]])
                numpy.testing.assert_array_equal(timeline.finish, [group["finish"] for group in said["groups"]])
                numpy.testing.assert_array_equal(timeline.device, [group["device"] for group in said["groups"]])
                numpy.testing.assert_array_equal(timeline.peak_memory_bytes, said["peak_memory_bytes"])
                for member in ("makespan_seconds", "feasible", "lower_bound_seconds", "proven_bound_seconds", "fragility"):
                    self.assertEqual(getattr(timeline, member), said[member])
                bounds = millrace.lower_bounds(graph, machine, groups=plan.groups, proxy=proxy or plan.proxy)
                self.assertEqual(bounds.lower_bound_seconds, timeline.lower_bound_seconds)
                self.assertEqual(bounds.proven_bound_seconds, timeline.proven_bound_seconds)
            self.assertEqual(millrace.simulate(graph, plan).makespan_seconds, plan.proxy_seconds)

    def test_gives_arrays_that_cannot_be_written_to(self):
        graph = millrace.Graph.from_edges([1, 2], [(0, 1, 0)])
        plan = millrace.schedule(graph, "homogeneous:2").plan
        timeline = millrace.simulate(graph, plan)
        for array, kind, shape in (
            (timeline.start, numpy.float64, (2,)),
            (timeline.finish, numpy.float64, (2,)),
            (timeline.device, numpy.int32, (2,)),
            (timeline.peak_memory_bytes, numpy.float64, (2,)),
            (plan.placement, numpy.int32, (2,)),
            (plan.sequence, numpy.int32, (2,)),
        ):
            self.assertEqual((array.dtype, array.shape), (kind, shape))
            with self.assertRaises(ValueError):
                array[0] = 7

    def test_goes_by_another_machine_where_one_is_given(self):
        graph = millrace.Graph.from_edges([{"cpu": 4, "gpu": 1}], [])
        plan = millrace.schedule(graph, "cpu-gpu").plan
        self.assertEqual(millrace.simulate(graph, plan).makespan_seconds, 1)
        with self.assertRaises(millrace.InvalidInput):
            millrace.simulate(graph, plan, machine="p100x2")
        self.assertEqual(millrace.simulate(graph, plan, machine="homogeneous:2").makespan_seconds, 4)

    def test_refuses_plans_that_are_not_valid(self):
        graph = millrace.Graph.from_edges([1, 2], [(0, 1, 0)], names=["first", "second"])
        machine = millrace.load_machine("homogeneous:2")
        good = millrace.Plan([[0], [1]], [0, 1], [0, 1], machine)
        millrace.verify(graph, good)
        for words, groups, placement, sequence in (
            ("op 1", [[0]], [0], [0]),
            ("already in a group", [[0], [0], [1]], [0, 0, 0], [0, 1, 2]),
            ("group 0", [[0, 1]], [0], [0]),
            ("device", [[0], [1]], [0, 2], [0, 1]),
            ("devices for", [[0], [1]], [0], [0, 1]),
            ("first|before|order", [[0], [1]], [0, 1], [1, 0]),
            ("sequence", [[0], [1]], [0, 1], [0, 0]),
            ("ops 0..1", [[0], [9]], [0, 1], [0, 1]),
        ):
            plan = millrace.Plan(groups, placement, sequence, machine)
            for check in (millrace.verify, millrace.simulate):
                with self.assertRaisesRegex(millrace.InvalidInput, words):
                    check(graph, plan)
        other = millrace.Graph.from_edges([1, 2, 3], [])
        with self.assertRaisesRegex(millrace.InvalidInput, "another graph"):
            millrace.verify(other, millrace.schedule(graph, machine).plan)
        with self.assertRaisesRegex(millrace.InvalidInput, "groups"):
            millrace.lower_bounds(graph, machine, groups=[[0, 1]])


class Plans(command.TestInFolder):
    def test_survive_every_way_out_and_back(self):
        path = self.generated("layered", "graph.json", ops=30)
        graph = millrace.load(path)
        plan = millrace.schedule(graph, "p100x4", "heft", seed=2**64 - 1).plan
        plan.save(self.path("plan.json"))
        for again in (
            millrace.Plan.from_json(plan.to_json()),
            millrace.Plan.from_dict(plan.to_dict()),
            millrace.load_plan(pathlib.Path(self.path("plan.json"))),
            millrace.load_plan(self.path("plan.json"), graph),
            pickle.loads(pickle.dumps(plan)),
        ):
            self.assertEqual(again, plan)
            self.assertEqual(again.hash, plan.hash)
        self.assertEqual((plan.seed, plan.proxy, plan.method), (2**64 - 1, "contended", "heft"))
        self.assertEqual((plan.graph_name, plan.graph_hash), (graph.name, graph.hash))
        self.assertEqual(plan.machine, millrace.load_machine("p100x4"))
        self.assertIsNone(plan.target_seconds)
        self.assertEqual(json.loads(plan.to_json()), plan.to_dict())

    def test_name_the_file_where_it_is_wrong(self):
        pathlib.Path(self.path("plan.json")).write_text('{"format": "millrace.plan", "version": 1}', encoding="utf-8")
        for graph in (None, millrace.Graph.from_edges([1], [])):
            with self.assertRaisesRegex(millrace.InvalidInput, "plan.json"):
                millrace.load_plan(self.path("plan.json"), graph)


if __name__ == "__main__":
    unittest.main()

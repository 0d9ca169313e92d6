# SPDX-License-Identifier: Apache-2.0
import json
import os
import pathlib
import unittest

import command
import numpy

import millrace

LIMITS = {"samples": 20, "iterations": 500, "seed": 4}


def without_times(answer):
    """What an answer says, but for how long it took to find."""
    return {name: value for name, value in answer.items() if name not in ("planning_seconds", "pays_back_after_runs")}


class Optimizing(command.TestInFolder):
    def setUp(self):
        super().setUp()
        self.graph_file = self.generated("layered", "graph.json", ops=40, seed=1)
        self.graph = millrace.load(self.graph_file)

    def test_finds_what_the_command_finds(self):
        machine = "homogeneous:3,latency=1e-3,bandwidth=1e9"
        words = [word for name, value in LIMITS.items() for word in (f"--{name}", value)]
        said = command.answer(
            "optimize", self.graph_file, "--machine", machine, "--target", "sim:noise+latency", *words, "-o", self.path("out")
        )
        result = millrace.optimize(self.graph, machine, "sim:noise+latency", output=self.path("again"), **LIMITS)
        self.assertEqual(without_times(result.to_dict()), without_times(said))
        self.assertEqual(result.best.target_seconds, said["best"]["target_seconds"])
        self.assertEqual({name: b.candidate.target_seconds for name, b in result.baselines.items()}, said["baselines"])
        self.assertEqual([c.method for c in result.candidates], [c["method"] for c in said["candidates"]])
        for name in ("plan.json", "baselines/heft.plan.json"):
            one, other = (pathlib.Path(self.path(folder), name).read_text(encoding="utf-8") for folder in ("out", "again"))
            self.assertEqual(one, other, name)
        self.assertEqual(millrace.load_plan(self.path("again/plan.json"), self.graph), result.best.plan)
        for name in ("report.html", "timeline.trace.json", "records.jsonl"):
            self.assertGreater(os.path.getsize(os.path.join(self.path("again"), name)), 100)

    def test_gives_candidates_with_plans_and_times(self):
        result = millrace.optimize(self.graph, "homogeneous:2", "sim:latency", **LIMITS)
        for candidate in [result.best, *result.candidates]:
            millrace.verify(self.graph, candidate.plan)
            self.assertEqual(candidate.times.dtype, numpy.float64)
            self.assertEqual(numpy.median(candidate.times), candidate.target_seconds)
            self.assertEqual(candidate.failure, "")
            if candidate.measured is not None:
                start, finish = candidate.measured
                self.assertEqual(start.shape, finish.shape)
                self.assertEqual(len(start), len(candidate.plan.groups))
            timeline = millrace.simulate(self.graph, candidate.plan)
            self.assertAlmostEqual(timeline.makespan_seconds, candidate.proxy_seconds)
        self.assertLessEqual(result.proven_bound_seconds, result.best.proxy_seconds * (1 + 1e-9))
        self.assertEqual(result.machine, millrace.load_machine("homogeneous:2"))
        self.assertEqual(result.graph, self.graph)
        self.assertIn(result.best.method, result.to_text())
        self.assertIn("<html", result.to_html())
        result.save(self.path("kept"))
        self.assertEqual(json.loads(pathlib.Path(self.path("kept/result.json")).read_text(encoding="utf-8")), result.to_dict())

    def test_outlives_what_it_was_made_from(self):
        best = millrace.optimize(self.graph, "homogeneous:2", "sim:noise", **LIMITS).best
        self.assertEqual(best.plan, best.plan)
        self.assertGreater(len(best.times), 0)

    def test_tells_how_far_it_is(self):
        steps = []
        millrace.optimize(
            self.graph, "homogeneous:2,latency=1e-2", "sim:latency", time_limit=2, seed=1, progress=steps.append
        )
        self.assertGreater(len(steps), 3)
        done = [step.done for step in steps]
        self.assertEqual(done, sorted(done))
        self.assertTrue(all(0 <= share <= 1 for share in done))
        self.assertTrue(any(step.method for step in steps))
        self.assertTrue(all(step.seconds_left is not None for step in steps))

    def test_runs_models_on_this_host(self):
        model = millrace.load(self.generated("towers", "model.onnx", seed=2))
        result = millrace.optimize(
            model, quick=True, time_limit=5, profile_cache=self.path("profile.jsonl"), output=self.path("out")
        )
        self.assertGreater(result.best.target_seconds, 0)
        self.assertTrue(os.path.exists(self.path("profile.jsonl")))
        # A host of one core has no other way of using it.
        self.assertIn("all-cores" if len(os.sched_getaffinity(0)) > 1 else "sequential", result.baselines)

    def test_asks_a_command_of_the_users(self):
        script = self.path("target.py")
        pathlib.Path(script).write_text("import sys, json\nprint(json.load(open(sys.argv[1]))['proxy_seconds'])\n", encoding="utf-8")
        result = millrace.optimize(self.graph, "homogeneous:2", f"cmd:python3 {script}", top_k=2, quick=True, **LIMITS)
        self.assertGreater(result.best.target_seconds, 0)
        with self.assertRaises(millrace.WorkFailed):
            millrace.optimize(self.graph, "homogeneous:2", "cmd:false", top_k=1, quick=True, **LIMITS)

    def test_refuses_what_makes_no_sense(self):
        for words, named in (
            ("cpu|ONNX|model", {"target": "cpu"}),
            ("target|sim:nosuch", {"target": "sim:nosuch"}),
            ("nosuch", {"target": "sim:noise", "methods": ["nosuch"]}),
            ("nosuch", {"target": "sim:noise", "without": ["nosuch"]}),
            ("lists of names", {"target": "sim:noise", "methods": "heft"}),
            ("top_k: 0", {"target": "sim:noise", "top_k": 0}),
            ("temperature|7", {"target": "sim:noise", "temperature": 7}),
        ):
            with self.assertRaisesRegex(millrace.InvalidInput, words, msg=str(named)):
                millrace.optimize(self.graph, "homogeneous:2", quick=True, **named)
        pathlib.Path(self.path("file")).write_text("", encoding="utf-8")
        with self.assertRaises(millrace.InvalidInput):
            millrace.optimize(self.graph, "homogeneous:2", "sim:noise", output=self.path("file"), quick=True)

    def test_names_its_stages(self):
        self.assertIn("profile", millrace.optimize_stages())


if __name__ == "__main__":
    unittest.main()

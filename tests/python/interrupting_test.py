# SPDX-License-Identifier: Apache-2.0
import os
import pathlib
import signal
import subprocess
import sys
import threading
import time
import unittest

import command

import millrace

# A step that is not begun before the work has gone on for a while, and how long may pass until it has stopped: about a
# second is promised, and the machine may be busy.
MOMENT, PATIENCE = 0.5, 10


class Stopping(command.TestInFolder):
    def setUp(self):
        super().setUp()
        self.graph = millrace.load(self.generated("layered", "graph.json", ops=200, seed=1))

    def interrupted(self, work):
        """Seconds from Ctrl-C to KeyboardInterrupt."""
        sent = []

        def send():
            sent.append(time.monotonic())
            os.kill(os.getpid(), signal.SIGINT)

        timer = threading.Timer(MOMENT, send)
        timer.start()
        try:
            with self.assertRaises(KeyboardInterrupt):
                work()
            return time.monotonic() - sent[0]
        finally:
            timer.join()

    def test_by_control_c_leaves_everything_usable(self):
        works = (
            lambda: millrace.schedule(self.graph, "homogeneous:4,latency=1e-3", "anneal", iterations=2**40),
            lambda: millrace.schedule(self.graph, "homogeneous:4,latency=1e-3", "gflownet", samples=2**30),
            lambda: millrace.optimize(self.graph, "homogeneous:4,latency=1e-3", "sim:latency", time_limit=600),
            lambda: millrace.optimize(self.graph, "homogeneous:4", f"cmd:python3 {self.path('sleep.py')}"),
        )
        pathlib.Path(self.path("sleep.py")).write_text("import time\ntime.sleep(600)\n", encoding="utf-8")
        for work in works:
            self.assertLess(self.interrupted(work), PATIENCE)
            plan = millrace.schedule(self.graph, "homogeneous:2").plan
            millrace.verify(self.graph, plan)

    def test_does_not_wait_for_files_that_nobody_writes(self):
        os.mkfifo(self.path("graph.json.fifo"))
        self.assertLess(self.interrupted(lambda: millrace.load(self.path("graph.json.fifo"))), PATIENCE)

    def test_by_what_progress_raises(self):
        class Enough(Exception):
            pass

        def progress(step):
            if step.done > 0:
                raise Enough(step.stage)

        with self.assertRaises(Enough):
            millrace.optimize(self.graph, "homogeneous:4,latency=1e-3", "sim:latency", time_limit=600, progress=progress)

    def test_of_one_work_leaves_that_of_other_threads_alone(self):
        alone = millrace.schedule(self.graph, "homogeneous:4,latency=1e-3", "anneal", iterations=300000)
        beside = []
        thread = threading.Thread(
            target=lambda: beside.append(
                millrace.schedule(self.graph, "homogeneous:4,latency=1e-3", "anneal", iterations=300000)
            )
        )
        thread.start()
        self.interrupted(lambda: millrace.schedule(self.graph, "homogeneous:4", "anneal", iterations=2**40))
        thread.join()
        self.assertEqual(beside[0].plan, alone.plan)

    def test_obeys_handlers_of_the_programs_own(self):
        class Told(Exception):
            pass

        def handle(number, frame):
            raise Told

        before = signal.signal(signal.SIGUSR1, handle)
        self.addCleanup(signal.signal, signal.SIGUSR1, before)
        timer = threading.Timer(MOMENT, lambda: os.kill(os.getpid(), signal.SIGUSR1))
        timer.start()
        with self.assertRaises(Told):
            millrace.schedule(self.graph, "homogeneous:4,latency=1e-3", "anneal", iterations=2**40)
        timer.join()

    def test_ends_programs_in_the_usual_way(self):
        # Also one whose work has not come to a safe place: it waits for a file that nobody writes.
        os.mkfifo(self.path("graph.json.fifo"))
        for work in (
            f"millrace.load({self.path('graph.json.fifo')!r})",
            "millrace.schedule(millrace.Graph.from_edges([1.5] * 300, []), 'homogeneous:7', 'brkga', iterations=2**40)",
        ):
            program = subprocess.Popen(
                [sys.executable, "-c", f"import millrace; print('begun', flush=True); {work}"],
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
            )
            self.assertEqual(program.stdout.readline(), "begun\n")
            time.sleep(MOMENT)
            program.send_signal(signal.SIGINT)
            _, complaint = program.communicate(timeout=60)
            self.assertIn("KeyboardInterrupt", complaint)
            self.assertEqual(program.returncode, -signal.SIGINT)

    def test_leaves_no_half_written_files(self):
        self.interrupted(
            lambda: millrace.optimize(
                self.graph, "homogeneous:4,latency=1e-3", "sim:latency", time_limit=600, output=self.path("out")
            )
        )
        for name in os.listdir(self.path("out")):
            self.assertEqual(name, "records.jsonl")


if __name__ == "__main__":
    unittest.main()

# SPDX-License-Identifier: Apache-2.0
import os
import subprocess
import sys
import unittest

import command

EXAMPLE = os.environ["MILLRACE_EXAMPLE"]


class Example(command.TestInFolder):
    def test_draws_its_plans(self):
        picture = self.path("plan.png")
        done = subprocess.run([sys.executable, EXAMPLE, picture], capture_output=True, text=True, check=False)
        if done.stderr.startswith("skipped: "):
            self.skipTest(done.stderr.strip())
        self.assertEqual(done.returncode, 0, done.stderr)
        times = {line.split()[0]: float(line.split()[-2]) for line in done.stdout.splitlines() if line.endswith(" ms")}
        self.assertLessEqual(times["optimize"], times["sequential"])
        self.assertLessEqual(times["no"], times["optimize"])
        with open(picture, "rb") as file:
            self.assertEqual(file.read(8), b"\x89PNG\r\n\x1a\n")


if __name__ == "__main__":
    unittest.main()

# SPDX-License-Identifier: Apache-2.0
"""The command that was built beside the package, and folders for what it writes."""

import json
import os
import subprocess
import tempfile
import unittest

COMMAND = os.environ["MILLRACE_COMMAND"]


def run(*words, code=0):
    """What the command prints. Fails unless it ends with this code."""
    done = subprocess.run([COMMAND, *map(str, words)], capture_output=True, text=True, check=False)
    if done.returncode != code:
        raise AssertionError(f"millrace {' '.join(map(str, words))}: {done.returncode}\n{done.stderr}")
    return done.stdout if code == 0 else done.stderr


def answer(*words):
    """The object that the command prints with --json."""
    return json.loads(run(*words, "--json"))


class TestInFolder(unittest.TestCase):
    """A test with a folder of its own, for a while."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def path(self, name):
        return os.path.join(self.folder, name)

    def generated(self, family, name, **options):
        """The file of a generated graph or model."""
        words = [word for option, value in options.items() for word in (f"--{option}", value)]
        run("generate", family, "-o", self.path(name), "--quiet", *words)
        return self.path(name)

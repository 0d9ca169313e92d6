# SPDX-License-Identifier: Apache-2.0
import os
import subprocess
import sys
import tempfile
import unittest

try:
    import mypy  # noqa: F401
except ImportError:
    mypy = None

import millrace

PACKAGE = os.path.dirname(millrace.__file__)
EXAMPLE = os.environ["MILLRACE_EXAMPLE"]

# What stubtest takes for differences: compiled classes have a metaclass and constructors of their own, and names that
# _verbs imports are judged by the standard library's stubs.
NO_DIFFERENCES = r"""
millrace(\.\w+)?\.[A-Z]\w*
millrace(\.\w+)?\.[A-Z]\w*\.__init__
millrace\._verbs\.(Callable|Mapping|Sequence)\..*
"""


@unittest.skipIf(mypy is None, "mypy is not installed (Debian: mypy)")
class Types(unittest.TestCase):
    def check(self, *words):
        with tempfile.TemporaryDirectory() as cache:
            settings = os.path.join(cache, "mypy.ini")
            with open(settings, "w", encoding="utf-8") as file:
                file.write(f"[mypy]\ncache_dir = {cache}\n[mypy-networkx.*,matplotlib.*]\nignore_missing_imports = True\n")
            no_differences = os.path.join(cache, "no_differences")
            with open(no_differences, "w", encoding="utf-8") as file:
                file.write(NO_DIFFERENCES)
            files = {"settings": settings, "no_differences": no_differences}
            done = subprocess.run(
                [sys.executable, "-m", *(word.format(**files) for word in words)],
                env={**os.environ, "MYPYPATH": os.path.dirname(PACKAGE)},
                capture_output=True,
                text=True,
                check=False,
            )
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_of_the_package_and_the_example_hold(self):
        self.check("mypy", "--strict", "--config-file", "{settings}", PACKAGE, EXAMPLE)

    def test_of_the_compiled_part_are_those_it_has(self):
        allowed = ("--allowlist", "{no_differences}", "--ignore-unused-allowlist")
        self.check("mypy.stubtest", "--mypy-config-file", "{settings}", *allowed, "millrace")


class Promises(unittest.TestCase):
    def test_is_marked_as_typed(self):
        self.assertTrue(os.path.exists(os.path.join(PACKAGE, "py.typed")))

    def test_has_a_docstring_for_all_that_is_public(self):
        for name in millrace.__all__:
            thing = getattr(millrace, name)
            self.assertTrue(name == "__version__" or thing.__doc__, name)

    def test_names_its_classes_after_the_package(self):
        self.assertEqual(repr(millrace.Plan), "<class 'millrace.Plan'>")
        self.assertEqual(millrace.InvalidInput.__module__, "millrace")


if __name__ == "__main__":
    unittest.main()

# SPDX-License-Identifier: Apache-2.0
"""What script/docs and script/check-links promise."""

import importlib.machinery
import importlib.util
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent


def run(script, *words):
    return subprocess.run(
        [sys.executable, "-B", ROOT / "script" / script, *words], capture_output=True, text=True, check=False
    )


class InFolder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def write(self, name, text):
        place = self.folder / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, encoding="utf-8")


class Links(InFolder):
    def test_of_all_pages_lead_somewhere(self):
        done = run("check-links")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("all lead somewhere", done.stdout)

    def test_that_lead_nowhere_are_named(self):
        self.write(
            "a.md",
            "# The first\n\n[no file](none.md) and [no anchor](b.md#none) and [none here](#none)\n"
            "![no picture](none.png)\n\n[reference]: none.txt\n<a href='gone.html'>x</a>\n[root](/etc/passwd)\n",
        )
        self.write("b.md", "# B\n")
        self.write("c.html", "<p id='here'><a href='#there'>x</a><img src='none.png'>")
        done = run("check-links", self.folder)
        self.assertEqual(done.returncode, 1)
        found = re.findall(r"(\w)\.(?:md|html):(\d+): (\S+): ", done.stderr)
        self.assertEqual(
            found,
            [
                ("a", "3", "none.md"), ("a", "3", "b.md#none"), ("a", "3", "#none"), ("a", "4", "none.png"),
                ("a", "6", "none.txt"), ("a", "7", "gone.html"), ("a", "8", "/etc/passwd"),
                ("c", "1", "#there"), ("c", "1", "none.png"),
            ],
        )  # fmt: skip

    def test_are_those_that_readers_see(self):
        self.write(
            "sub/a.md",
            "# Two `words`, and *more*!\n\n## Again\n\n## Again\n\n"
            "[1](#two-words-and-more) [2](#again) [3](#again-1) [4](../b.md#b) [5](https://none.example/x#y) [6](mailto:a@b)\n"
            "[7](..) [a\nlong one](../b.md)\n\n```\n[in code](none.md)\n```\n\n    [in code](none.md)\n\n`[in code](none.md)`\n",
        )
        self.write("b.md", "# B\n")
        done = run("check-links", self.folder)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("8 in 2 pages", done.stdout)

    def test_are_looked_for_where_there_is_something(self):
        self.assertEqual(run("check-links", self.folder / "none").returncode, 1)
        self.assertEqual(run("check-links", self.folder).returncode, 1)


@unittest.skipIf(importlib.util.find_spec("markdown") is None, "python3-markdown is not installed")
class Site(InFolder):
    def test_has_every_page_and_no_link_that_leads_nowhere(self):
        done = run("docs", "--site", self.folder)
        self.assertEqual(done.returncode, 0, done.stderr)
        links = run("check-links", self.folder)
        self.assertEqual(links.returncode, 0, links.stderr)
        for page in ["README.md", *(path.relative_to(ROOT) for path in (ROOT / "docs").rglob("*.md"))]:
            place = self.folder / ("index.html" if page == "README.md" else page.with_suffix(".html"))
            text = place.read_text(encoding="utf-8")
            self.assertIn('name="viewport"', text)
            self.assertEqual(text.count('aria-current="page"'), 1, place)
            self.assertEqual(text.count("<main>"), 1)
            self.assertIsNone(re.search(r"<script|https?://[^\"]*\.(?:js|css)", text))
            self.assertIsNone(re.search(r'href="[^"]*\.md[#"]', text), place)

    def test_has_the_anchors_that_the_pages_have(self):
        loader = importlib.machinery.SourceFileLoader("check_links", str(ROOT / "script" / "check-links"))
        links = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
        loader.exec_module(links)
        run("docs", "--site", self.folder)
        for page in (ROOT / "docs").rglob("*.md"):
            anchors = links.MarkdownPage(page.read_text(encoding="utf-8")).anchors
            place = self.folder / page.relative_to(ROOT).with_suffix(".html")
            self.assertEqual(links.HtmlPage(place.read_text(encoding="utf-8")).anchors - {"contents"}, anchors, page)

    def test_shows_tables_and_code_as_such(self):
        run("docs", "--site", self.folder)
        formats = (self.folder / "docs" / "formats.html").read_text(encoding="utf-8")
        self.assertGreater(formats.count("<table>"), 3)
        self.assertGreater(formats.count("<pre>"), 2)
        self.assertNotIn("```", formats)
        self.assertNotIn("|---", formats)


@unittest.skipIf(shutil.which("doxygen") is None, "doxygen is not installed")
class Headers(InFolder):
    def test_have_pages_without_a_warning(self):
        done = run("docs", "--api", self.folder)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        page = (self.folder / "api" / "structmillrace_1_1Machine.html").read_text(encoding="utf-8")
        self.assertIn("absent: pairs without a link transfer for free", page)
        self.assertFalse((self.folder / "api" / "tensors_8h.html").exists())  # of training, which is not installed


class Marks(InFolder):
    def marked(self, text):
        self.write("a.h", text)
        done = run("docs-headers", self.folder / "a.h")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stdout.count("\n"), text.count("\n") + done.stdout.count("\\file\n"))
        return done.stdout

    def test_stand_where_a_comment_says_something(self):
        self.assertEqual(
            self.marked(
                "// SPDX-License-Identifier: Apache-2.0\n#pragma once\n\n// The file.\n// More of it.\nnamespace millrace {\n\n"
                "// A loose remark.\n\n// What it is: a <b> & 5 % of #1.\nstruct Thing {\n  int one = 1;        // the one\n"
                "                      // and more\n  const char* two = \"//\";\n};\n\nint F() {\n  // Why.\n  return 1'000;  // here\n}\n}\n"
            ),
            "// SPDX-License-Identifier: Apache-2.0\n#pragma once\n\n/// \\file\n/// The file.\n/// More of it.\nnamespace millrace {\n\n"
            "// A loose remark.\n\n/// What it is: a \\<b\\> \\& 5 \\% of \\#1.\nstruct Thing {\n  int one = 1;        ///< the one\n"
            "                      ///< and more\n  const char* two = \"//\";\n};\n\nint F() {\n  // Why.\n  return 1'000;  // here\n}\n}\n",
        )


if __name__ == "__main__":
    unittest.main()

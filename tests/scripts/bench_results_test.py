# SPDX-License-Identifier: Apache-2.0
"""script/bench-results: what counts as moved, and whether the pages of docs/results/ say how they were made."""
import importlib.machinery
import importlib.util
import pathlib
import re
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
LOADER = importlib.machinery.SourceFileLoader("bench_results", str(ROOT / "script/bench-results"))
bench_results = importlib.util.module_from_spec(importlib.util.spec_from_loader("bench_results", LOADER))
LOADER.exec_module(bench_results)

PAGE = """# A page

Text before.

<!-- table: speed 2; command: millrace bench speed --data DATA -->

Made by hand; to be measured again.

| method | x heft |
|---|---|
| heft | 1.000 |
| anneal | **1.058** |

Text after.
"""

OUTPUT = """    millrace bench speed --data /somewhere

A processor, 2 processors; 2026-11-23 10:00 UTC; seed 0; 3 s.

| graph | ops |
|---|---|
| a | 5 |

By the proxy.

| method | x heft | seconds |
|---|---|---|
| heft | 1.0000 | 0.1 |
| anneal | 1.0634 | 0.2 |
"""


def stored(text):
    folder = tempfile.TemporaryDirectory()
    path = pathlib.Path(folder.name) / "page.md"
    path.write_text(text, encoding="utf-8")
    return folder, path


class BenchResults(unittest.TestCase):
    def test_a_cell_has_moved_if_a_number_differs_in_the_decimals_that_both_have(self):
        self.assertFalse(bench_results.has_moved("1.063", "1.0634"))
        self.assertFalse(bench_results.has_moved("1.0145", "1.014"))
        self.assertTrue(bench_results.has_moved("1.063", "1.0644"))
        self.assertTrue(bench_results.has_moved("1.063", "1.064"))
        self.assertTrue(bench_results.has_moved("2e-06", "3e-06"))
        self.assertTrue(bench_results.has_moved("-0.3", "0.3"))

    def test_a_cell_has_moved_if_its_words_differ(self):
        self.assertTrue(bench_results.has_moved("OOM", "no plan"))
        self.assertTrue(bench_results.has_moved("heft / measured", "dls / measured"))
        self.assertTrue(bench_results.has_moved("OOM", "0.5"))
        self.assertFalse(bench_results.has_moved("**0.0804**", "0.0804"))

    def test_what_the_stored_cell_leaves_out_cannot_move(self):
        self.assertFalse(bench_results.has_moved("1.542", "1.542 +- 0.000"))
        self.assertFalse(bench_results.has_moved("", "3"))
        self.assertTrue(bench_results.has_moved("1.54 (1.50 .. 1.58)", "1.54"))

    def test_rows_and_columns_are_matched_by_name_and_moved_figures_marked(self):
        old = [["method", "wall time", "best", "wall time"], ["a", "1", "2.5", "3"], ["gone", "1", "1", "1"]]
        new = [["method", "best", "wall time", "wall time"], ["new", "9", "9", "9"], ["a", "2.5", "1", "4"]]
        result = bench_results.compare(old, new)
        self.assertEqual(result.rows, [new[0], new[1], ["a", "2.5", "1", "4 (was 3)"]])
        self.assertEqual((result.compared, result.moved), (3, 1))
        self.assertEqual(result.notes, ["only in the stored table: gone", "not in the stored table: new"])

    def test_rows_are_told_apart_by_as_many_first_cells_as_it_takes(self):
        old = [["reward", "softmax", "best"], ["0.01", "0.5", "1.06"], ["0.01", "1", "1.07"]]
        new = [["reward", "softmax", "best"], ["0.010", "1.00", "1.0700"], ["0.010", "0.50", "1.0500"]]
        self.assertEqual(bench_results.compare(old, new).rows[1:],
                         [["0.010", "1.00", "1.0700"], ["0.010", "0.50", "1.0500 (was 1.06)"]])

    def test_a_bar_in_a_cell_does_not_end_it(self):
        self.assertEqual(bench_results.cells_of("| pl\\|sch | 1 |"), ["pl\\|sch", "1"])

    def test_a_stored_table_is_compared_with_the_printed_one_of_its_number(self):
        folder, path = stored(PAGE)
        with folder:
            table, = bench_results.stored_tables(path)
        printed = bench_results.printed_tables(OUTPUT)
        self.assertEqual(len(printed), 2)
        result = bench_results.compare(table.rows, printed[table.number - 1].rows)
        self.assertEqual(result.rows[2], ["anneal", "1.0634 (was **1.058**)", "0.2"])
        self.assertEqual(result.notes, ["not in the stored table: column seconds"])

    def test_writing_replaces_the_table_and_how_it_was_made_and_nothing_else(self):
        folder, path = stored(PAGE)
        with folder:
            page = bench_results.page_with(bench_results.stored_tables(path), bench_results.printed_tables(OUTPUT))
        self.assertTrue(page.startswith(PAGE[:PAGE.index("Made by hand")]))
        self.assertTrue(page.endswith("| anneal | 1.0634 | 0.2 |\n\nText after.\n"))
        self.assertIn("Made by `millrace bench speed --data DATA`:\n\n", page)
        self.assertIn("By the proxy.\n\n| method | x heft | seconds |\n|---|---|---|\n", page)
        self.assertNotIn("measured again", page)
        self.assertNotIn("/somewhere", page)

    def test_words_in_capitals_need_values(self):
        self.assertEqual(bench_results.fill_in("bench x --data DATA", {"DATA": "/d"}), "bench x --data /d")
        with self.assertRaisesRegex(bench_results.Refused, "DATA=..."):
            bench_results.fill_in("bench x --data DATA", {})

    def test_every_table_of_the_results_says_how_it_was_made(self):
        tables = bench_results.find_tables(ROOT / "docs")
        marked = {(table.path, table.end) for some in tables.values() for table in some}
        for path in sorted((ROOT / "docs/results").glob("*.md")):
            lines = path.read_text(encoding="utf-8").splitlines() + [""]
            for i, line in enumerate(lines[:-1]):
                if line.startswith("|") and not lines[i + 1].startswith("|"):
                    self.assertIn((path, i + 1), marked, f"{path.name}:{i + 1}: no comment names this table's command")

    def test_the_page_of_claims_is_one_page(self):
        text = (ROOT / "docs/results.md").read_text(encoding="utf-8")
        self.assertLessEqual(len(text.splitlines()), 80)

    def test_links_between_the_pages_lead_somewhere(self):
        pages = [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")]
        for page in pages + sorted((ROOT / "docs").rglob("*.md")):
            for target in re.findall(r"\]\(([^)\s]+)\)", page.read_text(encoding="utf-8")):
                if "://" in target:
                    continue
                name, _, anchor = target.partition("#")
                other = (page.parent / name).resolve() if name else page
                self.assertTrue(other.exists(), f"{page.name}: {target}")
                headings = re.findall(r"^#+ (.+)$", other.read_text(encoding="utf-8"), re.M) if anchor else []
                anchors = [re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings]
                self.assertTrue(not anchor or anchor in anchors, f"{page.name}: {target}")


if __name__ == "__main__":
    unittest.main()

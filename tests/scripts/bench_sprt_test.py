# SPDX-License-Identifier: Apache-2.0
"""script/bench-sprt: its error rates, its pool, and that it stops and says so."""
import contextlib
import importlib.machinery
import importlib.util
import io
import json
import math
import pathlib
import random
import stat
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
LOADER = importlib.machinery.SourceFileLoader("bench_sprt", str(ROOT / "script/bench-sprt"))
sprt = importlib.util.module_from_spec(importlib.util.spec_from_loader("bench_sprt", LOADER))
LOADER.exec_module(sprt)

# A planner whose makespans lie anywhere from BEST to BEST + 999 seconds, by the seed.
PLANNER = """#!/bin/sh
verb=$1
while [ $# -gt 0 ]; do
  [ "$1" = -o ] && : > "$2"
  [ "$1" = --seed ] && seed=$2
  shift
done
[ "$verb" = generate ] || echo "{\\"makespan_seconds\\": $(( BEST + (seed * FACTOR) % 1000 ))}"
"""


def planner(folder, name, best, factor):
    path = pathlib.Path(folder) / name
    path.write_text(PLANNER.replace("BEST", str(best)).replace("FACTOR", str(factor)), encoding="utf-8")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return str(path)


def run(arguments):
    """Exit code and what was printed."""
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        code = sprt.main(arguments)
    return code, printed.getvalue()


def simulated(win, equal, seed, null=0.50, other=0.55, most=4000):
    """The verdict, and after how many pairs, where pairs are won and equal with these probabilities."""
    chance = random.Random(seed)
    test = sprt.Test(null, other)
    for pairs in range(1, most + 1):
        draw = chance.random()
        test.add(1.0 if draw < win else 0.5 if draw < win + equal else 0.0)
        if test.verdict() != sprt.UNDECIDED:
            return test.verdict(), pairs
    return sprt.UNDECIDED, most


def share_passed(win, equal, **hypotheses):
    runs = 120
    return sum(simulated(win, equal, seed, **hypotheses)[0] == sprt.PASSED for seed in range(runs)) / runs


class BenchSprt(unittest.TestCase):
    # Of 120 runs, 10 % or fewer where the error is 5 %, but in 1 of 100 tries (binomial); seeds are fixed.
    def test_a_change_without_effect_passes_in_at_most_one_of_twenty_runs(self):
        for equal in (0.0, 0.3, 0.8):
            self.assertLessEqual(share_passed((1 - equal) / 2, equal), 0.10, f"{equal} equal")

    def test_a_change_of_the_stated_effect_fails_in_at_most_one_of_twenty_runs(self):
        for equal in (0.0, 0.3, 0.8):
            self.assertGreaterEqual(share_passed((1 - equal) / 2 + 0.05, equal), 0.90, f"{equal} equal")

    def test_where_no_worse_is_asked_a_change_without_effect_passes_and_a_bad_one_does_not(self):
        for equal in (0.0, 0.5):
            shares = {"null": 0.45, "other": 0.50}
            self.assertGreaterEqual(share_passed((1 - equal) / 2, equal, **shares), 0.90)
            self.assertLessEqual(share_passed((1 - equal) / 2 - 0.05, equal, **shares), 0.10)

    def test_a_large_effect_is_known_after_few_pairs(self):
        pairs = [simulated(0.7, 0.1, seed)[1] for seed in range(50)]
        self.assertLess(sum(pairs) / len(pairs), 100)

    def test_plans_that_are_all_equal_are_no_gain_and_no_loss(self):
        self.assertEqual(simulated(0, 1, 0)[0], sprt.FAILED)
        self.assertEqual(simulated(0, 1, 0, null=0.45, other=0.50)[0], sprt.PASSED)

    def test_the_likeliest_shares_of_a_mean_have_that_mean(self):
        chance = random.Random(3)
        for _ in range(1000):
            shares = [chance.uniform(1e-4, 1) for _ in range(3)]
            shares = [share / sum(shares) for share in shares]
            mean = chance.uniform(0.05, 0.95)
            tilted = sprt.tilted(shares, mean)
            self.assertAlmostEqual(sum(tilted), 1, 6)
            self.assertAlmostEqual(tilted[1] / 2 + tilted[2], mean, 6)

    def test_the_ratio_is_that_of_two_binomials_where_nothing_is_equal(self):
        expected = 60 * math.log(0.55 / 0.50) + 40 * math.log(0.45 / 0.50)
        self.assertAlmostEqual(sprt.log_likelihood_ratio([40, 0, 60], 0.50, 0.55), expected, 1)

    def test_both_hypotheses_are_as_likely_where_the_share_lies_between_them(self):
        self.assertAlmostEqual(sprt.log_likelihood_ratio([475, 0, 525], 0.50, 0.55), 0, 1)

    def test_makespans_within_a_billionth_are_equal(self):
        self.assertEqual(sprt.score_of(sprt.Pair(None, 1.0, 1.0 + 1e-10)), 0.5)
        self.assertEqual(sprt.score_of(sprt.Pair(None, 1.0, 1.0 + 1e-8)), 0.0)
        self.assertEqual(sprt.score_of(sprt.Pair(None, 1.0, 1.0 - 1e-8)), 1.0)

    def test_the_pool_is_fixed_and_its_beginning_holds_every_family_and_machine(self):
        for size in ("small", "large"):
            pool = sprt.pool(size)
            self.assertEqual(pool, sprt.pool(size))
            self.assertEqual(len({instance.seed for instance in pool}), len(pool))
            beginning = pool[:100]
            self.assertEqual({instance.family for instance in beginning}, set(sprt.FAMILIES))
            self.assertEqual({instance.machine for instance in beginning}, set(sprt.MACHINES))
            self.assertTrue(all(30 <= instance.ops <= (100 if size == "small" else 300) for instance in pool))

    def test_the_pool_has_no_family_that_only_judges(self):
        text = (ROOT / "src/millrace/experiments/quality/families.cc").read_text(encoding="utf-8")
        judging = text[text.index("JudgingFamilies() {"):]
        for family in sprt.FAMILIES:
            self.assertNotIn(f'"{family}"', judging[:judging.index("};")])

    def test_a_better_planner_passes_and_in_turn_fails(self):
        with tempfile.TemporaryDirectory() as folder:
            worse, better = planner(folder, "worse", 400, 7919), planner(folder, "better", 1, 3571)
            self.assertEqual(run([worse, better])[0], sprt.PASSED)
            code, printed = run([better, worse])
        self.assertEqual(code, sprt.FAILED)
        self.assertRegex(printed, r"\nfailed after \d+ pairs\n")
        self.assertIn("| family | pairs | wins |", printed)

    def test_a_pool_that_is_used_up_leaves_it_undecided(self):
        with tempfile.TemporaryDirectory() as folder:
            one, other = planner(folder, "one", 1, 7919), planner(folder, "other", 1, 3571)
            code, printed = run([one, other, "--most-pairs", "6", "--json"])
        self.assertEqual(code, sprt.UNDECIDED)
        result = json.loads(printed)
        self.assertEqual((result["verdict"], len(result["pairs"])), ("undecided", 6))
        self.assertEqual(result["wins"] + result["equal"] + result["losses"], 6)

    def test_what_cannot_be_run_is_refused_in_one_line(self):
        for arguments in (["no-such-revision", "HEAD"], ["a"], ["a", "b", "--seconds", "0"], ["a", "b", "--seconds", "nan"],
                          ["a", "b", "--iterations", "-3"], ["a", "b", "--shares", "0.6", "0.5"]):
            with self.assertRaises(sprt.Refused) as refusal:
                sprt.main(arguments)
            self.assertNotIn("\n", str(refusal.exception))

    def test_a_planner_that_fails_is_named(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "broken"
            path.write_text("#!/bin/sh\necho out of order >&2\nexit 1\n", encoding="utf-8")
            path.chmod(path.stat().st_mode | stat.S_IXUSR)
            with self.assertRaisesRegex(sprt.Refused, "broken.*ended with 1: out of order"):
                sprt.main([str(path), str(path)])


if __name__ == "__main__":
    unittest.main()

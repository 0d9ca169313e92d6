# SPDX-License-Identifier: Apache-2.0
"""What script/mix-weights promises."""
import array
import json
import pathlib
import struct
import subprocess
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).resolve().parents[2] / "script" / "mix-weights"


def write(path, numbers, name="a", kind="F32"):
    header = {"__metadata__": {"made": path.name}, name: {"dtype": kind, "shape": [len(numbers)], "data_offsets": [0, 4 * len(numbers)]}}
    text = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + array.array("f", numbers).tobytes())


class MixWeights(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.before, self.after, self.out = (pathlib.Path(folder.name) / n for n in ("before", "after", "out"))
        write(self.before, [1, 2, -4])

    def mix(self, share):
        return subprocess.run([SCRIPT, self.before, self.after, share, self.out], capture_output=True, text=True)

    def test_every_number_lies_between_both_and_the_metadata_are_the_first_ones(self):
        write(self.after, [3, 2, 4])
        self.assertEqual(self.mix("0.25").returncode, 0)
        data, first = self.out.read_bytes(), self.before.read_bytes()
        self.assertEqual(data[:-12], first[:-12])
        self.assertEqual(list(array.array("f", data[-12:])), [1.5, 2, -2])

    def test_other_tensors_are_refused_and_nothing_is_written(self):
        for arguments in ({"name": "b"}, {"kind": "F16"}):
            write(self.after, [3, 2, 4], **arguments)
            run = self.mix("0.5")
            self.assertEqual(run.returncode, 1)
            self.assertEqual(len(run.stderr.splitlines()), 1)
            self.assertFalse(self.out.exists())


if __name__ == "__main__":
    unittest.main()

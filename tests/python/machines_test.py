# SPDX-License-Identifier: Apache-2.0
import json
import pathlib
import pickle
import unittest

import command

import millrace


def two_devices():
    return millrace.Machine(
        "two",
        [
            millrace.Device("core", "cpu", [0], flops_per_second=1e12, memory_bandwidth=1e11),
            millrace.Device(
                "card", "gpu", [1], flops_per_second=9e12, memory_bandwidth=7e11, memory_bytes=16e9, launch_seconds=5e-6
            ),
        ],
        [millrace.Link(0, 1, latency_seconds=1e-5, bandwidth=1e10, channel=0, entry_channel=2)],
        millrace.DefaultLink(bandwidth=5e9),
        sharing="fair",
    )


class Machines(command.TestInFolder):
    def test_survive_every_way_out_and_back(self):
        for machine in (two_devices(), millrace.load_machine("p100x4"), millrace.load_machine("this")):
            machine.save(self.path("machine.json"))
            for again in (
                millrace.Machine.from_json(machine.to_json()),
                millrace.Machine.from_dict(machine.to_dict()),
                millrace.Machine(
                    machine.name, machine.devices, machine.links, machine.default_link, machine.sharing
                ),
                millrace.load_machine(self.path("machine.json")),
                millrace.load_machine(pathlib.Path(self.path("machine.json"))),
                millrace.load_machine(machine.to_dict()),
                millrace.load_machine(machine),
                pickle.loads(pickle.dumps(machine)),
            ):
                self.assertEqual(again, machine)
                self.assertEqual(again.hash, machine.hash)

    def test_are_those_of_the_command(self):
        for preset in ("homogeneous:3,latency=1e-6", "cpu-gpu", "p100x8"):
            graph = self.generated("layered", "graph.json", ops=10)
            command.run("schedule", graph, "--machine", preset, "-o", self.path("plan.json"))
            plan = json.loads(pathlib.Path(self.path("plan.json")).read_text(encoding="utf-8"))
            self.assertEqual(millrace.load_machine(preset).to_dict(), plan["machine"])
        self.assertEqual(millrace.load_machine("this").to_dict(), command.answer("machine"))

    def test_tell_what_they_are_made_of(self):
        machine = two_devices()
        self.assertEqual([device.units for device in machine.devices], [[0], [1]])
        self.assertIsNone(machine.devices[0].memory_bytes)
        self.assertEqual(machine.devices[1].memory_bytes, 16e9)
        self.assertEqual((machine.links[0].from_, machine.links[0].to, machine.links[0].channel), (0, 1, 0))
        self.assertEqual(machine.links[0].entry_channel, 2)
        self.assertEqual(machine.default_link.bandwidth, 5e9)
        self.assertEqual(machine.sharing, "fair")
        self.assertEqual(millrace.load_machine("p100x4").sharing, "one-at-a-time")
        self.assertTrue(any("homogeneous" in line for line in millrace.presets()))

    def test_refuse_what_makes_no_sense(self):
        device = millrace.Device("core", "cpu", [0], flops_per_second=1e12, memory_bandwidth=1e11)
        slow = millrace.Device("core", "cpu", [0], flops_per_second=0, memory_bandwidth=1e11)
        for words, devices, links in (
            ("no devices|has no device", [], []),
            ("flops_per_second", [slow], []),
            ("1", [device], [millrace.Link(0, 1)]),
        ):
            with self.assertRaisesRegex(millrace.InvalidInput, words):
                millrace.Machine("odd", devices, links)
        with self.assertRaisesRegex(millrace.InvalidInput, "even"):
            millrace.Machine("odd", [device], sharing="even")
        for wrong in ("no-such-preset", "homogeneous:0", self.path("none.json"), {"format": "millrace.machine"}):
            with self.assertRaises(millrace.InvalidInput):
                millrace.load_machine(wrong)
        with self.assertRaises(TypeError):
            millrace.load_machine(7)


if __name__ == "__main__":
    unittest.main()

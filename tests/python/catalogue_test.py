"""Lists, and systems that are read and overridden."""

import json
import unittest

import nearfar
from common import command


class CatalogueTest(unittest.TestCase):
    def test_lists_are_those_of_the_command_line(self):
        for subject, names in {
            "workloads": [each.name for each in nearfar.workloads()] + [each.name for each in nearfar.mixes()],
            "systems": [each.name for each in nearfar.systems()],
            "designs": [each.name for each in nearfar.designs()],
            "statistics": [each.name for each in nearfar.statistics()],
            "studies": [each.name for each in nearfar.studies()],
        }.items():
            _, out, _ = command("list", subject)
            listed = [line.split()[0] for line in out.splitlines() if line and not line.startswith(" ")]
            self.assertEqual([name for name in listed if name not in ("workload", "mix", subject[:-1], "study")], names)

    def test_a_workload_says_its_parameters(self):
        mt = next(each for each in nearfar.workloads() if each.name == "MT")
        self.assertEqual(mt.title, "matrix transpose")
        self.assertIn("width", [each.name for each in mt.parameters])
        self.assertGreater(mt.footprint["medium"], mt.footprint["small"])
        self.assertTrue(all(each.sentence for each in mt.parameters))


class SystemTest(unittest.TestCase):
    def test_is_what_explain_says(self):
        system = nearfar.System("mmu-4gpu", design="idyll", set={"gpus": 2})
        _, out, _ = command("explain", "--system", "mmu-4gpu", "--design", "idyll", "--set", "gpus=2", "--json", "-")
        theirs = {each["path"]: each for each in json.loads(out)["parameters"]}
        self.assertEqual(set(system.parameters), set(theirs))
        for path, parameter in system.parameters.items():
            self.assertEqual({name: getattr(parameter, name) for name in theirs[path]}, theirs[path])

    def test_is_overridden_without_being_changed(self):
        system = nearfar.System("ideal-4gpu")
        other = system.override({"gpus": 2, "gpu.l2.size": "4MiB"}).with_design("baseline")
        self.assertEqual((system["gpus"], other["gpus"], other["gpu.l2.size"]), ("4", "2", "4MiB"))
        self.assertEqual(other.parameters["gpus"].origin, "--set")
        self.assertIn("gpus", [each.path for each in other.changed()])

    def test_mistakes_name_the_nearest(self):
        system = nearfar.System()
        with self.assertRaisesRegex(nearfar.InputError, "Did you mean `size`?"):
            system["gpu.l2.sise"]
        with self.assertRaisesRegex(nearfar.InputError, "mmu-4gpu"):
            nearfar.System("mmu-4gp")


if __name__ == "__main__":
    unittest.main()

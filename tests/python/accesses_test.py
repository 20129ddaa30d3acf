"""Accesses of workloads, and programs that are written from arrays."""

import json
import os
import unittest

import nearfar
from common import TINY, ScratchTest, command, complaint, need

SMALL_GRAPH = {"n": 1024, "m": 8192, "iterations": 1}
"""Of PR."""


class CharacterizeTest(unittest.TestCase):
    def test_is_what_the_command_says(self):
        ours = nearfar.characterize("MT", gpus=2, **TINY)
        _, out, _ = command("characterize", "MT", "--size", "small", "--param", "width=64", "--gpus", "2", "--json", "-")
        self.assertEqual(ours, json.loads(out))

    def test_takes_one_workload(self):
        with self.assertRaises(nearfar.InputError) as raised:
            nearfar.characterize("FIR+MT")
        self.assertEqual(str(raised.exception), complaint("characterize", "FIR+MT"))


@need("numpy")
class AccessesTest(ScratchTest):
    def read(self, workload, **arguments):
        import numpy as np

        return np.concatenate(list(nearfar.accesses(workload, **arguments)))

    def test_are_those_that_are_counted(self):
        import numpy as np

        for workload, param in (("MT", {"width": 128}), ("PR", SMALL_GRAPH), ("Hist", {})):
            every = self.read(workload, size="small", param=param, gpus=2)
            counts = nearfar.characterize(workload, size="small", param=param, gpus=2)
            vector = every[every["kind"] != nearfar.KINDS.index("scalar load")]
            reading = vector["kind"] == nearfar.KINDS.index("load")
            atomic = vector["kind"] == nearfar.KINDS.index("atomic")
            self.assertEqual(np.count_nonzero(reading | atomic), counts["active_lanes"]["reading"])
            ends = np.concatenate([vector["address"], vector["address"] + vector["bytes"] - 1])
            self.assertEqual(len(np.unique(ends // 4096)), counts["touched"]["pages"])
            self.assertEqual(len(np.unique(ends // 64)), counts["touched"]["lines"])
            scalar = every[every["kind"] == nearfar.KINDS.index("scalar load")]
            self.assertEqual(len(scalar), counts["scalar_loads"])

    def test_come_in_blocks_of_whole_wavefronts(self):
        import numpy as np

        blocks = list(nearfar.accesses("MT", rows=500, **TINY))
        self.assertGreater(len(blocks), 2)
        np.testing.assert_array_equal(np.concatenate(blocks), self.read("MT", **TINY))

    def test_lie_in_buffers(self):
        every = self.read("MT", **TINY)
        buffers = nearfar.buffers("MT", **TINY)
        self.assertEqual([each.name for each in buffers], ["input", "output"])
        for access in every[::97]:
            self.assertTrue(any(b.address <= access["address"] < b.address + b.bytes for b in buffers))

    def test_are_split_over_the_gpus(self):
        every = self.read("MT", gpus=4, size="small", param={"width": 512})
        self.assertEqual(set(every["gpu"]), {0, 1, 2, 3})
        self.assertEqual(set(self.read("MT", gpus=1, **TINY)["gpu"]), {0})

    def test_mistakes(self):
        for arguments, message in [
            ({"gpus": 0}, "gpus must be from 1"),
            ({"lanes": 48}, "lanes is 32 or 64, not 48"),
            ({"rows": 0}, "rows must be at least 1"),
            ({"param": {"widht": 1}}, "Did you mean `width`"),
        ]:
            with self.assertRaisesRegex(nearfar.InputError, message):
                nearfar.accesses("MT", size="small", **arguments)


@need("numpy")
class WrittenTraceTest(ScratchTest):
    def test_accesses_survive_a_trace(self):
        import numpy as np

        every = np.concatenate(list(nearfar.accesses("PR", size="small", param=SMALL_GRAPH, gpus=2)))
        name = nearfar.write_accesses(self.file("pr.nft"), every, source="PR")
        self.assertEqual(name, "trace:" + self.file("pr.nft"))
        again = np.concatenate(list(nearfar.accesses(name, gpus=2)))
        for field in ("address", "launch", "workgroup", "wavefront", "lane", "kind", "bytes", "gpu"):
            np.testing.assert_array_equal(every[field], again[field], field)
        result = nearfar.run(name, set={"gpus": 2}, progress=False)
        self.assertEqual(result.accesses, nearfar.characterize("PR", size="small", param=SMALL_GRAPH)["accesses"])

    def test_a_kernel_of_arrays_runs(self):
        import numpy as np

        n = 1000  # no whole number of workgroups, nor of wavefronts
        program = nearfar.Program("saxpy")
        x, y = program.buffer("x", 4 * n), program.buffer("y", 4 * n, placement="interleave")
        i = np.arange(n)
        launch = program.launch("saxpy", n, workgroup=128)
        launch.scalar_load(x).load(x + 4 * i).load(y + 4 * i, where=i % 2 == 0).wait().valu(2).store(y + 4 * i)
        program.copy_out("y")
        name = program.write(self.file("saxpy.nft"))
        every = np.concatenate(list(nearfar.accesses(name)))
        of = {kind: every[every["kind"] == number] for number, kind in enumerate(nearfar.KINDS)}
        np.testing.assert_array_equal(np.sort(of["store"]["address"]), y + 4 * i)
        loads = of["load"]["address"]
        np.testing.assert_array_equal(np.sort(loads), np.sort(np.concatenate([x + 4 * i, y + 4 * i[::2]])))
        self.assertEqual(len(of["scalar load"]), 16)
        result = nearfar.run(name, system="ideal-4gpu", check=True, progress=False)
        # Lines of 64 bytes by wavefronts of 64 lanes: 63 whole ones of each array, three accesses.
        self.assertEqual(result["app0.accesses"], 3 * ((4 * n + 63) // 64))
        self.assertEqual(result.launches[0]["kernel"], "saxpy")
        code, out, err = command("trace", "info", self.file("saxpy.nft"))
        self.assertEqual(code, 0, err)
        self.assertIn("saxpy", out)

    def test_addresses_alone_are_enough(self):
        import numpy as np

        addresses = np.arange(512, dtype=np.uint64) * 4096
        name = nearfar.write_accesses(self.file("a.nft"), addresses)
        self.assertEqual(nearfar.run(name, progress=False).accesses, 512)
        self.assertEqual(nearfar.run(name, timing="none", progress=False).accesses, 512)

    @need("pandas")
    def test_a_frame_is_written(self):
        import pandas as pd

        frame = pd.DataFrame({"address": [0, 4096, 8192], "kind": ["load", "store", "atomic"], "instruction": [0, 1, 2]})
        name = nearfar.write_accesses(self.file("a.nft"), frame)
        block = next(nearfar.accesses(name))
        self.assertEqual([nearfar.KINDS[kind] for kind in block["kind"]], ["load", "store", "atomic"])

    def test_mistakes_leave_no_file(self):
        import numpy as np

        for accesses, message in [
            ({"address": np.array([0, 64])}, "have one kind and one number of bytes"),
            ({"bytes": np.array([4])}, "need a column `address`"),
            (np.array([], dtype="u8"), "There are no accesses"),
            ({"address": np.array([0]), "kind": np.array(["laod"])}, "not `laod`"),
            ({"address": np.array([0]), "lane": np.array([64])}, "Lane 64 is beyond"),
            ({"address": np.array([0]), "bytes": np.array([65])}, "1 to 64 bytes, not 65"),
            ({"address": np.array([0.5])}, "whole numbers"),
            ({"address": np.array([-1])}, "not from 0 to"),
            ({"address": np.array([0, 64]), "lane": np.array([0, 1]), "gpu": np.array([0, 1])}, "on two GPUs"),
        ]:
            with self.assertRaisesRegex(nearfar.InputError, message):
                nearfar.write_accesses(self.file("a.nft"), accesses)
        program = nearfar.Program()
        with self.assertRaisesRegex(nearfar.InputError, "does nothing"):
            program.write(self.file("a.nft"))
        with self.assertRaisesRegex(nearfar.InputError, "Did you mean `interleave`"):
            program.buffer("A", 64, placement="interleaved")
        a = program.buffer("A", 64)
        launch = program.launch("k", 64)
        with self.assertRaisesRegex(nearfar.InputError, "has 64 items, and the array has 2 addresses"):
            launch.load(np.array([a, a]))
        launch.load(a + 4096 * np.arange(64))
        with self.assertRaisesRegex(nearfar.InputError, "wavefront 0 of workgroup 0 of kernel 'k'"):
            program.write(self.file("a.nft"))
        program.copy_in("A")
        with self.assertRaisesRegex(nearfar.InputError, "steps have followed"):
            launch.valu(1)
        self.assertEqual(os.listdir(self.folder), [])


if __name__ == "__main__":
    unittest.main()

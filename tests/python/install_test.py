"""What cmake installs runs from where it is installed."""

import os
import subprocess
import sys
import unittest
from pathlib import Path

import nearfar
from common import ScratchTest

SCRIPT = """
import nearfar
assert nearfar.program_path() == "{prefix}/bin/nearfar", nearfar.program_path()
print(nearfar.run("MT", size="small", param={{"width": 64}}, system="mmu-4gpu").cycles)
"""


class InstallTest(ScratchTest):
    def test_the_package_finds_its_program_and_systems(self):
        build = Path(nearfar.program_path()).parent
        subprocess.run(["cmake", "--install", build, "--prefix", self.folder], check=True, capture_output=True)
        version = f"python{sys.version_info.major}.{sys.version_info.minor}"
        path = os.path.join(self.folder, "lib", version, "dist-packages")
        script = SCRIPT.format(prefix=self.folder)
        done = subprocess.run(
            [sys.executable, "-c", script], env={**os.environ, "PYTHONPATH": path}, capture_output=True, text=True
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        here = nearfar.run("MT", size="small", param={"width": 64}, system="mmu-4gpu", progress=False)
        self.assertEqual(int(done.stdout), here.cycles)


if __name__ == "__main__":
    unittest.main()

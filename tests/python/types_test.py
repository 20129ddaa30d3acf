"""The package's type hints hold together."""

import subprocess
import sys
import unittest
from pathlib import Path

from common import need

ROOT = Path(__file__).resolve().parents[2]


@need("mypy", "numpy")
class TypesTest(unittest.TestCase):
    def test_mypy_has_nothing_to_say(self):
        words = ["--config-file", str(ROOT / "python/mypy.ini"), "--cache-dir", "/dev/null", str(ROOT / "python/nearfar")]
        done = subprocess.run([sys.executable, "-m", "mypy", *words], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)


if __name__ == "__main__":
    unittest.main()

#!/usr/bin/env python3
"""What is installed runs from where it lies, finds what comes with it, and a user's own files before that.

    package_test.py BUILD       the build folder; exit code 77: what makes Debian packages is not there
"""
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

SKIPPED = 77
BUILD = Path(sys.argv[1]).resolve()


def run(words, folder, expected=0):
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("NEARFAR_", "XDG_"))}
    environment["HOME"] = str(folder)
    done = subprocess.run([str(word) for word in words], cwd=folder, env=environment, capture_output=True, text=True,
                          check=False)
    if done.returncode != expected:
        raise AssertionError(f"{' '.join(map(str, words))}: exit code {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


class Installed(unittest.TestCase):
    skipped = False

    def setUp(self):
        self.scratch = Path(tempfile.mkdtemp(prefix="nearfar-package-"))
        self.addCleanup(shutil.rmtree, self.scratch)
        self.here = self.scratch / "here"
        self.here.mkdir()

    def expect_works(self, top):
        program = top / "bin/nearfar"
        self.assertIn("ideal-4gpu", run([program, "list", "systems"], self.here))
        self.assertIn("neighborhood-fig9", run([program, "list", "studies"], self.here))
        self.assertIn("MT on", run([program, "run", "MT", "--size", "small", "--param", "width=64"], self.here)
                      .replace(", matrix transpose, small (width=64 host=0)\non", " on"))
        self.assertIn("neighborhood", run([program, "reproduce", "neighborhood", "--dry-run"], self.here))
        self.assertIn("readings", run([program, "calibrate", "least-tlb", "--dry-run"], self.here))
        shared = top / "share/nearfar"
        run([program, "run", "SSSP", "--input", shared / "inputs/roads.gr"], self.here)
        for document in ("README.md", "CITATION.cff", "docs/architecture.md"):
            self.assertTrue((top / "share/doc/nearfar" / document).is_file(), document)
        # The user's own files stand before those that were installed, and hide none of the others.
        (self.here / "systems").mkdir()
        (self.here / "systems/mine.yml").write_text("base: ideal-4gpu\ndescription: Mine.\ngpus: 2\n")
        (self.here / "systems/ring-8gpu.yaml").write_text("base: ideal-4gpu\ndescription: Another ring.\n")
        listed = run([program, "list", "systems"], self.here)
        for words in ("mine ", "Another ring.", "mmu-4gpu "):
            self.assertIn(words, listed)
        self.assertIn("on mine (2 GPUs)",
                      run([program, "run", "MT", "--size", "small", "--param", "width=64", "--system", "mine"], self.here))

    def test_under_a_prefix(self):
        run(["cmake", "--install", BUILD, "--prefix", self.scratch / "prefix"], self.here)
        self.expect_works(self.scratch / "prefix")

    def test_as_a_debian_package(self):
        missing = [tool for tool in ("cpack", "dpkg-deb", "dpkg-shlibdeps", "file") if not shutil.which(tool)]
        if missing and os.environ.get("NEARFAR_TEST_EXTRAS") == "needed":
            self.fail(f"{', '.join(missing)} is not there")
        if missing:
            Installed.skipped = True
            self.skipTest(f"{', '.join(missing)} is not there (./test extras installs it)")
        run(["cpack", "--config", BUILD / "CPackConfig.cmake", "-G", "DEB", "-B", self.scratch / "package"], self.here)
        (package,) = (self.scratch / "package").glob("*.deb")
        fields = run(["dpkg-deb", "--field", package], self.here)
        for words in ("Package: nearfar\n", "Section: science\n", "libc6", "libsqlite3-0", "libfyaml"):
            self.assertIn(words, fields)
        run(["dpkg-deb", "-x", package, self.scratch / "root"], self.here)
        self.expect_works(self.scratch / "root/usr")


if __name__ == "__main__":
    result = unittest.TextTestRunner().run(unittest.defaultTestLoader.loadTestsFromTestCase(Installed))
    sys.exit(1 if not result.wasSuccessful() else SKIPPED if Installed.skipped else 0)

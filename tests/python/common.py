"""What the tests of the Python package share: tiny runs, and the command line to hold them against."""

import os
import shutil
import subprocess
import tempfile
import unittest

import nearfar

TINY = {"size": "small", "param": {"width": 64}}
"""Of MT: takes no time worth mentioning."""
TINY_WORDS = ["--size", "small", "--param", "width=64"]


def command(*words, cwd=None):
    """What `nearfar` says and its exit code."""
    done = subprocess.run([nearfar.program_path(), *words], capture_output=True, text=True, cwd=cwd)
    return done.returncode, done.stdout, done.stderr


def complaint(*words):
    """The sentence of a mistake on the command line."""
    code, _, err = command(*words)
    assert code == 2, (code, err)
    return err.split("error: ", 1)[1].rstrip("\n")


def need(*modules):
    """Skips a test for which a module is not installed, unless nothing may be skipped."""
    import importlib.util

    missing = [module for module in modules if importlib.util.find_spec(module) is None]
    if not missing:
        return lambda test: test
    if "NEARFAR_TEST_EXTRAS" in os.environ:
        raise AssertionError(f"{', '.join(missing)} is needed and not installed")
    return unittest.skip(f"{', '.join(missing)} is not installed; ./test extras installs it")


class ScratchTest(unittest.TestCase):
    """Works in a folder that is gone with the test."""

    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="nearfar-python-test-")
        self.addCleanup(shutil.rmtree, self.folder)
        before = os.getcwd()
        os.chdir(self.folder)
        self.addCleanup(os.chdir, before)

    def file(self, name):
        return os.path.join(self.folder, name)

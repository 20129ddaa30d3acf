#!/usr/bin/env python3
"""The documentation site is built without a warning, and its check of links finds what is broken.

    site_test.py ROOT PROGRAM SITE      exit code 77: mkdocs is not installed
"""
import sys
import tempfile
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(sys.argv[1]) / "docs/site"))
import build  # noqa: E402


class Site(unittest.TestCase):
    skipped = False

    def test_broken_links_are_found(self):
        with tempfile.TemporaryDirectory() as folder:
            site = Path(folder).resolve()
            (site / "a.html").write_text(
                '<h1 id="top">A</h1><a href="b.html">b</a><a href="a.html#top">top</a><a href="https://example.org">web</a>'
                '<a href="c.html">gone</a><a href="#nowhere">nowhere</a><img src="gone.png">'
                '<script src="https://example.org/x.js"></script>'
            )
            (site / "b.html").write_text('<a href="a.html#bottom">bottom</a>')
            self.assertEqual(
                list(build.broken_links(site)),
                [
                    "a.html loads https://example.org/x.js from elsewhere",
                    "a.html: there is no c.html",
                    "a.html: #nowhere names no part of the page",
                    "a.html: there is no gone.png",
                    "b.html: a.html#bottom names no part of the page",
                ],
            )

    def test_the_site_is_built(self):
        try:
            build.main(sys.argv[1:4])
        except SystemExit as end:
            if end.code == build.SKIPPED:
                Site.skipped = True
                self.skipTest("mkdocs is not installed")
            self.fail(end.code)
        site = Path(sys.argv[3])
        for page in ("index", "docs/tutorials/first-experiment", "docs/reference/parameters", "src/designs/idyll/index"):
            self.assertTrue((site / f"{page}.html").is_file(), page)


if __name__ == "__main__":
    result = unittest.TextTestRunner().run(unittest.defaultTestLoader.loadTestsFromTestCase(Site))
    sys.exit(build.SKIPPED if Site.skipped else not result.wasSuccessful())

#!/usr/bin/env python3
"""Builds the documentation site with mkdocs, and checks every link of it.

    build.py ROOT PROGRAM SITE      the source folder, the built program, the folder to make

The pages are those of the tree (README.md, docs/, the page of each design) and the reference, which the program writes.
They stay where they lie beside one another, so that their links work here as they do in the tree. Exit code 77: mkdocs
is not installed.
"""
import os
import re
import shutil
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

PAGES = ["README.md", "CHANGELOG.md", "CONTRIBUTING.md", "docs/**/*.md", "inputs/README.md", "src/designs/*/README.md", "tests/*/README.md"]
LINK = re.compile(r"\]\(\s*<?([^)\s>#]+)")
SKIPPED = 77


def fail(text):
    sys.exit(f"docs: {text}")


def gather(root, program, pages):
    """The pages, the files that they link to, and the reference."""
    shutil.rmtree(pages, ignore_errors=True)
    for pattern in PAGES:
        for page in sorted(root.glob(pattern)):
            copy(root, page, pages)
            for target in LINK.findall(page.read_text(encoding="utf-8")):
                linked = (page.parent / unquote(target)).resolve()
                if not urlsplit(target).scheme and linked.is_file() and linked.suffix != ".md":
                    copy(root, linked, pages)
    shutil.copy(root / "docs/site/site.css", pages / "site.css")
    reference = pages / "docs/reference"
    environment = {name: value for name, value in os.environ.items() if not name.startswith("NEARFAR_")}
    # The shipped systems, studies and claims, and none of the user's.
    for kind in ("systems", "studies", "claims", "calibrations"):
        environment[f"NEARFAR_{kind.upper()}"] = str(root / kind)
    subprocess.run([program, "reference", "-o", reference], check=True, env=environment, stderr=subprocess.DEVNULL)


def copy(root, file, pages):
    target = pages / file.relative_to(root)
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(file, target)


class Names(HTMLParser):
    """What a page links to and loads, and the names of its parts."""

    def __init__(self):
        super().__init__()
        self.links, self.loads, self.names = [], [], set()

    def handle_starttag(self, tag, attributes):
        for name, value in attributes:
            if name == "id" or (tag == "a" and name == "name"):
                self.names.add(value)
            elif tag == "a" and name == "href":
                self.links.append(value)
            elif name == "src" or (tag == "link" and name == "href"):
                self.loads.append(value)


def read(file):
    names = Names()
    names.feed(file.read_text(encoding="utf-8"))
    return names


def broken_links(site):
    """What is wrong with the links of a site, as sentences."""
    files = {file: read(file) for file in sorted(site.rglob("*.html")) if file.name != "404.html"}
    for file, names in files.items():
        place = file.relative_to(site)
        for load in names.loads:
            if urlsplit(load).netloc or urlsplit(load).scheme not in ("", "data"):
                yield f"{place} loads {load} from elsewhere"
        for link in names.links + names.loads:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (file.parent / unquote(parts.path)).resolve() if parts.path else file
            if target.is_dir():
                target = target / "index.html"
            if not target.is_file():
                yield f"{place}: there is no {link}"
            elif parts.fragment and target in files and unquote(parts.fragment) not in files[target].names:
                yield f"{place}: {link} names no part of the page"


def pages_without_entry(root, pages):
    """Pages of docs/ that no entry of the navigation leads to."""
    entries = set(re.findall(r"([\w/.-]+\.md)", (root / "docs/site/mkdocs.yml").read_text(encoding="utf-8")))
    return [str(page.relative_to(pages)) for page in sorted((pages / "docs").rglob("*.md"))
            if str(page.relative_to(pages)) not in entries]


def main(words):
    if len(words) != 3:
        fail(__doc__)
    root, program, site = (Path(word).resolve() for word in words)
    if not shutil.which("mkdocs"):
        if os.environ.get("NEARFAR_TEST_EXTRAS") == "needed":
            fail("mkdocs is not installed")
        print("docs: the site is skipped: mkdocs is not installed (./test extras installs it)")
        sys.exit(SKIPPED)
    pages = site.with_name(site.name + "-pages")
    gather(root, program, pages)
    if missing := pages_without_entry(root, pages):
        fail("docs/site/mkdocs.yml has no entry for " + ", ".join(missing))
    environment = os.environ | {"NEARFAR_SITE_PAGES": str(pages), "NEARFAR_SITE": str(site)}
    built = subprocess.run(["mkdocs", "build", "--strict", "--quiet", "--clean", "-f", root / "docs/site/mkdocs.yml"],
                           env=environment, check=False)
    if built.returncode != 0:
        fail("mkdocs could not build the site")
    if broken := list(broken_links(site)):
        fail("broken links:\n" + "\n".join(broken))
    print(f"docs: {site}/index.html")


if __name__ == "__main__":
    main(sys.argv[1:])

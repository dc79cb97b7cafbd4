"""`python -m ci.book FOLDER`: the documents as a site in FOLDER/site; ends with 1 where a link leads nowhere or a page is in no list."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import yaml

from ci.book import pages


def main(folder: Path) -> int:
    docs, site = folder / "pages", folder / "site"
    pages.assemble(docs)
    settings = folder / "mkdocs.yml"
    settings.write_text(yaml.safe_dump(pages.settings(docs.resolve(), site.resolve()), sort_keys=False), encoding="utf-8")
    # not --quiet: it would count no warnings then
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "-f", str(settings)]
    return subprocess.run(command, check=False, env={**os.environ, "NO_MKDOCS_2_WARNING": "1"}).returncode


if __name__ == "__main__":
    raise SystemExit(main(Path(sys.argv[1])))

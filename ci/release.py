"""What the release workflow asks of a tag and of a wheel; the standard library alone, for it runs before anything is installed.

`python -m ci.release check v1.2.3`   the tag, pyproject.toml and the changelog name one version
`python -m ci.release try COMMAND`    the installed command indexes a small repository and answers, and needs no extra for it
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FILES = {"core.py": "def price(number: int) -> int:\n    return number * 2\n", "use.py": "from core import price\n\nprint(price(2))\n"}


def check(tag: str, root: Path = ROOT) -> list[str]:
    """What does not fit, a sentence each."""
    version = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
    found: list[str] = []
    if tag != f"v{version}":
        found.append(f"the tag is {tag}, and pyproject.toml has {version}")
    headings = re.findall(r"^## (\S+)(.*)$", (root / ".github" / "CHANGELOG.md").read_text(encoding="utf-8"), flags=re.MULTILINE)
    if not headings or headings[0][0] != version:
        found.append(f"the changelog begins with {headings[0][0] if headings else 'nothing'}, not with {version}")
    elif "not yet" in headings[0][1]:
        found.append(f"the changelog says that {version} is not yet released")
    return found


def attempt(command: str) -> list[str]:
    """What the command does not do, a sentence each."""
    program = shutil.which(command) or command
    with tempfile.TemporaryDirectory() as folder:
        for name, text in FILES.items():
            (Path(folder) / name).write_text(text, encoding="utf-8")

        def run(*words: str) -> subprocess.CompletedProcess[str]:
            return subprocess.run([os.path.abspath(program), *words], cwd=folder, capture_output=True, encoding="utf-8", check=False)

        made = run("index")
        if made.returncode != 0:
            return [f"index ends with {made.returncode}: {made.stderr or made.stdout}"]
        asked = run("query", "callers", "price", "--json")
        if asked.returncode != 0:
            return [f"query ends with {asked.returncode}: {asked.stderr}"]
        answer = json.loads(asked.stdout)
        said = (answer["total"], answer["completeness"]["status"])
        return [] if said == (1, "complete") else [f"callers are {said}, and should be 1 and complete"]


def main(words: list[str]) -> int:
    match words:
        case ["check", tag]:
            found = check(tag)
        case ["try", command]:
            found = attempt(command)
        case _:
            print(__doc__, file=sys.stderr)
            return 2
    print(*found, sep="\n", end="\n" if found else "", file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

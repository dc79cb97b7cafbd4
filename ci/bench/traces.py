"""`python -m ci.bench.traces`: which calls that really run does an index have, and which of its calls lead elsewhere when they run?

Pinned packages are taken from the registry with their tests, indexed, and their own suites run under a profiler (`ci.bench.trace_run`).
Calls of functions of the package are held against the index (`ci.bench.trace_compare`): what it has, what it lacks by construct, and
which of its edges a call that ran contradicts. Nobody's judgement is in it, and nobody can tune to it but by reading what is missed: of
HELD_OUT nothing was read while values were taught to flow.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from ci.bench import sdists, trace_compare


class Package(NamedTuple):
    """`requirement`: the sdist, which has tests. `sources`: where its own functions are. `needs`: what its tests need beside it.

    `runner`: the script, with its arguments, that runs the tests instead of pytest.
    """

    requirement: str
    sources: str
    needs: tuple[str, ...] = ()
    runner: tuple[str, ...] = ()


PACKAGES: Mapping[str, Package] = {
    "flask": Package("flask==3.1.3", "src/flask"),
    "click": Package("click==8.1.8", "src/click"),
    "jinja2": Package("Jinja2==3.1.6", "src/jinja2", ("trio==0.30.0",)),
    "itsdangerous": Package("itsdangerous==2.2.0", "src/itsdangerous", ("freezegun==1.5.5",)),
    "marshmallow": Package("marshmallow==3.26.1", "src/marshmallow", ("pytz==2025.2", "simplejson==3.20.1")),
    "attrs": Package("attrs==25.3.0", "src/attr", ("hypothesis==6.148.2", "cloudpickle==3.1.2")),
    "sqlparse": Package("sqlparse==0.5.3", "sqlparse"),
    "mistune": Package("mistune==3.1.3", "src/mistune"),
    "django": Package(
        "Django==5.2.9",
        "django",
        runner=(
            *("tests/runtests.py", "--parallel=1", "-v0", "get_or_create", "custom_managers", "managers_regress", "generic_views"),
            *("forms_tests", "modeladmin", "signals", "template_tests", "contenttypes_tests", "dispatch", "cache"),
        ),
    ),
}
HELD_OUT = ("marshmallow", "attrs")
_RUNNER = "pytest==8.4.2"
_TIMEOUT_S = 900


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m ci.bench.traces", description="Does an index have the calls that run?")
    parser.add_argument("--out", type=Path, default=Path(".bench/traces"), help="working folder, kept between runs")
    parser.add_argument("--tests", type=int, default=600, help="tests of each package that run, at most (default: 600)")
    parser.add_argument("--only", choices=sorted(PACKAGES), nargs="+", default=list(PACKAGES))
    parser.add_argument("--again", action="store_true", help="make indexes anew; traces are kept")
    arguments = parser.parse_args()
    folder: Path = arguments.out.absolute()
    folder.mkdir(parents=True, exist_ok=True)
    found: dict[str, dict[str, trace_compare.Compared]] = {}
    for name in arguments.only:
        package = PACKAGES[name]
        python = environment(folder, name, package)
        root = sources(folder, package)
        if arguments.again or not (root / ".lspidx").is_dir():
            command = [sys.executable, "-m", "query.cli", "index", "-q", "--python", str(python.parent.parent), str(root)]
            subprocess.run(command, check=True)
        trace = traced(folder, name, package, root, python, arguments.tests)
        found[name] = trace_compare.compare(root, package.sources, trace)
    result = {name: {group: item.to_json() for group, item in groups.items()} for name, groups in found.items()}
    (folder / "result.json").write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    print(trace_compare.to_markdown(found, HELD_OUT))
    return 0


def environment(folder: Path, name: str, package: Package) -> Path:
    """The interpreter of an environment with the package and what its tests need."""
    place = folder / f"env-{name}"
    python = place / "bin" / "python"
    stamp = place / "requirements.txt"
    wanted = "\n".join((_RUNNER, package.requirement, *package.needs))
    if not stamp.is_file() or stamp.read_text(encoding="utf-8") != wanted:
        subprocess.run([sys.executable, "-m", "venv", "--clear", str(place)], check=True)
        subprocess.run([str(python), "-m", "pip", "install", "-q", *wanted.split("\n")], check=True, stdout=sys.stderr)
        stamp.write_text(wanted, encoding="utf-8")
    return python


def sources(folder: Path, package: Package) -> Path:
    """The sdist, as one commit of a repository of its own."""
    project, _, version = package.requirement.partition("==")
    root = folder / f"{project.lower()}-{version}"
    if not (root / ".git").is_dir():
        sdists.sources(folder, package.requirement, downloads=folder / "downloads")
        for words in (["init", "-q"], ["add", "-A"], ["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "-m", "base"]):
            subprocess.run(["git", *words], cwd=root, check=True)
    return root


def traced(folder: Path, name: str, package: Package, root: Path, python: Path, most: int) -> trace_compare.Trace:
    """What ran; kept in `folder` for the next run.

    Raises:
        RuntimeError: the suite did not run; the message names its log.
    """
    out = folder / f"trace-{name}-{most}.json"
    if not out.is_file():
        log = folder / f"trace-{name}.log"
        sources = root / package.sources
        command = [str(python), "-B", str(Path(__file__).with_name("trace_run.py").absolute()), str(out), str(root), str(most)]
        command += package.runner or ("-q", "-p", "no:cacheprovider", "-W", "ignore", "tests")
        environment = {**os.environ, "PYTHONPATH": str(sources.parent), "PYTHONDONTWRITEBYTECODE": "1"}
        with log.open("w", encoding="utf-8") as said:
            subprocess.run(command, cwd=root, env=environment, stdout=said, stderr=said, timeout=_TIMEOUT_S, check=False)
        if not out.is_file():
            raise RuntimeError(f"the tests of {name} ended without a trace; see {log}")
    return trace_compare.read(out)


if __name__ == "__main__":
    sys.exit(main())

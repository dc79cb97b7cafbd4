"""Fills lspidx's own environment of a workspace with what its projects declare: wheels only, so that nothing is executed.

Started by `--fetch` as `python -I -m indexer.prerequisites.python_install ROOT PLACE`. pip is the client, since it follows the user's own
configuration (mirrors, certificates), and installs for another Python than the one that runs it.
The environment has no interpreter: servers read its packages, and nobody can start it.
"""

from __future__ import annotations

import importlib.util
import logging
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from importlib.metadata import distributions
from pathlib import Path

from packaging.requirements import InvalidRequirement, Requirement
from packaging.specifiers import SpecifierSet
from packaging.version import Version

from indexer import vcs
from indexer.private_places import is_held
from indexer.python_manifests import Manifest, normalised, read_manifests, read_text
from indexer.python_project import DEFAULT_VERSION, wanted_version
from indexer.python_requirements import LEFT_OUT, Need, declared, is_aside, on_python

log = logging.getLogger(__name__)

SUMMARY = "lspidx-fetched.txt"
"""In the environment: what could not be had, a requirement in each line."""

ASKED = "lspidx-wanted.txt"
"""In the environment: the version of Python and the requirements that it was made for."""

_MISSING = re.compile(
    r"(?:No matching distribution found for|Could not find a version that satisfies the requirement) ([A-Za-z0-9][A-Za-z0-9._-]*)"
)
_FOREIGN = re.compile(
    r"PYTHON.*|PIP_(TARGET|PREFIX|ROOT|USER|REQUIRE_VIRTUALENV|NO_BINARY|ONLY_BINARY|PYTHON|PLATFORM|REQUIREMENT|EDITABLE)"
)
"""Variables that would make pip install elsewhere, for another machine, or what is to be built."""

_UNREACHABLE = re.compile("NewConnectionError|ConnectTimeout|ReadTimeout|NameResolution|name resolution|ProxyError|SSLError|Max retries")
"""What pip says where it reaches no registry: then no other requirement can be had either."""

_LATE = "pip takes too long"
_TRIES_S, _MATRIX_S, _WHOLE_S = 500.0, 600.0, 840.0
"""After so many seconds nothing more is tried, nothing of a matrix is installed, and nothing at all: less than what the step may take, so
that pip does not outlive us."""

_TAIL_LINES = 12
_MOST_TRIES = 60
_MOST_OF_MATRIX = 60
"""Packages that only some of tox's environments have. sentry's have 332, which took pip 7 minutes and 1.7 GB, Django of 2017 among them."""

Try = Callable[[Sequence[str], bool], str]
"""Runs pip for requirements, only to see whether it could (True) or really; what it said where it failed, else nothing."""


def version_for(manifests: Sequence[Manifest]) -> str:
    """The Python that packages are installed for: the default, if the workspace's outermost project runs on it."""
    for item in manifests:
        if item.requires_python:
            try:
                return (
                    DEFAULT_VERSION if Version(f"{DEFAULT_VERSION}.0") in SpecifierSet(item.requires_python) else wanted_version(manifests)
                )
            except ValueError:  # no specifier, or a number of thousands of digits
                continue
    return DEFAULT_VERSION


def chosen(needs: Sequence[Need], version: str) -> list[str]:
    """One requirement for each name that is wanted on that Python, those to run with first.

    What a project is run with decides about the version; tests and documentation, which often pin another, add their extras. What several
    environments of a matrix pin apart has no version that is the project's: any will do.
    """
    found: dict[str, Requirement] = {}
    in_matrix: set[str] = set()
    for need in on_python(needs, version):
        requirement = Requirement(need.text)
        requirement.marker = None  # pip would ask the Python that runs it
        known = found.get(need.name)
        if known is None:
            found[need.name] = requirement
            if need.kind == "matrix":
                in_matrix.add(need.name)
        else:
            if need.name in in_matrix and known.specifier != requirement.specifier:
                known.specifier = SpecifierSet()
            known.extras |= requirement.extras
    return [str(requirement) for requirement in found.values()]


def bring(
    wanted: Sequence[str], attempt: Try, firm: Collection[str] = (), each_alone: Try | None = None
) -> tuple[list[str], list[str], str]:
    """Installs as many of the requirements as can be had together.

    What pip names as missing is tried without its version, then left out. Where it names nothing, and most are pinned, as those of several
    services together are, each is installed as it is declared by `each_alone`, whether they fit or not. Else the versions that tests and
    documentation pin are given up, then halves are tried, the former first. `firm` are the names whose versions are kept till then.
    Returns what was installed, in order; what was not, or not as wanted; and what went wrong where nothing could be installed.
    """
    items = list(wanted)
    lost: list[str] = []
    relaxed: set[str] = set()
    run, is_new = attempt, True
    for _ in range(_MOST_TRIES):
        said = run(items, False) if items else ""  # pip decides about all before it installs the first
        if not said or said == _LATE or _UNREACHABLE.search(said):
            return ([] if said else items), lost, said
        names = {normalised(name) for name in _MISSING.findall(said)}
        blamed = [item for item in items if normalised(Requirement(item).name) in names]
        if not blamed:
            if is_new and each_alone is not None and 2 * sum("==" in item for item in items) > len(items):
                run, is_new = each_alone, False
                continue
            run = attempt
            pinned = [item for item in items if "==" in item and normalised(Requirement(item).name) not in firm]
            if not pinned:
                break
            lost += pinned
            items = [Requirement(item).name if item in pinned else item for item in items]
            continue
        for item in blamed:
            bare = Requirement(item).name
            if item != bare and bare not in relaxed:
                relaxed.add(bare)
                items[items.index(item)] = bare
            else:
                items.remove(item)
            if item not in lost:
                lost.append(item)
    kept = _halves([], items, attempt)
    problem = attempt(kept, False) if kept else ""
    return ([] if problem else kept), [*lost, *(item for item in items if item not in kept)], problem


def _halves(base: list[str], items: list[str], attempt: Try) -> list[str]:
    """`base`, which can be had, and what of `items` can be had with it."""
    if not items or not attempt([*base, *items], True):
        return [*base, *items]
    if len(items) == 1:
        bare = Requirement(items[0]).name
        return [*base, bare] if bare != items[0] and not attempt([*base, bare], True) else base
    middle = len(items) // 2
    return _halves(_halves(base, items[:middle], attempt), items[middle:], attempt)


def install(root: Path, place: Path, say: Callable[[str], None]) -> str:
    """Makes the environment anew and puts it in place of the former one; returns what went wrong, or an empty string."""
    paths = [path for path in vcs.list_files(root) if is_held(str(root), path)]
    manifests = read_manifests(root, [path for path in paths if not is_aside(path)])
    version = version_for(manifests)
    needs = declared(root, paths, manifests)
    wanted, firmly, left_out = _without_matrix(needs, version)
    if not wanted:
        return ""
    asked = "".join(f"{item}\n" for item in [version, *wanted])
    if read_text(place / ASKED) == asked:
        return ""
    client = _client()
    if not client:
        return "there is no pip beside lspidx, nor on PATH"
    new = place.with_name(f"{place.name}.new")
    shutil.rmtree(new, ignore_errors=True)
    site = new / "lib" / f"python{version}" / "site-packages"
    site.mkdir(parents=True)

    begun = time.monotonic()
    beside = new / "beside"
    around = {name: value for name, value in os.environ.items() if not _FOREIGN.fullmatch(name)}

    def pip(items: Sequence[str], target: Path, *switches: str, until_s: float = _WHOLE_S) -> str:
        command = [
            *client, "install", "--disable-pip-version-check", "--no-input", "--quiet", "--only-binary", ":all:",
            "--python-version", version, "--target", str(target), "--ignore-installed", *switches, "--", *items,
        ]  # fmt: skip
        try:
            done = subprocess.run(
                command,
                env=around,
                cwd=new,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                encoding="utf-8",
                errors="replace",
                check=False,
                timeout=max(0.1, begun + until_s - time.monotonic()),
            )
        except subprocess.TimeoutExpired:  # which ends pip, too
            return _LATE
        return "" if done.returncode == 0 else done.stdout.strip() or f"pip ended with {done.returncode}"

    def attempt(items: Sequence[str], only_try: bool) -> str:
        if only_try:
            return pip(items, site, "--dry-run", until_s=_TRIES_S)
        return pip(items, site, "--no-compile", until_s=_MATRIX_S if len(items) > len(firmly) else _WHOLE_S)

    def each_alone(items: Sequence[str], only_try: bool) -> str:
        """And then what these need, by name, whatever its version."""
        said = pip(items, site, "--no-compile", "--no-deps")
        asked: set[str] = set()
        while not said and (names := sorted(lacking(site, version) - asked)):
            asked |= set(names)
            more, _, problem = bring(names, lambda some, _: pip(some, beside, "--no-compile", "--no-deps"))
            if problem == _LATE:
                break
            if more:  # pip leaves a folder alone that is there, and two packages may have a part each in one
                shutil.copytree(beside, site, dirs_exist_ok=True)
            shutil.rmtree(beside, ignore_errors=True)
        return said

    firm = {need.name for need in needs if need.kind == "run"}
    kept, lost, problem = bring(wanted, attempt, firm, each_alone)
    if problem == _LATE and len(firmly) < len(wanted):  # so many libraries as a matrix has may never fit: what is left has a chance
        kept, lost, problem = bring(firmly, attempt, firm, each_alone)
        left_out = _only_in_matrix(wanted, firmly)
    if not kept:
        shutil.rmtree(new, ignore_errors=True)
        return "\n".join(problem.splitlines()[-_TAIL_LINES:]) or "none of what the projects declare could be had as a wheel"
    (new / ASKED).write_text(asked, encoding="utf-8")
    _put(new, place, version, lost, left_out)
    if lost:
        say(f"not as declared, or not at all: {', '.join(lost)}")
    return ""


def _put(new: Path, place: Path, version: str, lost: Sequence[str], left_out: Sequence[str]) -> None:
    """A new environment in place of the former one, with what it lacks written down."""
    (new / "pyvenv.cfg").write_text(f"home = {new.with_name(place.name) / 'bin'}\nversion = {version}\n", encoding="utf-8")
    (new / SUMMARY).write_text("".join(f"{item}\n" for item in lost), encoding="utf-8")
    (new / LEFT_OUT).write_text("".join(f"{name}\n" for name in left_out), encoding="utf-8")
    old = place.with_name(f"{place.name}.old")
    shutil.rmtree(old, ignore_errors=True)
    if place.exists():
        os.replace(place, old)
    os.replace(new, place)
    shutil.rmtree(old, ignore_errors=True)


def _without_matrix(needs: Sequence[Need], version: str) -> tuple[list[str], list[str], list[str]]:
    """What is to be had; what of it is of no matrix; the names of what is left out, for so many of a matrix do not fit one another."""
    wanted, firmly = chosen(needs, version), chosen([need for need in needs if need.kind != "matrix"], version)
    if firmly and len(wanted) - len(firmly) > _MOST_OF_MATRIX:
        return firmly, firmly, _only_in_matrix(wanted, firmly)
    return wanted, firmly, []


def _only_in_matrix(wanted: Sequence[str], firmly: Sequence[str]) -> list[str]:
    """Names of the requirements that the others do not have."""
    there = {Requirement(item).name for item in firmly}
    return [name for item in wanted if (name := Requirement(item).name) not in there]


def lacking(site: Path, version: str) -> set[str]:
    """Names of what packages in a folder need on a Python, and what is not there; nothing that only an extra needs."""
    there: set[str] = set()
    needs: list[Need] = []
    for package in distributions(path=[str(site)]):
        there.add(normalised(package.name or ""))  # None where the file that names it is no such file
        for text in package.requires or ():
            with suppress(InvalidRequirement):
                needs.append(Need(name=normalised(Requirement(text).name), text=text, kind="run"))
    return {need.name for need in on_python(needs, version)} - there


def _client() -> list[str]:
    if importlib.util.find_spec("pip") is not None:
        return [sys.executable, "-I", "-m", "pip"]
    found = shutil.which("pip3") or shutil.which("pip")
    return [found] if found else []


def main() -> int:
    problem = install(Path(sys.argv[1]), Path(sys.argv[2]), lambda text: print(text))  # noqa: T201 - a program of its own
    if problem:
        print(problem, file=sys.stderr)  # noqa: T201
    return 1 if problem else 0


if __name__ == "__main__":
    raise SystemExit(main())

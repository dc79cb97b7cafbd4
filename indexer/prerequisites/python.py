"""Python: the environment that imports resolve in, and whether what the projects declare is in it."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from indexer.languages import PYTHON
from indexer.prerequisites import Look, Prerequisite, Step, fetched_dir, fetched_folder
from indexer.python_manifests import read_manifests, read_text
from indexer.python_project import PythonProject, find_project, installed
from indexer.python_requirements import LEFT_OUT, Need, declared, is_aside, on_python

_NAMED = 4
_INSTALLERS = (
    ("uv.lock", "uv sync"),
    ("poetry.lock", "poetry install"),
    ("pdm.lock", "pdm install"),
    ("Pipfile", "PIPENV_VENV_IN_PROJECT=1 pipenv install --dev"),
)
"""Files in the root, and the command that makes the project's environment where there is one."""


def fetched_environment(root: Path, environment: Mapping[str, str]) -> Path:
    """The environment that `lspidx index --fetch` makes for a workspace; need not be there."""
    return fetched_folder(fetched_dir(environment), root) / "python"


def find(look: Look) -> list[Prerequisite]:
    """See `BuildTool.find`."""
    project, needs = _look(look)
    wanted = sorted({need.name for need in on_python(needs, project.version) if need.kind == "run"})
    if not wanted:
        return []
    if project.prefix is None:
        names = _listed(wanted)
        detail = f"the project's packages are installed nowhere that lspidx looks (.venv, venv, env, VIRTUAL_ENV); it declares {names}"
        return [_missing(detail, _remedy(look), can_fetch=not look.python)]
    there = installed(project.prefix)
    absent = [name for name in wanted if name not in there]
    if not absent:
        left_out = read_text(project.prefix / LEFT_OUT).split() if project.is_fetched else []
        if not left_out:
            return []
        detail = f"{len(left_out)} packages that only some environments of tox have were not fetched: {_listed(left_out)}"
        return [_missing(detail, _remedy(look))]
    if project.is_fetched:
        detail = f"{len(absent)} of {len(wanted)} declared packages could not be fetched as wheels: {_listed(absent)}"
        return [_missing(detail, _remedy(look), packages=absent)]
    detail = f"{len(absent)} of {len(wanted)} declared packages are not in the environment ({project.found_by}): {_listed(absent)}"
    return [_missing(detail, _remedy(look, project), packages=absent)]


def steps(look: Look) -> list[Step]:
    """See `BuildTool.steps`."""
    project, needs = _look(look)
    if not needs or look.python or (project.prefix is not None and not project.is_fetched):
        return []
    return [
        Step(
            language=PYTHON.name,
            command=[
                sys.executable,
                "-I",
                "-m",
                "indexer.prerequisites.python_install",
                str(look.root),
                str(fetched_environment(look.root, look.environment)),
            ],
            cwd=look.fetched_here,
            environment={name: value for name, value in look.environment.items() if name.startswith("PIP_")},
            writes=[look.fetched_here],
        )
    ]


def _look(look: Look) -> tuple[PythonProject, list[Need]]:
    paths = [path for path in look.paths if not path.startswith("../")]
    main = [path for path in paths if not is_aside(path)]
    manifests = read_manifests(look.root, main)
    project = find_project(
        look.root,
        main,
        python=look.python,
        source_roots=(),
        environment=look.environment,
        own_prefix=sys.prefix,
        fetched=look.fetched_here / "python",
        manifests=manifests,
    )
    return project, declared(look.root, paths, manifests)


def _missing(detail: str, remedy: str, *, can_fetch: bool = False, packages: Sequence[str] = ()) -> Prerequisite:
    return Prerequisite(
        language=PYTHON.name, name="environment", detail=detail, remedy=remedy, can_fetch=can_fetch, packages=list(packages)
    )


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return ", ".join(names[:_NAMED]) + more


def _remedy(look: Look, project: PythonProject | None = None) -> str:
    present = {path for path in look.paths if "/" not in path}
    for file, command in _INSTALLERS:
        if file in present:
            return command
    prefix = project.prefix if project is not None else None
    make, pip = "python3 -m venv .venv && ", ".venv/bin/pip"
    if prefix is not None:
        inside = prefix.is_relative_to(look.root)
        make, pip = "", f"{prefix.relative_to(look.root).as_posix()}/bin/pip" if inside else "pip"
    if "requirements.txt" in present and not {"pyproject.toml", "setup.py"} & present:
        return f"{make}{pip} install -r requirements.txt"
    return f"{make}{pip} install -e ."

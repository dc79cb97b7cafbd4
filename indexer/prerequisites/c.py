"""C and C++: a compilation database, which says with which folders and macros each file is compiled."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from indexer.languages import CPP, C
from indexer.prerequisites import Look, Prerequisite, Step
from indexer.servers.registry import is_test

_DATABASES = ("", "build", "out", "cmake-build-debug", "cmake-build-release", "builddir")
_SOURCES = (".c", ".cc", ".cpp", ".cxx", ".c++", ".m", ".mm")
_ASIDE = frozenset({"fixtures", "testdata", "examples", "docs", "doc"})
_HOW = (
    ("CMakeLists.txt", "cmake -S . -B build -DCMAKE_EXPORT_COMPILE_COMMANDS=ON"),
    ("meson.build", "meson setup builddir"),
    ("configure", "./configure && bear -- make"),
    ("configure.ac", "autoreconf -i && ./configure && bear -- make"),
    ("Makefile", "bear -- make"),
    ("GNUmakefile", "bear -- make"),
    ("setup.py", "bear -- pip install --no-build-isolation -e ."),
    ("Cargo.toml", "bear -- cargo build"),
    ("", "bear -- make (or whatever builds it), in the root"),
)
"""How a database is made, by a file in the root. Each runs the repository's build, so lspidx does not do it."""


def database(root: Path, may_read: Callable[[str], bool] = lambda _: True) -> Path | None:
    """The project's own compilation database, where one is in the root or in a usual folder of builds; may_read: as of `Look`."""
    files = (root / name / "compile_commands.json" for name in _DATABASES)
    return next((file for file in files if file.is_file() and may_read(str(file))), None)


def find(look: Look) -> list[Prerequisite]:
    """See `BuildTool.find`."""
    if database(look.root, look.may_read) is not None or (look.root / "compile_flags.txt").is_file() or not _is_built(look):
        return []
    return [
        Prerequisite(
            language=CPP.name if CPP.name in look.languages else C.name,
            name="compilation database",
            detail="there is no compile_commands.json, so include folders are guessed and macros of the build are unknown",
            remedy=next(command for name, command in _HOW if not name or (look.root / name).is_file()),
        )
    ]


def _is_built(look: Look) -> bool:
    """Whether a build of the repository compiles C or C++: what only tests and examples hold has no database anyway."""
    return any(path.endswith(_SOURCES) and not is_test(path, CPP.name) and not _ASIDE & set(path.split("/")[:-1]) for path in look.paths)


def steps(look: Look) -> list[Step]:
    """See `BuildTool.steps`: none, since only the repository's build makes one."""
    return []

"""What a program needs of the place where it is installed, so that a fence can open that and nothing that lies beside it.

A program in `X/bin` says little about X: it may be a toolchain's own folder, an environment of Python, `/usr/local`, `~/.local`,
`~/.cargo`, or a home folder with a `bin` of its own scripts. So nothing is opened because it lies in X, but because its kind is known:

    any program           itself; X/lib, X/lib64 and X/libexec where shared libraries lie in X/lib (in a home: these libraries only)
    a script              also its interpreter, by the first line
    an interpreter of Python, or a script of one     X/lib/python3*, X/pyvenv.cfg, and the interpreter that an environment leads to
    what lies in node_modules                        the outermost node_modules, where Node looks for what is required
    toolchains (Go, Java, gcc, Homebrew …)           the parts of a distribution that `_LAYOUTS` knows by its marks
    a server that is a folder                        what its entry in servers.toml names as `beside`
"""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Iterable, Iterator

from indexer.plain_files import entries_of
from indexer.private_places import holds_home

_BIN = ("bin", "sbin", "Scripts", ".bin")
_LIBRARIES = ("lib", "lib64", "libexec")
_LAYOUTS: tuple[tuple[tuple[str, ...], tuple[str, ...]], ...] = (
    (("pkg/tool", "src/runtime"), ("bin", "pkg", "src", "lib", "misc", "go.env", "VERSION")),
    (("lib/modules", "release"), ("bin", "conf", "lib", "jmods", "release")),
    (("jre/lib/rt.jar",), ("bin", "lib", "jre", "release")),
    (("lib/gcc",), ("include", "lib", "lib64", "libexec", "*-*-*")),
    (("lib/clang",), ("include", "lib/clang", "share/clang")),
    (("tools/image", "bin/volta-shim"), ("bin", "tools")),
    (("Cellar",), ("Cellar", "lib", "opt")),
    (("../../../Cellar",), ("../../../Cellar", "../../../lib", "../../../opt")),
)
"""What tells a toolchain's own folder, all of it relative to X; and the parts of it that may then be opened."""

_PYTHON = re.compile(r"(python|pypy)[\d.]*\Z")
_INTERPRETER = re.compile(rb"#!\s*(/\S+)")
_LONG_INTERPRETER = re.compile(rb"#!/bin/sh\s+'''exec' \"?(/[^\"\n]+?)\"? ")
_HEAD_BYTES = 4_096
_MOST_LINKS = 8
_MOST_LIBRARIES = 200


def parts(program: str, home: str, beside: Iterable[str] = ()) -> list[str]:
    """Files and folders that a program needs in order to run, itself first.

    Args:
        program: its absolute path. home: the user's home folder.
        beside: what it needs besides, relative to the folder above its `bin`, or to its own where that is no `bin`.
    """
    found: dict[str, None] = {}
    _collect(program, home, tuple(beside), found, _MOST_LINKS)
    return list(found)


def environment_parts(prefix: str) -> list[str]:
    """What an environment of Python consists of: its interpreter and packages, not what else may lie in its folder."""
    named = [os.path.join(prefix, name) for name in ("lib", "lib64", "include", "pyvenv.cfg")]
    return [*named, *sorted(glob.glob(os.path.join(glob.escape(prefix), "bin", "python*")))]


def is_python(program: str) -> bool:
    """Whether a program, links followed, is the interpreter of an installation with its standard library."""
    real = os.path.realpath(program)
    folder = os.path.dirname(real)
    named = os.path.basename(folder) in _BIN and _PYTHON.match(os.path.basename(real))
    return bool(named and standard_library(os.path.dirname(folder)))


def standard_library(prefix: str) -> list[str]:
    """The standard library of an installation of Python, without the packages beside it; nothing where there is none.

    A folder called `lib/python3.12` is not believed to be one: whoever names it may mean what else lies there.
    """
    found: list[str] = []
    for place in sorted(glob.glob(os.path.join(glob.escape(prefix), "lib", "python3*"))):
        if os.path.isfile(os.path.join(place, "os.py")) and os.path.isdir(os.path.join(place, "encodings")):
            found += [entry.path for entry in entries_of(place) if not entry.name.endswith("-packages")]
    return found


def user_base(program: str, home: str) -> str:
    """The folder of packages of a Python script that `pip install --user` has installed; it lies in the home, which a fence hides."""
    real = os.path.realpath(program)
    base = os.path.dirname(os.path.dirname(real))
    is_script = os.path.basename(os.path.dirname(real)) in _BIN and _PYTHON.search(os.path.basename(_interpreter(real)))
    return base if is_script and holds_home(base, home) else ""


def _collect(program: str, home: str, beside: tuple[str, ...], found: dict[str, None], links: int) -> None:
    for path in dict.fromkeys((os.path.abspath(program), os.path.realpath(program))):
        found[path] = None
        folder = os.path.dirname(path)
        above = os.path.dirname(folder) if os.path.basename(folder) in _BIN else ""
        for part in (*_of_prefix(path, above, home), *_of_node(path)) if above else _of_node(path):
            found[part] = None
        base = above or folder
        if not holds_home(base, home):
            found.update(dict.fromkeys(os.path.join(base, name) for name in beside))
    interpreter = _interpreter(os.path.realpath(program)) if links else ""
    if interpreter and interpreter not in found:
        _collect(interpreter, home, (), found, links - 1)
        found.update(dict.fromkeys(_packages(os.path.realpath(program), interpreter)))
    elif links and os.path.islink(program) and _PYTHON.search(os.path.basename(program)):
        # The interpreter of an environment is a link to that of an installation, which may be a link itself.
        target = os.path.join(os.path.dirname(os.path.abspath(program)), os.readlink(program))
        _collect(target, home, (), found, links - 1)


def _of_prefix(program: str, above: str, home: str) -> Iterator[str]:
    at_home = holds_home(above, home)
    if not at_home:
        if any(next(glob.iglob(os.path.join(glob.escape(above), name, "*.so*")), "") for name in _LIBRARIES):
            yield from (os.path.join(above, name) for name in _LIBRARIES)
        for marks, names in _LAYOUTS:
            if all(os.path.lexists(os.path.join(above, mark)) for mark in marks):
                for name in names:
                    yield from map(os.path.normpath, glob.glob(os.path.join(glob.escape(above), name)))
    else:
        yield from sorted(glob.glob(os.path.join(glob.escape(above), "lib*", "*.so*")))[:_MOST_LIBRARIES]
        if os.path.basename(program).startswith("clang"):
            yield os.path.join(above, "lib", "clang")
    if _PYTHON.search(os.path.basename(program)):
        yield os.path.join(above, "pyvenv.cfg")
        yield from sorted(glob.glob(os.path.join(glob.escape(above), "lib*", "python3*")))


def _of_node(program: str) -> Iterator[str]:
    pieces = program.split("/")
    if "node_modules" in pieces:
        yield "/".join(pieces[: pieces.index("node_modules") + 1])


def _packages(script: str, interpreter: str) -> Iterator[str]:
    """The packages beside a script of Python, as pip puts them into a home folder."""
    folder = os.path.dirname(script)
    if os.path.basename(folder) in _BIN and _PYTHON.search(os.path.basename(interpreter)):
        yield from sorted(glob.glob(os.path.join(glob.escape(os.path.dirname(folder)), "lib*", "python3*", "*-packages")))


def _interpreter(program: str) -> str:
    """What a script is run by; empty for what is no script, or one whose interpreter is looked for on PATH (`env`)."""
    try:
        with open(program, "rb") as opened:
            head = opened.read(_HEAD_BYTES)
    except OSError:
        return ""
    match = _LONG_INTERPRETER.match(head) or _INTERPRETER.match(head)
    path = os.fsdecode(match[1]) if match else ""
    return "" if os.path.basename(path) in ("env", "sh", "bash", "dash") else path

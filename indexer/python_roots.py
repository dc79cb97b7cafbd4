"""The folders of a repository that Python's imports start from.

One search path serves all files of a workspace, so a folder is put on it only if that leads nobody else astray: not a folder in which
several projects have a module of one name, not before the standard library where it would hide a part of that.
What is left off is found all the same by the files in it: servers try the importing file's own folders last.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from indexer.python_manifests import Manifest
from indexer.python_paths import added_folders

_ASIDE = frozenset({"tests", "test", "testing", "testdata", "test_data", "fixtures", "testcases"})
"""Folders whose projects are there to be tested with."""

_COMMON = frozenset(
    {"setup", "conftest", "noxfile", "tests", "test", "docs", "doc", "examples", "scripts", "__init__", "__main__", "manage", "tasks"}
)
"""Names that many projects have at their top, and that nobody imports from another project."""

_STANDARD_NAMES = """
abc aifc annotationlib antigravity argparse array ast asynchat asyncio asyncore atexit audioop base64 bdb binascii bisect builtins bz2
cProfile calendar cgi cgitb chunk cmath cmd code codecs codeop collections colorsys compileall compression concurrent configparser
contextlib contextvars copy copyreg crypt csv ctypes curses dataclasses datetime dbm decimal difflib dis distutils doctest email
encodings ensurepip enum errno faulthandler fcntl filecmp fileinput fnmatch formatter fractions ftplib functools gc genericpath getopt
getpass gettext glob graphlib grp gzip hashlib heapq hmac html http imaplib imghdr imp importlib inspect io ipaddress itertools json
keyword lib2to3 linecache locale logging lzma mailbox mailcap marshal math mimetypes mmap modulefinder msilib msvcrt multiprocessing
netrc nis nntplib nt ntpath nturl2path numbers opcode operator optparse os ossaudiodev parser pathlib pdb pickle pickletools pipes
pkgutil platform plistlib poplib posix posixpath pprint profile pstats pty pwd py_compile pyclbr pydoc pydoc_data pyexpat queue quopri
random re readline reprlib resource rlcompleter runpy sched secrets select selectors shelve shlex shutil signal site smtpd smtplib
sndhdr socket socketserver spwd sqlite3 sre_compile sre_constants sre_parse ssl stat statistics string stringprep struct subprocess
sunau symbol symtable sys sysconfig syslog tabnanny tarfile telnetlib tempfile termios textwrap this threading time timeit tkinter
token tokenize tomllib trace traceback tracemalloc tty turtle types typing unicodedata unittest urllib uu uuid venv warnings wave
weakref webbrowser winreg winsound wsgiref xdrlib xml xmlrpc zipapp zipfile zipimport zlib zoneinfo
"""
_STANDARD = frozenset(_STANDARD_NAMES.split())
"""Modules of the standard library, of Python 3.7 to 3.14: a list, since that of the running interpreter differs between machines."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Roots:
    """Absolute folders. first: searched before the standard library; last: after it; fallback: after installed packages, too."""

    first: tuple[Path, ...] = ()
    last: tuple[Path, ...] = ()
    fallback: tuple[Path, ...] = ()


@dataclass(frozen=True, slots=True)
class _Tree:
    """Folders with Python files below them, those that are packages, and what can be imported from each: modules and packages."""

    folders: frozenset[str]
    packages: frozenset[str]
    offered: dict[str, set[str]]


def find_source_roots(root: Path, paths: Iterable[str], manifests: Sequence[Manifest]) -> Roots:
    """The source roots of a workspace.

    Of the workspace itself: the folders that its build names and `src`, the root, `tests`. Of each project below: the folders that its
    build names and `src`, else its own folder. None of them where it is a package itself (has an `__init__.py`), whatever project files
    lie in it: a module may be called setup.py. A root that is a package is imported from the first folder above it that is none; the
    root itself is tried last then, for what is run as a script there. What tests add to the search path comes behind all others.
    """
    paths = list(paths)
    tree = _tree_of(paths)
    by_folder = {item.folder: item for item in manifests}
    own = _own_roots("", by_folder.get(""), tree)
    main = [*own, "", *(["tests"] if _is_start("tests", tree) else [])]
    nested: dict[str, list[str]] = {}
    for item in manifests:
        if item.folder and item.folder in tree.folders and not _ASIDE & set(item.folder.split("/")):
            found = _own_roots(item.folder, item, tree) or ([item.folder] if _is_start(item.folder, tree) else [])
            nested[item.folder] = [folder for folder in found if folder not in main]
    counts = Counter(name for folder in {*main, *(one for found in nested.values() for one in found)} for name in _names(folder, tree))
    clear = [folder for found in nested.values() for folder in found if all(counts[name] == 1 for name in _names(folder, tree))]
    sources = [*own, *(folder for folder in clear if folder.rpartition("/")[2] == "src")]
    ordered = list(dict.fromkeys([*sources, "", *sorted(clear), *main]))
    outer = root
    while (outer / "__init__.py").is_file() and outer.parent != outer:
        outer = outer.parent
    added = [folder for folder in added_folders(root, paths, manifests) if _is_start(folder, tree) and folder not in ordered]
    counts += Counter(name for folder in added for name in _names(folder, tree))
    fallback = tuple(root / folder for folder in added if all(counts[name] == 1 for name in _names(folder, tree)))
    hiding = {folder for folder in ordered if tree.offered.get(folder, set()) & _STANDARD}
    if outer == root:
        first = [root / folder if folder else root for folder in ordered if folder not in hiding]
        last = [root / folder if folder else root for folder in ordered if folder in hiding]
        return Roots(first=tuple(first), last=tuple(last), fallback=fallback)
    others = [folder for folder in ordered if folder]
    return Roots(
        first=(outer, *(root / folder for folder in others if folder not in hiding)),
        last=tuple(root / folder for folder in others if folder in hiding),
        fallback=(*fallback, root),
    )


def _own_roots(folder: str, manifest: Manifest | None, tree: _Tree) -> list[str]:
    """Folders of a project, but for its own, that imports start from."""
    declared = [entry for entry in (manifest.import_roots if manifest else ()) if _is_start(entry, tree)]
    source = f"{folder}/src" if folder else "src"
    return list(dict.fromkeys([*declared, *([source] if _is_start(source, tree) else [])]))


def _is_start(folder: str, tree: _Tree) -> bool:
    return folder in tree.folders and folder not in tree.packages


def _names(folder: str, tree: _Tree) -> set[str]:
    return tree.offered.get(folder, set()) - _COMMON


def _tree_of(paths: Iterable[str]) -> _Tree:
    folders: set[str] = set()
    packages: set[str] = set()
    offered: dict[str, set[str]] = {}
    for path in paths:
        if not path.endswith((".py", ".pyi")) or path.startswith("../"):
            continue
        folder, _, name = path.rpartition("/")
        stem = name.rpartition(".")[0]
        if stem == "__init__":
            packages.add(folder)
            above, _, last = folder.rpartition("/")
            if folder:
                offered.setdefault(above, set()).add(last)
        else:
            offered.setdefault(folder, set()).add(stem)
        while folder and folder not in folders:
            folders.add(folder)
            folder = folder.rpartition("/")[0]
    return _Tree(frozenset(folders), frozenset(packages), offered)

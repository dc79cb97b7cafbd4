"""Places outside of a workspace that its own files point to: links, settings of compilers and build tools, an environment that came along.

Nothing is opened because a repository says so (ADR 0038). What the user has allowed is open (`indexer.consent.Reach`), and what was not is
named here, so that whoever wonders why a name is unresolved can read what to type. Only what a server would follow is looked at: keys of
settings that lead to files, not every path in a text.
"""

from __future__ import annotations

import errno
import itertools
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

import msgspec

from indexer import go_modules, tsconfig
from indexer.consent import POINTER, UNSEARCHED, Reach, Refusal
from indexer.encoding import MOST_TOML_BYTES, parse_toml, read_manifest
from indexer.languages import CPP, GO, JAVASCRIPT, PYTHON, RUST, TYPESCRIPT, C
from indexer.plain_files import entries_of
from indexer.servers.environments import linked, of_python
from indexer.servers.system import system_read, system_run

_SCRIPT, _C = (JAVASCRIPT.name, TYPESCRIPT.name), (C.name, CPP.name)
_GO, _PYTHON, _RUST = (GO.name,), (PYTHON.name,), (RUST.name,)
_MOST_FILES = 500
_MOST_LINKS = 20_000
_MOST_POINTERS = 2_000
_MOST_DEPTH = 60

_OF_TSCONFIG = frozenset({"extends", "path", "baseUrl", "rootDir", "rootDirs", "typeRoots", "types", "include", "files", "paths"})
_OF_PYTHON = frozenset(
    {
        "extends", "include", "extraPaths", "extra-paths", "root", "roots", "venvPath", "stubPath", "typeshedPath", "typeshed",
        "search-path", "site-package-path", "mypy_path", "path", "package-dir", "where", "from",
    }
)  # fmt: skip
_OF_CARGO = frozenset({"path", "workspace", "members", "directory"})
_LOCAL = re.compile(r"(?:file|link|portal):(.+)\Z", re.DOTALL)
_FLAG = re.compile(r"""(?:-I|-isystem|-iquote|-idirafter|-include|"directory"[ \t]{0,8}:)[\s",]{0,40}((?:/|\.\.?/)[^"\s,\]]{1,4000})""")


class _Named(msgspec.Struct, frozen=True):
    """A path as a file of the workspace has it, the folder that it starts from, and the file's own name."""

    text: str
    start: str
    source: str
    languages: tuple[str, ...]


class _Unread(msgspec.Struct, frozen=True):
    """A file that may point out of the workspace and was not looked through, and why."""

    path: str
    why: str
    languages: tuple[str, ...]


def refused_pointers(folders: Sequence[Path], paths: Iterable[str], reach: Reach, python_prefix: str = "") -> list[Refusal]:
    """The places outside of the workspace to which its files point, which are there, and which the user has not allowed.

    Args:
        folders: of the workspace, the root first. paths: its files, relative to the root.
        python_prefix: the environment of Python that is used; empty for none.
    """
    root = str(folders[0])
    found: dict[str, Refusal] = {}
    unread: list[_Unread] = []
    for item in itertools.chain(_all_named(folders, paths, unread), _of_environment(folders[0], python_prefix, reach)):
        if len(found) >= _MOST_POINTERS:
            break
        target = _target(item)
        if not target or not os.path.exists(target) or reach.may_read(target):
            continue
        target = _whole(target)
        if _is_open_to_all(os.path.realpath(target)):
            continue
        known = found.get(target)
        languages = tuple(sorted({*known.languages, *item.languages})) if known and known.languages and item.languages else item.languages
        found[target] = Refusal(
            setting=POINTER,
            text=item.text if os.path.isabs(item.text) and target == os.path.normpath(item.text) else os.path.relpath(target, root),
            source=known.source if known else item.source,
            path=target,
            closed=reach.is_closed(target),
            languages=() if known and not known.languages else languages,
        )
    named = [item for path, item in sorted(found.items()) if not any(above in found for above in map(str, Path(path).parents))]
    return [*named, *_of_unread(root, unread)]


def _is_open_to_all(target: str) -> bool:
    """Whether it lies in a folder of the system that every server may read. Few workspaces name a place for which that is to be asked."""
    return any(f"{target}/".startswith(f"{os.path.realpath(top)}/") for top in (*system_read(), *system_run()))


def _of_unread(root: str, unread: Sequence[_Unread]) -> Iterator[Refusal]:
    """What was not looked through: nobody knows where it points to, and so no server is given more to read for it."""
    for why in dict.fromkeys(item.why for item in unread):
        some = [item for item in unread if item.why == why]
        more = f" and {len(some) - 1} more" if len(some) > 1 else ""
        languages = sorted({language for item in some for language in item.languages})
        yield Refusal(setting=UNSEARCHED, text=f"{some[0].path}'{more}", source=why, path=root, languages=tuple(languages))


def _target(item: _Named) -> str:
    """What a text means: absolute, up to a star or a variable; empty where it cannot be a place outside."""
    text = re.split(r"[*?{$\0\n]", item.text.removeprefix("${configDir}/"), maxsplit=1)[0]
    if not text or len(text) > os.pathconf("/", "PC_PATH_MAX"):
        return ""
    return os.path.normpath(os.path.join(item.start, text))


def _whole(target: str) -> str:
    """The outermost `node_modules` in place of a package in it: a store of packages is allowed as one."""
    parts = target.split("/")
    return "/".join(parts[: parts.index("node_modules") + 1]) if "node_modules" in parts else target


def _all_named(folders: Sequence[Path], paths: Iterable[str], unread: list[_Unread]) -> Iterator[_Named]:
    """Also tells `unread` of files that are not looked through."""
    root = folders[0]
    listed = sorted(paths, key=lambda path: (path.count("/"), path))
    yield from _links(folders, listed)
    looked = 0
    for path in [*listed, *(name for name in _UNLISTED if name not in listed)]:
        read = _reader(path)
        if read is None or (path in _UNLISTED and os.path.islink(root / path)):
            continue
        extract, languages = read
        if looked >= _MOST_FILES:
            if os.path.isfile(root / path):
                unread.append(_Unread(path, f"more than {_MOST_FILES} such files", languages))
            continue
        looked += 1
        try:
            content = read_manifest(root / path)
            if path.endswith(".toml") and len(content) > MOST_TOML_BYTES:
                unread.append(_Unread(path, "its size", languages))
                continue
            named = list(dict.fromkeys(extract(content.decode("utf-8", "replace"))))
        except OSError as error:
            if error.errno == errno.EFBIG:
                unread.append(_Unread(path, "its size", languages))
            continue
        except (ValueError, RecursionError):
            continue
        start = os.path.dirname(root / path)
        yield from (_Named(one, start, path, languages) for one in named[:_MOST_POINTERS])
        if len(named) > _MOST_POINTERS:
            unread.append(_Unread(path, f"more than {_MOST_POINTERS} places in it", languages))


_UNLISTED = ("compile_commands.json", "build/compile_commands.json", ".cargo/config.toml")
"""Files that servers go by and that git often ignores."""


def _reader(path: str) -> tuple[Callable[[str], Iterable[str]], tuple[str, ...]] | None:
    """How the paths in a file are found, and the languages whose servers go by it; None for a file that names none."""
    name = path.rpartition("/")[2]
    if path.endswith(".cargo/config.toml"):
        return _of_cargo, _RUST
    if name.startswith(("tsconfig", "jsconfig")) and name.endswith(".json"):
        return _of_tsconfig, _SCRIPT
    return _READERS.get(name)


def _of_tsconfig(text: str) -> Iterator[str]:
    return _outward(tsconfig.parse(text), _OF_TSCONFIG)


def _of_python_json(text: str) -> Iterator[str]:
    return _outward(tsconfig.parse(text), _OF_PYTHON)


def _of_python_toml(text: str) -> Iterator[str]:
    table = parse_toml(text)
    return _outward(table.get("tool", {}) if "tool" in table else table, _OF_PYTHON)


def _of_cargo(text: str) -> Iterator[str]:
    return _outward(parse_toml(text), _OF_CARGO)


def _of_npm(text: str) -> Iterator[str]:
    raw = tsconfig.parse(text)
    yield from _outward(raw, frozenset({"workspaces"}))
    for key in ("dependencies", "devDependencies", "peerDependencies", "optionalDependencies"):
        table = raw.get(key)
        for value in cast("dict[str, Any]", table).values() if isinstance(table, dict) else ():
            if isinstance(value, str) and (match := _LOCAL.match(value)):
                yield match[1]


def _of_go(text: str) -> Iterator[str]:
    manifest = go_modules.parse(text)
    yield from manifest.uses
    yield from (folder for folder, version in manifest.replaced.values() if not version)


def _of_flags(text: str) -> Iterator[str]:
    return (match[1] for match in _FLAG.finditer(text))


_READERS: Mapping[str, tuple[Callable[[str], Iterable[str]], tuple[str, ...]]] = {
    "package.json": (_of_npm, _SCRIPT),
    "go.mod": (_of_go, _GO),
    "go.work": (_of_go, _GO),
    "Cargo.toml": (_of_cargo, _RUST),
    "compile_flags.txt": (_of_flags, _C),
    "compile_commands.json": (_of_flags, _C),
    ".clangd": (_of_flags, _C),
    "pyrightconfig.json": (_of_python_json, _PYTHON),
    "pyproject.toml": (_of_python_toml, _PYTHON),
    "ty.toml": (_of_python_toml, _PYTHON),
    "pyrefly.toml": (_of_python_toml, _PYTHON),
}


def _outward(value: object, keys: frozenset[str], *, taken: bool = False, depth: int = 0) -> Iterator[str]:
    """Strings below these keys that may lead out of the folder of the file."""
    if isinstance(value, str):
        if taken and ("../" in value or value.endswith("..") or value.startswith("/")):
            yield value
    elif depth < _MOST_DEPTH and isinstance(value, list):
        for item in cast("list[object]", value):
            yield from _outward(item, keys, taken=taken, depth=depth + 1)
    elif depth < _MOST_DEPTH and isinstance(value, dict):
        for key, item in cast("dict[str, object]", value).items():
            yield from _outward(item, keys, taken=taken or key in keys, depth=depth + 1)


def _links(folders: Sequence[Path], listed: Sequence[str]) -> Iterator[_Named]:
    """What links lead to: those in a workspace folder itself and in its folders of npm packages."""
    root = str(folders[0])
    tops = [str(folder) for folder in folders]
    packages = [os.path.dirname(os.path.join(root, path)) for path in listed if path.rpartition("/")[2] == "package.json"][:_MOST_FILES]
    modules = [os.path.join(folder, "node_modules") for folder in dict.fromkeys([*tops, *packages])]
    seen = 0
    for folder in [*tops, *modules]:
        if folder in modules and os.path.islink(folder):
            yield _of_link(folder, root, _SCRIPT)
            continue
        for entry in entries_of(folder):
            languages = _SCRIPT if folder in modules or entry.name == "node_modules" else ()
            inner = entries_of(entry.path) if folder in modules and entry.name.startswith("@") and not entry.is_symlink() else [entry]
            for one in inner:
                seen += 1
                if seen > _MOST_LINKS:
                    return
                if one.is_symlink():
                    yield _of_link(one.path, root, languages)


def _of_link(link: str, root: str, languages: tuple[str, ...]) -> _Named:
    return _Named(os.path.relpath(os.path.realpath(link), root), root, f"the link {os.path.relpath(link, root)}", languages)


def _of_environment(root: Path, prefix: str, reach: Reach) -> Iterator[_Named]:
    """What the `.pth` files of an environment lead to that lies in the workspace: whoever wrote the one may have brought the other."""
    if not prefix or not reach.is_of_workspace(prefix):
        return
    for site in of_python(prefix):
        for file, line in linked(site):
            yield _Named(line, site, os.path.relpath(file, root), _PYTHON)

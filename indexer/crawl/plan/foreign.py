"""Which files of a repository are not its own source: copies of other projects, and what tools have written.

The facts are the rows of `foreign.toml`. What is judged is a function of the tree: of its paths, and of what the files hold. A wrong
"not yours" costs a user his own code, so a name that has two meanings needs evidence beside it, and a generated source that the
project's own code may use is read (ADR 0020).
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatch, translate
from functools import cache
from itertools import accumulate
from pathlib import Path
from typing import Literal

import msgspec

from indexer.languages import TYPESCRIPT, C, record_of
from indexer.model import SkipReason
from indexer.servers.registry import families

_HEAD_BYTES = 2_048
"""A generator signs before the first line of code; licences of forty lines may stand before it."""

_BEGIN_BYTES = 8_192
"""A bundler's loader stands at the beginning, behind a banner."""

_SHORT_BYTES = 2_000
"""A shorter script on one line is written so by hand often enough."""

_LONG_LINE = 500
_LONG_SHARE = 0.6
"""Minified: so much of a file is in lines of that length …"""

_SIGNS_SHARE = 0.05
"""… and so much of those is `(`, `)`, `;` or `=`: in data, base64 or JSON, it is next to nothing."""

_LARGE_BYTES = 256_000
_TIMES_LARGER = 10
"""A script that is so many times larger than all others, and names a bundler's helpers, is a bundle though it begins as none."""

_MOST_GENERATED = 50
"""With more generated sources that nothing shows to be used, generated sources are what the repository is about: a client library."""

_DEPTH_OF_LICENCES = 3


class FolderRow(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """See `foreign.toml`."""

    names: list[str]
    reason: SkipReason
    why: str
    evidence: Literal["name", "marker", "licence"] = "name"
    markers: list[str] = []
    languages: list[str] = []
    refers: bool = True


class FileRow(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    patterns: list[str]
    languages: list[str]
    reason: SkipReason
    why: str
    refers: bool = True


class OutputRow(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    names: list[str]
    why: str
    beside: str = ""


class BundleRow(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    has: list[str]
    begins: str
    why: str
    reason: SkipReason = SkipReason.BUNDLED


class HeaderRow(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    regex: str
    why: str
    languages: list[str] = []


class Table(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    folder: list[FolderRow]
    file: list[FileRow]
    output: list[OutputRow]
    bundle: list[BundleRow]
    header: list[HeaderRow]


@cache
def table() -> Table:
    return msgspec.toml.decode(Path(__file__).with_name("foreign.toml").read_bytes(), type=Table)


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """Not the project's. `refers`: it may refer to the project's symbols, so it is searched for words."""

    reason: SkipReason
    refers: bool


_BUILT = Verdict(reason=SkipReason.BUILT, refers=False)
_MINIFIED = Verdict(reason=SkipReason.MINIFIED, refers=False)
_BUNDLED = Verdict(reason=SkipReason.BUNDLED, refers=False)
_GENERATED = Verdict(reason=SkipReason.GENERATED, refers=True)


class Judge:
    """Judges the files of one listing: each by its path, then by its content, then, once all were read, by all of them."""

    def __init__(self, paths: Sequence[str], read: Callable[[str], bytes]) -> None:
        """Args:
        paths: sorted, relative to the root: all files of the repository.
        read: a file's content, empty where it cannot be read. Called for licences below suspicious folders, and by `of_tree`.
        """
        self._paths, self._read = paths, read
        self._listed = frozenset(paths)
        self._marked = _folders_with({marker for row in _any_folder() for marker in row.markers}, paths)
        self._folders: dict[str, tuple[FolderRow, ...]] = {"": ()}
        self._outputs: dict[str, str] = {"": ""}
        self._scripts: dict[str, list[str]] = {}
        self._looks_built: set[str] = set()
        self._generated: dict[str, str] = {}
        self._sizes: dict[str, int] = {}
        self._bundle_like: set[str] = set()

    # ---- by path

    def of_path(self, path: str, language: str) -> Verdict | None:
        """What the names of the file and its folders say."""
        folder, _, name = path.rpartition("/")
        for row in self._folder_rows(folder):
            if not row.languages or language in row.languages:
                return Verdict(reason=row.reason, refers=row.refers)
        compiled = _file_rows().get(language)
        if compiled is not None and (compiled[0].match(name) or compiled[1].match(path)):
            for row in table().file:
                if language in row.languages and any(fnmatch(path if "/" in pattern else name, pattern) for pattern in row.patterns):
                    return Verdict(reason=row.reason, refers=row.refers)
        return None

    def _folder_rows(self, folder: str) -> tuple[FolderRow, ...]:
        """Rows that hold for a folder, those of the folders above it first."""
        waiting = [folder]
        while waiting[-1] and waiting[-1] not in self._folders:
            waiting.append(waiting[-1].rpartition("/")[0])
        known = self._folders.setdefault(waiting.pop(), ())
        for place in reversed(waiting):
            own = [row for row in _folder_rows_by_name().get(place.rpartition("/")[2], ()) if self._fits(row, place)]
            if place in self._marked:
                own += [row for row in _any_folder() if any(f"{place}/{marker}" in self._listed for marker in row.markers)]
            known = self._folders[place] = (*known, *own)
        return known

    def _fits(self, row: FolderRow, folder: str) -> bool:
        if not any(f"/{folder}".endswith(f"/{name}") for name in row.names):
            return False
        if row.evidence == "marker":
            return any(_joined(folder, marker) in self._listed for marker in row.markers)
        return row.evidence == "name" or self._has_foreign_licence(folder)

    def _has_foreign_licence(self, folder: str) -> bool:
        """Whether a licence lies below the folder that is not the repository's own: that of a copied project.

        One in the folder itself is none where a manifest lies beside it: then the folder is a package of this repository.
        """
        own: set[bytes] | None = None
        start = bisect_left(self._paths, f"{folder}/")
        for path in self._paths[start : bisect_left(self._paths, f"{folder}0", start)]:  # `0` follows `/`
            inner, _, name = path[len(folder) + 1 :].rpartition("/")
            if not _LICENCE.match(name) or inner.count("/") >= _DEPTH_OF_LICENCES:
                continue
            if not inner and any(f"{folder}/{manifest}" in self._listed for manifest in _MANIFESTS):
                continue
            if own is None:
                own = {_squeezed(self._read(other)) for other in self._paths if "/" not in other and _LICENCE.match(other)}
            content = _squeezed(self._read(path))
            if content and content not in own:
                return True
        return False

    # ---- by content

    def of_content(self, path: str, language: str, content: bytes) -> Verdict | None:
        """What the file itself shows; remembers what only all files together show (`of_tree`)."""
        if content[:1] in _BEGINS_COMMENT:
            head = content[:_HEAD_BYTES]
            may_sign = b"enerated" in head or b"ENERATED" in head or (record_of(language).family == C.family and b"Bison" in head)
            if may_sign and is_signed(head, language):
                self._generated[path] = language
        if record_of(language).family != TYPESCRIPT.family:
            return None
        is_declaration = path.endswith((".d.ts", ".d.mts", ".d.cts"))
        if language == TYPESCRIPT.name and not is_declaration:
            self._note_size(path, len(content))
            return None
        if _ends_with_map(content):
            self._note_script(path, looks_built=True)
            return _BUILT
        if is_declaration:
            self._note_script(path, looks_built=bool(self._listed & set(_twins(path))))
            return None
        begin = content[:_BEGIN_BYTES]
        for reason, words, regex in _bundle_rows():
            if any(word in begin for word in words) and regex.search(begin):
                self._note_script(path, looks_built=True)
                return Verdict(reason=reason, refers=False)
        if is_minified(content):
            self._note_script(path, looks_built=True)
            return _MINIFIED
        self._note_script(path, looks_built=b"__esModule" in begin[:600])
        self._note_size(path, len(content))
        if len(content) >= _LARGE_BYTES and len(_HELPERS.findall(content)) >= 3:
            self._bundle_like.add(path)
        return None

    def _note_size(self, path: str, size_bytes: int) -> None:
        """What is smaller can keep nothing from being many times larger."""
        if size_bytes * _TIMES_LARGER >= _LARGE_BYTES:
            self._sizes[path] = size_bytes

    def _note_script(self, path: str, *, looks_built: bool) -> None:
        output = self._output_of(path.rpartition("/")[0])
        if output:
            self._scripts.setdefault(output, []).append(path)
            if looks_built:
                self._looks_built.add(path)

    def _output_of(self, folder: str) -> str:
        """The outermost folder around that may be one of build output, or an empty string."""
        known = self._outputs.get(folder)
        if known is None:
            above, _, name = folder.rpartition("/")
            known = self._output_of(above)
            if not known:
                for row in table().output:
                    beside = _joined(folder, f"../{row.beside}/") if row.beside else ""
                    if name in row.names and (not beside or _has_prefix(self._paths, beside)):
                        known = folder
            self._outputs[folder] = known
        return known

    # ---- by all of them

    def of_tree(self, documents: Mapping[str, str]) -> dict[str, Verdict]:
        """Verdicts on those of `documents` (path to language: what neither path nor content has shown to be foreign) that all files
        together show: build output, a bundle much larger than all else, generated sources that nothing uses.
        """
        found: dict[str, Verdict] = {}
        for scripts in self._scripts.values():
            built = sum(path in self._looks_built for path in scripts)
            if built and built * 2 >= len(scripts):
                found |= {path: _BUILT for path in scripts if path in documents}
        others = max((size for path, size in self._sizes.items() if path not in self._bundle_like and path not in found), default=0)
        found |= {
            path: _BUNDLED
            for path in sorted(self._bundle_like)
            if path in documents and path not in found and self._sizes[path] >= _TIMES_LARGER * others
        }
        left = {path: language for path, language in documents.items() if path not in found}
        generated = {path: language for path, language in self._generated.items() if path in left}
        if generated:
            found |= dict.fromkeys(_unused(generated, left, self._read), _GENERATED)
        return found


# ---- generated sources


def is_signed(head: bytes, language: str) -> bool:
    """Whether the comments before the first line of code say that a generator wrote the file."""
    comments = "\n".join(_leading_comments(head.decode("utf-8", "replace")))
    return any(regex.search(comments) for languages, regex in _header_rows() if not languages or language in languages)


def _leading_comments(text: str) -> Iterator[str]:
    """Lines of the comments that a text begins with. Python's docstrings are none: scripts that generate describe there what they do."""
    inside = False
    for line in text.split("\n"):
        bare = line.strip()
        if inside or bare.startswith("/*"):
            yield line
            inside = "*/" not in bare
        elif bare.startswith(("//", "--", ";", "<!--")) or (bare.startswith("#") and not _DIRECTIVE.match(bare)):
            yield line
        elif bare and not _DIRECTIVE.match(bare) and not _USE_STRICT.match(bare):
            return


def _unused(generated: Mapping[str, str], documents: Mapping[str, str], read: Callable[[str], bytes]) -> set[str]:
    """Those generated sources that no other source of the project may use.

    May use: a source in the same folder of a language of the same family, which is not generated (they are one package); or one
    anywhere that has the name by which such a file is imported. A generated source that is used uses others.
    """
    family_of = {language: frozenset(family) for family in families() for language in family}
    own_folders = {(path.rpartition("/")[0], language) for path, language in documents.items() if path not in generated}
    unused: dict[str, str] = {}
    users: list[str] = []
    for path, language in sorted(generated.items()):
        family = family_of.get(language, frozenset({language}))
        if any((path.rpartition("/")[0], other) in own_folders for other in family):
            users.append(path)
        else:
            unused[path] = language
    if not unused or len(unused) > _MOST_GENERATED:
        return set()
    languages = {other for language in unused.values() for other in family_of.get(language, frozenset({language}))}
    waiting = [path for path, language in documents.items() if path not in generated and language in languages] + users
    around = {f"{folder}/" for path in unused for folder in accumulate(path.split("/")[:-1], "{}/{}".format)}
    waiting.sort(key=lambda path: sum(map(path.startswith, around)))  # users are near, so that little is read until they are found
    names = {path: _import_names(path, language) for path, language in unused.items()}
    while waiting and unused:
        content = read(waiting.pop())
        for path in [path for path in unused if any(name in content for name in names[path])]:
            del unused[path]
            waiting.append(path)
    return set(unused)


def _import_names(path: str, language: str) -> Collection[bytes]:
    """What an import of a file may call it: its name, or, where a language imports folders, that of its folder."""
    folder, _, name = path.rpartition("/")
    stem = name.split(".", 1)[0]
    of_folder = folder.rpartition("/")[2]
    rules = record_of(language)
    if rules.imports_folders or stem in ("index", "__init__", "mod", "lib", "main"):
        return {part.encode() for part in (of_folder, *([stem] if rules.imports_files else [])) if part}
    return {stem.encode()}


# ---- scripts


def is_minified(content: bytes) -> bool:
    """Whether most of a script is in very long lines of code: a long line of data, such as base64 or JSON, is none."""
    if len(content) < _SHORT_BYTES or len(content) // (content.count(b"\n") + 1) < 100:
        return False
    long = [line for line in content.split(b"\n") if len(line) >= _LONG_LINE]
    size = sum(map(len, long))
    if size < _LONG_SHARE * len(content):
        return False
    signs = sum(line.count(sign) for line in long for sign in (b"(", b")", b";", b"="))
    return signs >= _SIGNS_SHARE * size


def _ends_with_map(content: bytes) -> bool:
    """Whether the last line names a source map: then the file was made from other sources."""
    place = max(content.rfind(b"\n//# sourceMappingURL="), content.rfind(b"\n//@ sourceMappingURL="))
    return place >= 0 and b"\n" not in content[place + 1 :].rstrip()


def _twins(path: str) -> list[str]:
    """Scripts that a declaration file beside them describes."""
    stem = path.rsplit(".d.", 1)[0]
    return [f"{stem}.{end}" for end in ("js", "cjs", "mjs")]


_BEGINS_COMMENT = frozenset(bytes([byte]) for byte in b"/#-;<\n\r\t \xef\"'")
"""A file that begins otherwise begins with code, and nobody signs there. White space, a byte order mark or "use strict" may come first."""


_HELPERS = re.compile(rb"\b(?:__commonJS|__commonJSMin|__toESM|__webpack_require__|__rollup|__exportStar|__importDefault|parcelRequire)\b")
_CODE = r"(?:py|[jt]s|go|rs|c|h|rb|java)\Z"
_LICENCE = re.compile(rf"(?i)(?:.*[-_.])?(?:licen[cs]es?|copying|copyright|unlicense)(?:[-_](?!{_CODE})[\w-]+)?(?:\.(?!{_CODE})[\w-]+)*\Z")
_MANIFESTS = ("package.json", "pyproject.toml", "setup.py", "Cargo.toml", "go.mod", "pom.xml", "build.gradle", "mix.exs", "composer.json")
_DIRECTIVE = re.compile(r"#\s*(?:include|define|ifndef|ifdef|if|endif|pragma|undef|import)\b")
_USE_STRICT = re.compile(r"""(?:"use [a-z]+"|'use [a-z]+');?\Z""")


def _squeezed(content: bytes) -> bytes:
    return b" ".join(content.split())


def _joined(folder: str, relative: str) -> str:
    """`relative` below a folder; it may begin with one `../`."""
    if relative.startswith("../"):
        above = folder.rpartition("/")[0]
        return f"{above}/{relative[3:]}" if above else relative[3:]
    return f"{folder}/{relative}"


def _has_prefix(paths: Sequence[str], prefix: str) -> bool:
    place = bisect_left(paths, prefix)
    return place < len(paths) and paths[place].startswith(prefix)


def _folders_with(names: Collection[str], paths: Sequence[str]) -> set[str]:
    """Folders that have a file of one of these names."""
    ends = tuple(f"/{name}" for name in names)
    return {path.rpartition("/")[0] for path in paths if path.endswith(ends)}


# ---- the table, prepared


@cache
def _folder_rows_by_name() -> dict[str, list[FolderRow]]:
    """Rows by the last part of their names."""
    found: dict[str, list[FolderRow]] = {}
    for row in table().folder:
        for last in dict.fromkeys(name.rpartition("/")[2] for name in row.names if name != "*"):
            found.setdefault(last, []).append(row)
    return found


@cache
def _any_folder() -> tuple[FolderRow, ...]:
    return tuple(row for row in table().folder if row.names == ["*"])


@cache
def _file_rows() -> dict[str, tuple[re.Pattern[str], re.Pattern[str]]]:
    """By language: what fits a name, and what fits a whole path."""
    found: dict[str, tuple[re.Pattern[str], re.Pattern[str]]] = {}
    for language in sorted({language for row in table().file for language in row.languages}):
        patterns = [pattern for row in table().file if language in row.languages for pattern in row.patterns]
        names = [translate(pattern) for pattern in patterns if "/" not in pattern]
        whole = [translate(pattern) for pattern in patterns if "/" in pattern]
        found[language] = (re.compile("|".join(names) or r"(?!)"), re.compile("|".join(whole) or r"(?!)"))
    return found


@cache
def _bundle_rows() -> tuple[tuple[SkipReason, list[bytes], re.Pattern[bytes]], ...]:
    return tuple((row.reason, [word.encode() for word in row.has], re.compile(row.begins.encode(), re.MULTILINE)) for row in table().bundle)


@cache
def _header_rows() -> tuple[tuple[frozenset[str], re.Pattern[str]], ...]:
    return tuple((frozenset(row.languages), re.compile(row.regex, re.MULTILINE)) for row in table().header)

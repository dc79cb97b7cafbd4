"""Words by which files of one language name what another language defines, where an interface between the two is in evidence (ADR 0086).

Which those are, the language records say (`indexer.languages.bridges`). Digests are kept beside those of `indexer.unread`, so that no word
of the one is one of the other: `@mark name`, `@mark .name` for a member, `@mark =name` for what the file defines for the other language;
`@mark *` where what the file opens may be handed on.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Collection, Iterable, Iterator

from indexer.languages import Bridge, record_of
from indexer.text import word_digest

MOST_BYTES = 4_000_000

_WORD = re.compile(rb"[A-Za-z_\x80-\xff][\w\x80-\xff]*")
_STRINGS = tuple(re.compile(pattern) for pattern in (rb"\"((?:[^\"\\\n]|\\.)*+)\"", rb"'((?:[^'\\\n]|\\.)*+)'", rb"`([^`]{0,10000})`"))
"""Each kind by itself, for a quote of one kind may stand alone in one of another."""
_NAMELIKE = re.compile(rb"[^\s]{1,200}")
_LONG_STRING = re.compile(rb'"""(.*?)"""|\'\'\'(.*?)\'\'\'', re.DOTALL)
_TAKEN = re.compile(rb"(?:\.|->|::)[ \t]*([A-Za-z_\x80-\xff][\w\x80-\xff]*)")
_CALLED = re.compile(rb"([A-Za-z_\x80-\xff][\w\x80-\xff]*)(?=[ \t]*\()")
_PACKAGE = re.compile(rb"^[ \t]*package[ \t]+([\w.]+)", re.MULTILINE)
_TYPE = re.compile(rb"\b(?:class|interface|enum|record|object)[ \t]+(\w+)")
_MOST_TYPES = 30
_NATIVE_METHOD = re.compile(rb"\bnative\b[^;(){}=]*?(\w+)\s*\(|\bexternal\s+fun\s+(?:<[^>]*>\s*)?(\w+)\s*\(")


def words_of(language: str, content: bytes) -> tuple[int, ...]:
    """Digests of what a file names of other languages, sorted; none where it has no interface to any."""
    bridges = record_of(language).bridges
    if not bridges or len(content) > MOST_BYTES:
        return ()
    found: set[str] = set()
    for bridge in bridges:
        if bridge.evidence and not _is_found(bridge.evidence, content):
            continue
        sign = "." if bridge.is_member else "=" if bridge.defines else ""
        names = {name.decode("utf-8", "replace") for part in _parts(bridge, content) for name in _names(bridge, part, content)}
        for mark in bridge.to:
            found |= {f"@{mark} {sign}{name}" for name in names}
            if bridge.hands_on:
                found.add(handed_on(mark))
    return tuple(sorted({word_digest(word) for word in found}))


def handed_on(mark: str) -> str:
    """What stands in place of a name where what a file opens may be given to other files."""
    return f"@{mark} *"


def wanted(mark: str, names: Iterable[str], *, is_member: bool, with_definitions: bool) -> frozenset[int]:
    """Digests one of which a file has that names a symbol.

    Args:
        mark: how the symbol is reached. names: that it has there.
        with_definitions: files count that define it for the language which is asked about.
    """
    signs = [".", ""] if is_member else [""]
    signs += ["="] if with_definitions else []
    return frozenset(word_digest(f"@{mark} {sign}{name}") for sign in signs for name in names)


def names_of(name: str) -> tuple[str, ...]:
    """What a symbol of a library may be called elsewhere: overloads of native methods have an ending, Emscripten's names a beginning."""
    start = name.find("__", len("Java_")) if name.startswith("Java_") else -1
    return tuple(dict.fromkeys((name, f"_{name}", *([name[:start]] if start > 0 else []))))


def _is_found(pattern: str, content: bytes) -> bool:
    """Whether a regex finds something. Most files have none of the texts that it cannot do without, which is seen much faster."""
    needed = needed_texts(pattern)
    return (not needed or any(text in content for text in needed)) and _compiled(pattern).search(content) is not None


_ATOM = re.compile(r"\\(?:x..|u....|U.{8}|[0-7]{1,3}|.)|\[\^?\]?(?:\\.|[^\]\\])*\]|[*+?]|\{\d*,?\d*\}|.", re.DOTALL)
_MAY_BE_NONE = re.compile(r"[*?]|\{\d*,?\d*\}")
_FLAGS = re.compile(r"\(\?[a-zA-Z]")
_LEAST_TEXT = 2


@functools.cache
def needed_texts(pattern: str) -> tuple[bytes, ...]:
    """Texts of which whatever the regex finds holds one; none where that is not seen.

    Of each alternative the longest run of letters that stand in no group and may not be left out.
    """
    if _FLAGS.match(pattern):  # the case of letters may not matter
        return ()
    found = [max(runs, key=len) for runs in _runs_of(pattern)]
    return tuple(text.encode() for text in found) if min(map(len, found)) >= _LEAST_TEXT else ()


def _runs_of(pattern: str) -> Iterator[list[str]]:
    """Of each alternative the runs of letters that each of its matches has."""
    runs, depth = [""], 0
    for atom in _ATOM.finditer(pattern):
        sign = atom[0]
        if sign == "|" and not depth:
            yield runs
            runs = [""]
        depth += (sign == "(") - (sign == ")")
        is_letter = not depth and len(sign) == 1 and (sign.isalnum() or sign == "_")
        if not is_letter or _MAY_BE_NONE.match(pattern, atom.end()):
            runs.append("")
        else:
            runs[-1] += sign
    yield runs


@functools.cache
def _compiled(pattern: str) -> re.Pattern[bytes]:
    return re.compile(pattern.encode(), re.MULTILINE)


def _parts(bridge: Bridge, content: bytes) -> Iterator[bytes]:
    if not bridge.within:
        yield content
        return
    for match in _compiled(bridge.within).finditer(content):
        yield match[1] if match.re.groups else match[0]


def _names(bridge: Bridge, part: bytes, content: bytes) -> Collection[bytes]:
    match bridge.read:
        case "words":
            return _WORD.findall(part)
        case "calls":
            return _CALLED.findall(part)
        case "strings":
            return [word for text in _strings(part) if _NAMELIKE.fullmatch(text) for word in _WORD.findall(text)]
        case "taken":
            return [*_TAKEN.findall(part), *(word for text in _strings(part) for word in _WORD.findall(text))]
        case "jni":
            return part.split(b"_") if bridge.defines else list(_jni_names(content))


def _strings(part: bytes) -> Iterator[bytes]:
    for groups in _LONG_STRING.findall(part):
        yield from filter(None, groups)
    for pattern in _STRINGS:
        yield from pattern.findall(part)


def _jni_names(content: bytes) -> Iterator[bytes]:
    """What C calls the native methods of a file, whichever of its types has them."""
    methods = {one or other for one, other in _NATIVE_METHOD.findall(content)}
    if not methods:
        return
    package = _PACKAGE.search(content)
    before = b"" if package is None else b"_".join(map(_mangled, package[1].split(b"."))) + b"_"
    types = list(dict.fromkeys(_TYPE.findall(content)))[:_MOST_TYPES]
    for name in (*types, *(b"%b$%b" % (one, other) for one in types for other in types if one != other)):
        for method in methods:
            yield b"Java_%b%b_%b" % (before, _mangled(name), _mangled(method))


def _mangled(name: bytes) -> bytes:
    return name.replace(b"_", b"_1").replace(b"$", b"_00024")

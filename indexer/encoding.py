"""A source file's bytes as the text that they mean: the one place that says how a file is read.

UTF-8, unless the file begins with the mark of UTF-16, as compilers of TypeScript and C# and editors on Windows read it, or one of its
first two lines names another encoding, as PEP 263 has it for Python, and Emacs and Ruby for others.
A byte that is no text in that encoding is U+FFFD, one UTF-16 unit for one byte, so that nothing else of the file is lost and no column
moves. Digests are of the bytes; lines, columns and what servers are told are of the text.
"""

from __future__ import annotations

import codecs
import errno
import os
import re
import stat
from collections.abc import Iterable
from pathlib import Path
from typing import Any, BinaryIO, cast

_CODING = re.compile(rb"^[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)")
_BLANK = re.compile(rb"^[ \t\f]*(?:#.*)?\r?\Z", re.DOTALL)
MOST_MANIFEST_BYTES = 20_000_000
"""The largest lock files known have 5 MB."""

MOST_TOML_BYTES = 1_000_000
"""Of settings and manifests, which people write."""

_LONG_KEY = re.compile(r"""(?<![\w.-])(?:(?:[\w-]++|"[^"\n]*+"|'[^'\n]*+')[ \t]*+\.[ \t]*+){50}""")
"""More parts than a key of anybody's has."""

_NOT_TEXT = frozenset({"unicode-escape", "raw-unicode-escape", "idna", "punycode", "undefined", "mbcs", "oem", "utf-7"})
"""Codecs that make text of something else, or another text on each machine."""

_ODD = bytes([*range(7), *range(14, 27), *range(28, 32), 127])
_BINARY_PROBE_BYTES = 8_000  # as git does
_MOST_ODD = 0.3
"""Share of bytes that are no text, beyond which a file without a NUL is no text either."""

_SURROGATES = re.compile("[\ud800-\udfff]")

REPLACED = "utf-8 with other bytes"
"""What `encoding_of` calls a file that is not all UTF-8 and names no other encoding."""


_MOST_YAML_NODES = 2_000_000
_MOST_YAML_DEPTH = 100


def encoding_of(content: bytes) -> str | None:
    """How a file is read: empty for plain UTF-8, the name of a codec, or REPLACED; None where it is no text."""
    named = _wide(content) or _declared(content)
    if named:
        return named
    if content.isascii():
        return ""
    try:
        content.decode("utf-8")
    except UnicodeDecodeError:
        text = content.decode("utf-8", "surrogateescape")
        odd = len(_SURROGATES.findall(text)) + len(content) - len(content.translate(None, _ODD))
        return REPLACED if odd <= _MOST_ODD * len(text) else None
    return ""


def as_utf8(content: bytes) -> bytes:
    """The file's text as UTF-8; the very same bytes where they are that already."""
    encoding = encoding_of(content)
    if not encoding:
        return content if encoding is not None else as_text(content).encode()
    return as_text(content, encoding).encode()


def as_text(content: bytes, encoding: str | None = None) -> str:
    """The file's text."""
    encoding = encoding_of(content) if encoding is None else encoding
    if encoding and encoding != REPLACED:
        return content.decode(encoding)
    text = content.decode("utf-8", "surrogateescape")
    return text if text.isascii() else _SURROGATES.sub("\ufffd", text)


def is_binary(content: bytes) -> bool:
    """Whether there is a NUL where git looks for one, and the file is no text in UTF-16."""
    return b"\0" in content[:_BINARY_PROBE_BYTES] and not _wide(content)


def searchable(content: bytes) -> bytes:
    """Bytes in which a word stands as UTF-8 has it; the very same ones unless the file is in UTF-16."""
    return as_text(content, named).encode() if (named := _wide(content)) else content


def _wide(content: bytes) -> str:
    """Which UTF-16 the file is in, by the mark that it begins with; empty where it is none. The mark stays the text's first character."""
    if not content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)) or content.startswith(codecs.BOM_UTF32_LE):
        return ""
    name = "utf-16-le" if content.startswith(codecs.BOM_UTF16_LE) else "utf-16-be"
    try:
        return "" if "\0" in content.decode(name) else name
    except UnicodeDecodeError:
        return ""


def _declared(content: bytes) -> str:
    """The codec that a file names and is written in; empty where it names none, UTF-8, or one that is not true."""
    if content.startswith((codecs.BOM_UTF8, codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return ""
    head = content[:1_000].split(b"\n", 2)
    match = _CODING.match(head[0])
    if match is None and len(head) > 1 and _BLANK.match(head[0]):
        match = _CODING.match(head[1])
    if match is None:
        return ""
    try:
        found = codecs.lookup(match.group(1).decode("ascii", "replace"))
        name = found.name.replace("_", "-")
        if name in ("utf-8", "utf-8-sig", "ascii") or name in _NOT_TEXT or name.startswith(("utf-16", "utf-32")):
            return ""
        text = content.decode(name)
        if "\ud800" <= max(text, default="") <= "\udfff" or text.encode("utf-8", "replace") == content:
            return ""
    except (LookupError, ValueError):
        return ""
    return found.name


def open_plain(file: str | Path) -> BinaryIO:
    """A file of a repository to read from: a pipe would be waited for, and a device never ends.

    Raises:
        OSError: it cannot be read, or is no regular file.
    """
    descriptor = os.open(file, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(errno.EINVAL, "is no regular file", str(file))
    return os.fdopen(descriptor, "rb")


def read_manifest(file: str | Path) -> bytes:
    """All of a manifest, a lock or settings of a repository, which may be whatever its author likes.

    Raises:
        OSError: it cannot be read, is no regular file, or is larger than any manifest.
    """
    with open_plain(file) as opened:
        content = opened.read(MOST_MANIFEST_BYTES + 1)
    if len(content) > MOST_MANIFEST_BYTES:
        raise OSError(errno.EFBIG, "is larger than a manifest may be", str(file))
    return content


def read_toml(file: str | Path) -> dict[str, Any]:
    """The content of settings or a manifest in TOML.

    Raises:
        OSError: it cannot be read, is no regular file, or is larger than any: a megabyte takes two seconds.
        ValueError: it is no TOML, or nested too deeply.
    """
    content = read_manifest(file)
    if len(content) > MOST_TOML_BYTES:
        raise OSError(errno.EFBIG, "is larger than settings may be", str(file))
    return parse_toml(content.decode("utf-8-sig").replace("\r\n", "\n"))


def parse_toml(text: str) -> dict[str, Any]:
    """What TOML says that a stranger has written. Python's reader takes time in squares of the parts of a key: minutes for `a.a.a…`.

    Raises:
        ValueError: it is no TOML, or nested too deeply.
    """
    import tomllib

    if _LONG_KEY.search(text):
        raise ValueError("nested too deeply: a key has too many parts")
    try:
        return tomllib.loads(_as_named(text))
    except RecursionError as error:
        raise ValueError("nested too deeply") from error


def parse_yaml(text: str) -> object:
    """What a YAML file of one document says.

    Raises:
        ValueError: it is none, is nested deeper than anybody writes, or its aliases and merges stand for more than a file says.
    """
    import yaml  # few read any

    loader = cast("type[yaml.SafeLoader]", getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    try:
        _refuse_bombs(yaml.parse(text, loader))
        return cast("object", yaml.load(text, loader))  # noqa: S506 - a safe one
    except (yaml.YAMLError, OverflowError) as error:
        raise ValueError(str(error)) from error


def _refuse_bombs(events: Iterable[Any]) -> None:
    """Looks at a YAML file before it is built: the builder of libyaml runs through its stack, and aliases of aliases grow without end."""
    import yaml

    sizes: dict[str, int] = {}
    opened: list[tuple[str | None, int]] = []
    total = 0
    for event in events:
        if isinstance(event, yaml.AliasEvent):
            if event.anchor not in sizes:
                raise ValueError("it holds itself")
            total += sizes[event.anchor]
        elif isinstance(event, yaml.CollectionStartEvent):
            opened.append((event.anchor, total))
            total += 1
        elif isinstance(event, yaml.CollectionEndEvent):
            anchor, before = opened.pop()
            if anchor:
                sizes[anchor] = total - before
        elif isinstance(event, yaml.ScalarEvent):
            total += 1
            if event.anchor:
                sizes[event.anchor] = 1
        if total > _MOST_YAML_NODES or len(opened) > _MOST_YAML_DEPTH:
            raise ValueError("it is larger or deeper than a manifest may be")


def parse_json(content: bytes | str) -> Any:
    """What JSON says that a stranger has written. Each of its texts can be (part of) a path: none has a NUL or half a character.

    Raises:
        ValueError: it is no JSON. RecursionError: it is nested too deeply.
    """
    import json

    text = content if isinstance(content, str) else content.decode(json.detect_encoding(content), "surrogatepass")
    return json.loads(_as_named(text))


_NO_NAME = re.compile(
    r"\\u0000|\\U0{8}|\\u[dD][89abAB][0-9a-fA-F]{2}(?!\\u[dD][c-fC-F])|(?<!\\u[dD][89abAB][0-9a-fA-F]{2})\\u[dD][c-fC-F][0-9a-fA-F]{2}"
)


def _as_named(text: str) -> str:
    """A text of JSON or TOML without what no file can be called: at a NUL, or half of a character, the system's calls end with an error of
    Python's that nobody expects of a file. What stands there names nothing then, as a name that does not exist.
    """
    return _NO_NAME.sub(r"\\ufffd", text) if "\\" in text else text


def read_beginning(file: Path, most_bytes: int) -> str:
    """The beginning of a manifest or of settings, which are in UTF-8 whatever stands in them, without NULs, which no path has; nothing
    where it cannot be read.
    """
    try:
        with open_plain(file) as opened:
            return opened.read(most_bytes).decode("utf-8", "replace").replace("\0", "\ufffd")
    except OSError:
        return ""

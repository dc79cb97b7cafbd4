"""Positions against Python's own encodings, digests against git's, monikers against their grammar."""

from __future__ import annotations

import re
import subprocess

from hypothesis import example, given
from hypothesis import strategies as st

from indexer import monikers
from indexer.model import SymbolFlag, SymbolKind
from indexer.text import ColumnMap, OffsetMap, blob_digest, index_to_utf16, utf16_to_index

_LINES = st.lists(st.text(alphabet=st.sampled_from("aé😀ｗ\t\r 中\u0301𝔘"), max_size=12), max_size=5)


@given(_LINES)
def test_utf16_columns_are_those_of_pythons_encoder(lines: list[str]) -> None:
    """Every character boundary of every line has the column that encoding the prefix gives."""
    source = "\n".join(lines).encode()
    columns = ColumnMap(source)
    assert columns.is_identity == source.isascii()
    for number, line in enumerate(lines):
        for index in range(len(line) + 1):
            prefix = line[:index]
            expected = len(prefix.encode("utf-16-le")) // 2
            assert columns.utf16(number, len(prefix.encode())) == expected
            assert index_to_utf16(line, index) == expected
            assert utf16_to_index(line, expected) == index


@given(_LINES, st.integers(1, 40))
def test_offsets_have_the_positions_that_lines_and_columns_have(lines: list[str], times: int) -> None:
    """At every byte, in short texts and long: the same line and column as `ColumnMap` gives, which counts from the line's start."""
    source = "\n".join(lines * times).encode()
    offsets, columns = OffsetMap(source), ColumnMap(source)
    assert offsets.is_identity == columns.is_identity
    for offset in range(0, len(source) + 1, times):
        if offset < len(source) and 0x80 <= source[offset] < 0xC0:
            continue  # inside a character
        line = source.count(b"\n", 0, offset)
        col_utf8 = offset - (source.rfind(b"\n", 0, offset) + 1)
        assert offsets.position(offset) == (line, columns.utf16(line, col_utf8))
        assert offsets.line(offset) == line


def test_columns_after_an_emoji_are_utf16() -> None:
    """An astral character is two units, four bytes, one Python character."""
    columns = ColumnMap("x = '😀'; y".encode())
    assert columns.utf16(0, len("x = '😀'; ".encode())) == 10
    assert utf16_to_index("😀y", 2) == 1
    assert index_to_utf16("😀y", 1) == 2


def test_columns_beyond_the_end_are_the_end() -> None:
    """A server may point past a line; that is no error."""
    assert utf16_to_index("ab", 9) == 2
    assert utf16_to_index("ä", 9) == 1
    assert ColumnMap("ä".encode()).utf16(7, 3) in (0, 3)


def test_bytes_that_are_no_utf8_count_as_one_unit() -> None:
    """Broken text still has columns."""
    assert ColumnMap(b"\xff\xfe x").utf16(0, 3) == 3


@given(st.binary(max_size=100))
def test_digests_need_no_repository(content: bytes) -> None:
    """A digest is 40 hexadecimal digits and depends on the content alone."""
    assert re.fullmatch("[0-9a-f]{40}", blob_digest(content))
    assert blob_digest(content) == blob_digest(bytes(content))


def test_digests_are_gits_own() -> None:
    """`git hash-object` names the same content the same."""
    for content in (b"", b"x = 1\n", "ä😀\r\n".encode()):
        done = subprocess.run(["git", "hash-object", "--stdin"], input=content, capture_output=True, check=True)
        assert blob_digest(content) == done.stdout.decode().strip()


# ---- monikers

_IDENTIFIER = r"(?:[\w+\-$]+|`(?:[^`]|``)+`)"
_DESCRIPTOR = re.compile(
    rf"(?P<namespace>{_IDENTIFIER}/)|(?P<type>{_IDENTIFIER}#)|(?P<method>{_IDENTIFIER}\((?:\+\d+)?\)\.)|(?P<term>{_IDENTIFIER}\.)"
    rf"|(?P<parameter>\({_IDENTIFIER}\))|(?P<type_parameter>\[{_IDENTIFIER}\])",
    re.ASCII,
)


def _parse(descriptors: str) -> list[tuple[str, str]]:
    """A small reader of the SCIP grammar, for tests: (kind, name) pairs; fails where the text does not fit."""
    found: list[tuple[str, str]] = []
    position = 0
    while position < len(descriptors):
        match = _DESCRIPTOR.match(descriptors, position)
        assert match is not None, descriptors[position:]
        kind = match.lastgroup or ""
        name = match.group().rstrip("/#.").removesuffix("()")
        name = re.sub(r"\(\+\d+\)\Z", "", name) if kind == "method" else name  # `(+9)` is a parameter called `+9`
        name = name[1:-1] if kind.endswith("parameter") else name
        found.append((kind, name[1:-1].replace("``", "`") if name.startswith("`") else name))
        position = match.end()
    return found


_NAMES = st.text(alphabet=st.sampled_from("ab_Z9$ .#/`()[]é😀-+"), min_size=1, max_size=8)


@given(_NAMES)
@example("+9")
def test_any_name_survives_its_moniker(name: str) -> None:
    """Escaping is undone by reading, for every kind of descriptor."""
    for kind, flags, expected in (
        (SymbolKind.CLASS, SymbolFlag(0), "type"),
        (SymbolKind.METHOD, SymbolFlag(0), "method"),
        (SymbolKind.FIELD, SymbolFlag(0), "term"),
        (SymbolKind.VARIABLE, SymbolFlag.PARAMETER | SymbolFlag.LOCAL, "parameter"),
        (SymbolKind.TYPE_PARAMETER, SymbolFlag.LOCAL, "type_parameter"),
        (SymbolKind.MODULE, SymbolFlag(0), "namespace"),
    ):
        assert _parse(monikers.descriptor(name, kind, flags)) == [(expected, name)]


@given(st.lists(st.tuples(_NAMES, st.sampled_from([SymbolKind.CLASS, SymbolKind.METHOD, SymbolKind.FIELD])), max_size=4))
def test_a_chain_of_descriptors_reads_back(parts: list[tuple[str, SymbolKind]]) -> None:
    """The path of names and kinds is the identity, so it must not be ambiguous."""
    kinds = {SymbolKind.CLASS: "type", SymbolKind.METHOD: "method", SymbolKind.FIELD: "term"}
    text = "".join(monikers.descriptor(name, kind, SymbolFlag(0)) for name, kind in parts)
    assert _parse(text) == [(kinds[kind], name) for name, kind in parts]


def test_module_names_are_namespaces() -> None:
    """Dots part them; a path in place of a name is one namespace per part."""
    assert monikers.module_descriptors("flask.app") == "flask/app/"
    assert monikers.module_descriptors("größe.x") == "`größe`/x/"
    assert monikers.module_descriptors("") == ""


def test_package_prefixes_have_four_fields() -> None:
    """Empty fields are dots, spaces are doubled."""
    assert monikers.package_prefix("python", "pip", "my pkg", "") == "python pip my  pkg . "


def test_monikers_of_local_symbols_differ_by_document_scope_and_name() -> None:
    """Two files may have the same function with the same local."""
    seen = {monikers.local(document, scope, name) for document in ("a", "b") for scope in ("s", "t") for name in ("x", "y")}
    assert len(seen) == 8
    assert all(re.fullmatch(r"local [0-9a-f]{16}", moniker) for moniker in seen)

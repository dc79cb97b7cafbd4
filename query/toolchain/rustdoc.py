"""Pages that rustdoc has made, read: those of the standard library that come with Rust, and a crate's own `target/doc`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from html.parser import HTMLParser
from pathlib import Path

import msgspec

_MAX_PAGE_BYTES = 20_000_000
_ITEMS = ("struct", "enum", "trait", "fn", "macro", "union", "type", "constant", "static", "primitive", "derive", "attr", "keyword")
_HOLDERS = ("struct", "enum", "trait", "union", "primitive", "type")
_MEMBERS = ("method", "tymethod", "variant", "structfield", "associatedconstant", "associatedtype")
_BLOCKS = frozenset(("p", "li", "h1", "h2", "h3", "h4", "h5", "pre", "ul", "ol", "tr", "div", "table"))
_VOID = frozenset(("br", "wbr", "img", "input", "hr", "link", "meta"))


class RustPage(msgspec.Struct, kw_only=True):
    """What a page says of an item: plain text."""

    signature: str
    doc: str
    file: Path


def look_up(name: str, roots: Sequence[Path]) -> RustPage | None:
    """The item of this path, `std::vec::Vec::new`; None where no page has it.

    Args:
        roots: folders with a folder for each crate.
    """
    for root in roots:
        for page, anchor in _candidates(root, name.split("::")):
            if page.is_file() and page.resolve().is_relative_to(root.resolve()) and page.stat().st_size <= _MAX_PAGE_BYTES:
                reader = _Reader(anchor)
                reader.feed(page.read_text(encoding="utf-8", errors="replace"))
                if reader.found:
                    return RustPage(signature=_tidy("".join(reader.signature)), doc=_tidy("".join(reader.doc)), file=page)
    return None


def _candidates(root: Path, parts: Sequence[str]) -> Iterator[tuple[Path, str]]:
    """Pages that may have the item, and the place in them; the page itself where the place is empty."""
    folder = root.joinpath(*parts[:-1])
    if parts[-1].endswith("!"):
        yield folder / f"macro.{parts[-1][:-1]}.html", ""
    yield root.joinpath(*parts) / "index.html", ""
    for item in _ITEMS:
        yield folder / f"{item}.{parts[-1]}.html", ""
    if len(parts) > 2:
        for holder in _HOLDERS:
            for member in _MEMBERS:
                yield root.joinpath(*parts[:-2]) / f"{holder}.{parts[-2]}.html", f"{member}.{parts[-1]}"


class _Reader(HTMLParser):
    """Takes the first declaration and the first block of text at or behind an anchor, up to the next member."""

    def __init__(self, anchor: str) -> None:
        super().__init__(convert_charrefs=True)
        self._anchor = anchor
        self.found = not anchor
        self.signature: list[str] = []
        self.doc: list[str] = []
        self._into: list[str] | None = None
        self._depth = 0
        self._over = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in _VOID:
            return
        known = {key: value or "" for key, value in attrs}
        if self._into is not None:
            self._depth += 1
            if tag in _BLOCKS and self._into is self.doc:
                self._into.append("\n")
            return
        classes = known.get("class", "").split()
        if not self.found:
            self.found = known.get("id", "") == self._anchor
            return
        if self._anchor and self.signature and re.match(r"(?:ty)?method\.|variant\.|associated", known.get("id", "")):
            self._over = True  # the next member: this one has no text
        if self._over:
            return
        declares = "code-header" in classes if self._anchor else "item-decl" in classes
        if declares and not self.signature:
            self._into, self._depth = self.signature, 1
        elif "docblock" in classes and "item-decl" not in classes:
            self._into, self._depth, self._over = self.doc, 1, True

    def handle_endtag(self, tag: str) -> None:
        if self._into is not None and tag not in _VOID:
            self._depth -= 1
            if tag in _BLOCKS and self._into is self.doc:
                self._into.append("\n")
            if self._depth == 0:
                self._into = None

    def handle_data(self, data: str) -> None:
        if self._into is not None:
            self._into.append(data.replace("\xa0", " ").replace("ⓘ", ""))


def _tidy(text: str) -> str:
    """Without the signs of links to sections, and without runs of empty lines."""
    lines = [line.rstrip().removeprefix("§") for line in text.split("\n")]
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip()

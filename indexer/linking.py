"""Names that are told to an assembler, a linker or a generator: in assembler, in commands, and in what a source says beside its code. Pure.

Which mark stands before a word, `indexer.unread` says. What is told there is no identifier of a language, and whoever is told it sees what
no other file may name: a variable that Go does not export, a function of another language.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator

_NAME = rb"[A-Za-z_\x80-\xff][\w\x80-\xff]*"

# ---- assembler

_OF_GO = re.compile(rb"(\bTEXT[ \t]+)?(?<!\w)(\w*+)\xc2\xb7(\w++)")
"""Names of Go in assembler: after a middle dot, with the package before it where that is another."""
_FROM_HEADER = re.compile(rb"\b(?:const_(\w+)|([A-Za-z]\w*?)__size\b|([A-Za-z]\w*?)_([A-Za-z]\w*))")
"""What `go_asm.h` calls constants, sizes of types, and fields."""


def words_of_assembler(path: str, content: bytes) -> set[bytes]:
    """What assembler names beside its own words: of Go, by the folder that it lies in."""
    package = path.rpartition("/")[0].rpartition("/")[2].encode()
    found: set[bytes] = set()
    for defines, other, name in _OF_GO.findall(content):
        mark = b"=" if defines else b"!"
        found.add(_marked(mark, other or package, name))
    if b"go_asm.h" in content:
        for constant, size, of, field in _FROM_HEADER.findall(content):
            found.add(_marked(b"!", package, constant or size) if constant or size else b"!%b.%b" % (of, field))
    return found


def _marked(mark: bytes, owner: bytes, name: bytes) -> bytes:
    return b"%b%b.%b" % (mark, owner, name) if owner else b"%b%b" % (mark, name)


_IN_ASSEMBLER = re.compile(
    rb"(?:\b(?:call[lq]?|jmpq?|j[a-z]{1,3}|blx?|jal|tail|lea[lq]?|mov[lq]?|push[lq]?)|\.(?:symver|globl|global|weak|set|type|quad|long|word))"
    rb"[ \t]+[$*=#]?([A-Za-z_]\w+)"
)
_INLINE = re.compile(
    rb"\b(?:__)?asm(?:__)?\b(?:\s*+(?:__)?(?:volatile|goto|inline)(?:__)?)*+\s*+\(((?:\s*+(?:\"(?:[^\"\\]|\\.)*+\"|\w++))++)"
)
_RESOLVED = re.compile(rb"\bifunc(?:__)?\s*\(\s*\"(\w+)\"")

# ---- commands

_SET = re.compile(rb"-X[ =]['\"]?(?:[^\s'\"=]{0,200}?(\w{1,100})|[^\s'\"=]{0,200}[})])\.(\w+)=")
"""`go build -ldflags "-X example.com/a/b.version=1"`: a variable gets another value."""
_LINKED = re.compile(
    rb"--(?:wrap|undefined|entry|require-defined|defsym|export-dynamic-symbol|init|fini)[=, ](\w+)(?:=([A-Za-z_]\w*))?"
    rb"|-Wl,-(?:e|u|init|fini|exported_symbol),_?([A-Za-z_]\w*)"
)
_DEFINED = re.compile(rb"(?<![\w-])-D\w+=([A-Za-z_]\w*)\b(?!\.)")


def words_of_commands(content: bytes) -> set[bytes]:
    """What commands tell a linker, and the texts of macros that they define."""
    found: set[bytes] = set()
    if b"-X" in content:
        found.update(_marked(b"!", owner, name) for owner, name in _SET.findall(content))
    if b"--" in content or b"-Wl," in content:
        found.update(b"!%b" % name for names in _LINKED.findall(content) for name in names if name)
    if b"-D" in content:
        found.update(b"#%b" % name for name in _DEFINED.findall(content))
    return found


# ---- what a source says beside its code

_GENERATED = re.compile(rb"^//go:generate[ \t]+([^\n]*)", re.MULTILINE)
_VALUE = re.compile(rb"--?\w+[= ]([A-Za-z_][\w,]*)(?=\s|$)|(?<=\s)([A-Z][\w,]*)(?=\s|$)")
_LINKED_METHOD = re.compile(rb"^//go:linkname[ \t]+\w+[ \t]+[^\s()]{0,300}\.\(?\*?(\w+)\)?\.(\w+)[ \t]*$", re.MULTILINE)
_CGO = re.compile(rb"^(?://)?[ \t]*#cgo[^\n]*", re.MULTILINE)
_STRING = re.compile(rb'\\.|r#*"(.*?)"#*|"((?:[^"\\]|\\.)*)"', re.DOTALL)
_CALLED = re.compile(rb"(?<![\w\x80-\xff!])(%b)(?=[ \t]*\()" % _NAME)


def words_in_source(path: str, kinds: Collection[str], content: bytes) -> set[bytes]:
    """What commands, assembler and programs in the texts of a source name. `kinds`: as `texts` in a language's record has them."""
    return {word for kind in kinds if kind in _BY_KIND for word in _BY_KIND[kind](path, content)}


def _of_assembler(_path: str, content: bytes) -> Iterator[bytes]:
    if b"asm" in content:
        for text in _INLINE.findall(content):
            yield from _IN_ASSEMBLER.findall(text.replace(b'"', b" ").replace(b"\\n", b" ").replace(b"\\t", b" "))
    if b"ifunc" in content:
        yield from _RESOLVED.findall(content)


def _of_comments(_path: str, content: bytes) -> Iterator[bytes]:
    if b"go:generate" in content:
        for command in _GENERATED.findall(content):
            yield from (word for groups in _VALUE.findall(command) for value in groups for word in value.split(b",") if word)
    if b"go:linkname" in content:
        yield from (b"!%b.%b" % names for names in _LINKED_METHOD.findall(content))
    if b"#cgo" in content:
        yield from words_of_commands(b"\n".join(_CGO.findall(content)))


def _of_script(path: str, content: bytes) -> Iterator[bytes]:
    """A build script writes a program, which the crate includes."""
    if path.rpartition("/")[2] == "build.rs":
        texts = b"\n".join(part for groups in _STRING.findall(content) for part in groups)
        yield from (b"!%b" % name for name in _CALLED.findall(texts))
        yield from words_of_commands(content)


_BY_KIND: dict[str, Callable[[str, bytes], Iterable[bytes]]] = {
    "assembler": _of_assembler,
    "comments": _of_comments,
    "script": _of_script,
    "commands": lambda _path, content: words_of_commands(content),
}

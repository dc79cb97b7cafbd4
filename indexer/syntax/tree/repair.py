"""Texts that a grammar does not know, or must not see: the same text, byte for byte in its place, put in other words.

tree-sitter-typescript 0.23 knows no variance (`interface Box<in out T>`) and no `export type * from`, takes a call signature on a line
of its own, `<A>(a: A): B`, for type arguments of the line above it, ends a template type at an escaped quote, and reads `using` as the
beginning of a declaration where it is a name. Only the parser sees the repaired text. tree-sitter-rust 0.24 knows no `const trait`,
which Rust's own library is written with, and no macro that is named as a type (`str![["…"]]` of snapshots). tree-sitter-javascript 0.25
takes no reserved word for the name of an attribute or an element of JSX (`<div class="a">`, as Preact and Solid write it).
tree-sitter-bash 0.25 looks characters up in a table of 256 (`isalpha`), beyond its end for any other: an emoji in the wrong place ends
the process.
"""

from __future__ import annotations

import re

_VARIANCE = re.compile(
    rb"(?P<before>[<,]\s*(?:const\s+)?|\*/\s*)(?P<words>in\s+out|in|out)(?=\s+(?!(?:extends|in|instanceof|of|as|is|satisfies)\b)[A-Za-z_$])"
)
_EXPORTED_TYPES = re.compile(rb"(?P<before>\bexport\s+)type(?=\s*\*)")
_NAMED_USING = re.compile(rb"(?<![\w$])using(?![\w$])(?![ \t]+[A-Za-z_$])")
_SIGNATURE_LINE = re.compile(rb"\n[ \t]*([ \t])(?=<[A-Za-z_$\s]|in\??:)")
_CONST_TRAIT = re.compile(rb"\bconst (?=(?:unsafe )?(?:trait|impl)\b)|(?<=\bimpl )const (?=[A-Z])|\[const\] ")
_STR_MACRO = re.compile(rb"\bstr(?=![ ]?[\[({])")
_RESERVED = (
    rb"(?:break|case|catch|class|const|continue|debugger|default|delete|do|else|export|extends|false|finally|for|function|if|import|in"
    rb"|instanceof|new|null|return|super|switch|this|throw|true|try|typeof|var|void|while|with)"
)
_OPERANDS = rb"(?!(?:false|null|super|this|true)\b)"
_IN_JSX = re.compile(
    rb"(?<=[\s\"'}])" + _RESERVED + rb"(?=\s*=\s*[\"'{<]|:[A-Za-z][\w-]*=[\"'{])"  # an attribute with a value, its namespace
    rb"|(?<=[\s\"'}])" + _OPERANDS + _RESERVED + rb"(?=\s*/?>)"  # one without, the last of its element
    rb"|(?<=[\w]:)" + _RESERVED + rb"(?==[\"'{])"
    rb"|(?<=</)" + _RESERVED + rb"(?=[\s>.])"
    rb"|(?<=[(>{}=?:&|,;\[\s]<)" + _RESERVED + rb"(?=[\s/>.])"
    rb"|(?<=[\w]\.)" + _RESERVED + rb"(?=\s+[A-Za-z][\w:-]*=[\"'{]|\s*/?>)"
)
_LETTER = re.compile(rb"[a-z]")
_ENDS_A_TYPE = re.compile(rb"[\w$>)\]}\"'`]")
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_ASCII_ONLY = bytes(range(0x80)) + b"." * 0x80
_MAX_LINES = 20_000
_MAX_COMMENTS = 20
_MAX_COMMENT_BYTES = 20_000
_MAX_LINE_BYTES = 200


def repair_typescript(source: bytes) -> bytes:
    """The text without variance and the `type` of `export type *`, call signatures apart, `using` named otherwise; as long as it was."""
    text = _VARIANCE.sub(lambda match: match["before"] + _LETTER.sub(b" ", match["words"]), source).replace(b"\\`", b"  ")
    text = _NAMED_USING.sub(b"usin_", _EXPORTED_TYPES.sub(lambda match: match["before"] + b"    ", text))
    places: list[int] = []
    for match in _SIGNATURE_LINE.finditer(text):
        if _ENDS_A_TYPE.match(text, _before(text, match.start())):
            places.append(match.start(1))
            if len(places) == _MAX_LINES:
                break
    if not places:
        return text
    changed = bytearray(text)
    for place in places:
        changed[place] = ord(";")
    return bytes(changed)


def repair_javascript(source: bytes) -> bytes:
    """The text with other names for what reserved words name in JSX, of the same length."""
    return _IN_JSX.sub(lambda match: match[0][:-1] + b"_", source)


def rewrite_rust(source: bytes) -> bytes:
    """The text without the words that say what of a trait may run while compiling, and with a name for a macro that is named as a type."""
    source = _STR_MACRO.sub(b"st_", source)
    if b"const trait" not in source and b"impl const" not in source and b"const impl" not in source:
        return source
    return _CONST_TRAIT.sub(lambda match: b" " * len(match[0]), source)


def rewrite_bash(source: bytes) -> bytes:
    """The text with a full stop for each byte that is not ASCII: part of a word, of no name."""
    if source.isascii():
        return source
    if source.startswith(_BYTE_ORDER_MARK):
        source = b"   " + source[3:]
    return source.translate(_ASCII_ONLY)


def _before(text: bytes, end: int) -> int:
    """Offset of the last byte before `end` that is neither white space nor in a comment; of no type's end after `=>`."""
    for _ in range(_MAX_COMMENTS):
        while end and text[end - 1] in b" \t\r\n":
            end -= 1
        line = text.rfind(b"\n", max(0, end - _MAX_LINE_BYTES), end)
        if line >= 0 and text[line : line + _MAX_LINE_BYTES].lstrip().startswith(b"//"):
            end = line
        elif text.endswith(b"*/", max(0, end - 2), end):
            opened = text.rfind(b"/*", max(0, end - _MAX_COMMENT_BYTES), end - 2)
            if opened < 0:
                break
            end = opened
        else:
            break
    return max(0, end - (2 if text.endswith(b"=>", max(0, end - 2), end) else 1))

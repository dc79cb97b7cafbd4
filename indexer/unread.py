"""Words of files that no server reads: which of them may name a symbol, by the kind of the file (`unread.toml`).

What is kept of a file is a set of digests: `name` counts by itself; `module.name` as a whole; `~name` stands in code of a document, `>name`
in a doctest or in another project, and both count beside `^owner`, a word of that code, where the owner is the module or type that
defines the name; `<name` stands in a script of a page, and counts for the languages that pages run; `#name` stands in the text of a macro,
`#.name` there as a member; `!name` and `!owner.name` are told to an assembler, a linker or a generator, which see what no file may name;
`=owner.name` is defined there (`indexer.linking`); `$name` is run by a shell; `=name` is what markup gives a component, as its property;
`%name_` begins a name that a program makes in a text of C which it writes.
"""

from __future__ import annotations

import functools
import re
import zlib
from collections.abc import Collection, Iterable, Iterator
from fnmatch import translate
from pathlib import Path
from typing import Literal, NamedTuple

import msgspec

from indexer import linking
from indexer.text import word_digest

MOST_BYTES = 4_000_000
"""A text that is longer was not written by anybody; what it holds is data."""

Reads = Literal["words", "assembler", "code", "program", "expressions", "marks", "bindings", "examples", "dotted", "commands", "nothing"]


class Rule(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One kind of files; the meaning of each key stands at the top of unread.toml."""

    patterns: list[str] = []
    reads: Reads
    families: list[str] = []
    why: str


_MAGIC = re.compile(r"[*?\[]")
_DOT = re.compile(r"\.")
_ELSE = Rule(reads="code", why="of a kind that is not known")


class _Rules(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    rule: list[Rule]


@functools.cache
def rules() -> tuple[Rule, ...]:
    return tuple(msgspec.toml.decode(Path(__file__).with_name("unread.toml").read_bytes(), type=_Rules).rule)


class _Known(NamedTuple):
    """Numbers of rules: by a whole name, by what a name ends with from one of its dots on, and by patterns of any other kind, in order."""

    names: dict[str, int]
    endings: dict[str, int]
    others: list[tuple[int, re.Pattern[str]]]


@functools.cache
def _known() -> _Known:
    """A pattern for all rules in one takes 50 ms to compile; most of them are names and endings."""
    known = _Known({}, {}, [])
    for number, rule in enumerate(rules()):
        others: list[str] = []
        for pattern in rule.patterns:
            if not _MAGIC.search(pattern):
                known.names.setdefault(pattern, number)
            elif pattern.startswith("*.") and not _MAGIC.search(pattern[1:]):
                known.endings.setdefault(pattern[1:], number)
            else:
                others.append(pattern)
        if others:
            known.others.append((number, re.compile("|".join(map(translate, others)))))
    return known


def rule_of(path: str) -> Rule:
    """How a file that is not read counts, by its name: the first rule that fits."""
    name, known = path[path.rfind("/") + 1 :].lower(), _known()
    fitting = [known.names[name]] if name in known.names else []
    fitting += [known.endings[name[dot.start() :]] for dot in _DOT.finditer(name) if name[dot.start() :] in known.endings]
    first = min(fitting, default=len(rules()))
    first = next((number for number, pattern in known.others if number < first and pattern.match(name)), first)
    return rules()[first] if first < len(rules()) else _ELSE


# ---- what a file says


def words_of(path: str, content: bytes) -> tuple[int, ...]:
    """Digests of what may name a symbol in a file, sorted; empty where nothing does."""
    reads = rule_of(path).reads
    found = _READERS[reads](content)
    if reads == "assembler":
        found |= linking.words_of_assembler(path, content)
    elif reads not in ("nothing", "examples", "expressions", "marks", "bindings"):
        found |= linking.words_of_commands(content) | _said_to_shells(path, content)
    if reads in ("code", "program") and b"#include" in content and not _OF_AUTOCONF.fullmatch(path[path.rfind("/") + 1 :].lower()):
        found |= {b"%" + word for word in _BEGUN.findall(content)}
    return _digests(found)


_OF_AUTOCONF = re.compile(r"configure|.*\.(?:m4|ac|in)")
_BEGUN = re.compile(
    rb"(?<![\w$%@{}\x80-\xff./-])([A-Za-z_]\w{2,}_)(?=\$\{?[A-Za-z_]|\{[A-Za-z_]\w*\}|%s|#\{|[\"'][ \t]*(?:\.|\+)[ \t]*\$?[A-Za-z_])"
)
"""Followed by a part that is put in: `test_$name`, `test_{name}`, `"test_" . $name`. Scripts of autoconf make names of their own."""


def words_of_texts(path: str, kinds: Collection[str], content: bytes) -> tuple[int, ...]:
    """The same for those parts of a source that are no code of its language. `kinds`: as `texts` in a language's record has them."""
    return _digests(linking.words_in_source(path, kinds, content) | _of_markup(kinds, content))


def words_of_manifest(content: bytes) -> tuple[int, ...]:
    """The same for a file whose dotted names are read: what its commands tell a linker, or a shell."""
    return _digests(linking.words_of_commands(content) | _said_to_shells("", content) | _beside_types(content))


_TAKEN_IN = re.compile(rb"(?:^|[\s;&|(`\"'=])(?:\.|source)[ \t]+[\"']?[\w./~${}-]*[\w}]", re.MULTILINE)
_RUN_THERE = re.compile(
    rb"(?:^|[;&|(`{\"']|\b(?:then|do|else|if|while|until|time|sudo)[ \t]|\b(?:RUN|CMD|run:|script:|command:)[ \t]|^[ \t]*-[ \t])"
    rb"[ \t@!-]*([A-Za-z_][\w.:-]*)(?=[\s;&|)`\"']|$)",
    re.MULTILINE,
)
_SET_THERE = re.compile(rb"^[ \t]*(?:export[ \t]+)?[A-Za-z_]\w*=[\"']?([A-Za-z_][\w.:-]*)[\"']?[ \t]*$", re.MULTILINE)
_SETS = re.compile(r"\.env(?:\..*)?|.*\.(?:env|envrc|conf|config|cfg|sh\.(?:in|dist|example))|\..*rc")


def _said_to_shells(path: str, content: bytes) -> set[bytes]:
    """Words that a shell runs in a text that takes in another one, and what variables of a file of settings are: `$name`."""
    found: set[bytes] = set()
    if _TAKEN_IN.search(content):
        found |= {b"$" + word for word in _RUN_THERE.findall(content)}
    if _SETS.fullmatch(path[path.rfind("/") + 1 :].lower()):
        found |= {b"$" + word for word in _SET_THERE.findall(content)}
    return found


_NAMESPACED = re.compile(rb"(?<![\w\\])\\{0,2}((?:[A-Za-z_]\w*\\{1,2})+)([A-Za-z_]\w*)")


def _beside_types(content: bytes) -> set[bytes]:
    """Words of a file of settings that names types by the namespaces that they are in, as PHP does: each counts beside what defines it."""
    found: set[bytes] = set()
    for above, name in _NAMESPACED.findall(content) if b"\\" in content else ():
        found.update(b"^" + part for part in (*_WORD.findall(above), name))
    return found | {b">" + word for word in _WORD.findall(content)} if found else found


_IN_COMPONENT = re.compile(rb"\btemplate\s*:\s*`([^`]*)`")
_OF_JINJA = re.compile(rb"\{\{([^{}\n]*)\}\}|\{%([^{}\n]*)%\}")
_FORMATTED = re.compile(rb"(?<![\w'\"\\])(?:\"((?:[^\"\\\n]|\\.)*+)\"|'((?:[^'\\\n]|\\.)*+)')\.format(?:_map)?\(")
_FIELD = re.compile(rb"\{\w*+((?:\.[A-Za-z_]\w*+)++)[^{}]*+\}")


def _of_markup(kinds: Collection[str], content: bytes) -> set[bytes]:
    """What templates in texts of a source name."""
    found: set[bytes] = set()
    if "component" in kinds and b"@Component" in content:
        for text in _IN_COMPONENT.findall(content):
            found.update(word for part in _parts(_EVALUATED, text) for word in _WORD.findall(part))
    if "template" in kinds:
        for fields in _FIELD.findall(b"\n".join(_parts(_FORMATTED, content))) if b".format" in content else ():
            found.update(_WORD.findall(fields))
        if b"emplate" in content:
            found |= _code(b"\n".join(_parts(_OF_JINJA, content)))
    return found


def words_of_doctests(content: bytes) -> tuple[int, ...]:
    """The same for the doctests of a source whose code is read."""
    if b">>> " not in content:
        return ()
    return _digests(_in_examples(_doctests(content), b">"))


_DEFINE = re.compile(rb"^[ \t]*#[ \t]*define[ \t]+(\w+)(\([^()\n]*\))?((?:[^\\\n]|\\(?:\r\n|.|\n))*)", re.MULTILINE)
_NO_NAME = re.compile(rb"\"(?:[^\"\\\n]|\\.)*+\"|'(?:[^'\\\n]|\\.)*+'|/\*.*?(?:\*/|\Z)|//[^\n]*", re.DOTALL)
_IN_MACRO = re.compile(rb"(?:(\.|->|::)[ \t]*+)?(?<![\w\x80-\xff])([A-Za-z_\x80-\xff][\w\x80-\xff]*+)")


def words_of_macros(content: bytes) -> tuple[int, ...]:
    """The same for a source of C or C++: what the texts of its macros name, beside their parameters."""
    found: set[bytes] = set()
    for name, parameters, text in _DEFINE.findall(content):
        own = {name, *_WORD.findall(parameters)}
        for taken, word in _IN_MACRO.findall(_NO_NAME.sub(b" ", text)):
            if taken:
                found.add(b"#.%b" % word)
            if taken == b"::" or (not taken and word not in own):
                found.add(b"#%b" % word)
    return _digests(found - _NO_NAMES_OF_C)


_NO_NAMES_OF_C = frozenset(
    b"#" + word
    for word in b"break case char const continue default do double else enum extern float for goto if inline int long register return short"
    b" signed sizeof static struct switch typedef union unsigned void volatile while bool true false NULL defined".split()
)


def words_of_user(content: bytes) -> tuple[int, ...]:
    """The same for a source of another project, which may use this one: a name counts beside the name of what defines it."""
    return _digests(_in_examples(content, b">"))


def _digests(words: Iterable[bytes]) -> tuple[int, ...]:
    return tuple(sorted(set(map(zlib.crc32, words))))


# What is open at the end of a text ends there, and no word is tried again at one of its letters: each text is read once. `\b` would not do,
# for it lies between two letters where one is not of ASCII.
_WORD = re.compile(rb"[A-Za-z_\x80-\xff][\w\x80-\xff]*")
_CALLED = re.compile(rb"(?<![\w\x80-\xff])[A-Za-z_\x80-\xff][\w\x80-\xff]*+(?=[ \t]*\()")
_PAIR = re.compile(rb"(?<![\w\x80-\xff])([A-Za-z_\x80-\xff][\w\x80-\xff]*+)(?:\.|::|->|\?\.|:)(?=([A-Za-z_\x80-\xff][\w\x80-\xff]*))")
_TAKEN = re.compile(rb"(?:\.|::|->|@)([A-Za-z_\x80-\xff][\w\x80-\xff]*)")
_IMPORT = re.compile(rb"^[ \t]*(?:from|import|cimport|use|using|require|include|open)\b[^\n]*", re.MULTILINE)


def _words(content: bytes) -> set[bytes]:
    return set(_WORD.findall(content))


def _pairs(content: bytes) -> set[bytes]:
    return {b"%b.%b" % pair for pair in _PAIR.findall(content)}


def _code(content: bytes) -> set[bytes]:
    found = set(_CALLED.findall(content))
    found.update(_TAKEN.findall(content))
    for line in _IMPORT.findall(content):
        found.update(_WORD.findall(line))
    return found | _pairs(content)


_EVALUATED = re.compile(
    rb"\{\{(.*?)(?:\}\}|\Z)|\{%(.*?)(?:%\}|\Z)|<%(.*?)(?:%>|\Z)|[$#]\{([^}]*)(?:\}|\Z)"
    rb"|[\s(](?:[@:#*][\w.:-]+|v-[\w.:-]+|\([\w.]+\)|\[[\w.]+\]|(?:bind|use|on|client|set|x-on):[\w.-]*|ng-[\w-]+)="
    rb"\s*(?:\"([^\"]*)(?:\"|\Z)|'([^']*)(?:'|\Z)|\{([^}]*)(?:\}|\Z))",
    re.DOTALL,
)
_SCRIPT = re.compile(
    rb"<script\b[^>]*(?:>|\Z)(.*?)(?:</script>|\Z)|\son[a-z]+=\s*(?:\"([^\"]*)(?:\"|\Z)|'([^']*)(?:'|\Z))", re.DOTALL | re.IGNORECASE
)
_MARKED = re.compile(rb"\{\{\{?[#^&]?\s*([\w.-]+)\s*\}\}")
_BRACES = re.compile(rb"\{([^{}]*)\}")
_PROPERTY = re.compile(rb"^\v=([A-Za-z_$][\w$]*)$", re.MULTILINE)
"""As `indexer.component` writes it."""

_TAG = re.compile(rb"<([A-Z][\w.]*)")
_FILTERS = re.compile(rb"\|[ \t]*([A-Za-z_]\w*)")
_TAG_OF_TEMPLATE = re.compile(rb"\{%-?[ \t]*([A-Za-z_]\w*)")

_OWN_TAGS = frozenset(
    b"autoescape block call comment cycle do elif else embed extends filter for from if import include load macro now raw set spaceless"
    b" static trans blocktrans translate url verbatim with".split()
)
"""Of the languages of templates themselves."""


def _parts(regex: re.Pattern[bytes], content: bytes) -> Iterator[bytes]:
    for groups in regex.findall(content):
        yield from filter(None, groups)


def _expressions(content: bytes) -> set[bytes]:
    code = b"\n".join(_parts(_EVALUATED, content))
    scripts = {b"<" + word for word in _code(b"\n".join(_parts(_SCRIPT, content)))}
    return scripts | _code(code) | set(_FILTERS.findall(code)) | (set(_TAG_OF_TEMPLATE.findall(content)) - _OWN_TAGS)


def _bindings(content: bytes) -> set[bytes]:
    found = {word for part in (*_parts(_EVALUATED, content), *_BRACES.findall(content)) for word in _WORD.findall(part)}
    found |= {b"=" + word for word in _PROPERTY.findall(content)}
    return found | {word for tag in _TAG.findall(content) for word in _WORD.findall(tag)}


_FENCE = re.compile(rb"^[ \t]*(```+|(?<=\n\n)~~~+)[ \t]*\{?\.?([\w+#-]*)[^\n]*(?:\n|\Z)(.*?)(?:^[ \t]*\1|\Z)", re.MULTILINE | re.DOTALL)
"""Without a blank line before it, a line of tildes is what a heading stands on."""

_DIRECTIVE = re.compile(
    rb"^([ \t]*+)(?:\.\.[ \t]+(?:code-block|code|sourcecode|testcode|ipython|prompt)::[ \t]*([\w+#-]*)|(?!\.\.)[^\n]*::)[ \t]*$"
)
_DOCTEST = re.compile(rb"^[ \t]*(?:>>>|\.\.\.) ([^\n]*)", re.MULTILINE)
_NO_CODE = frozenset(
    b"text txt plain none console output bash sh shell zsh fish pwsh powershell bat json yaml yml toml ini diff html xml css sql http"
    b" mermaid dockerfile make cmake markdown md rst log csv".split()
)


def _doctests(content: bytes) -> bytes:
    return b"\n".join(_DOCTEST.findall(content))


def _fenced(content: bytes) -> bytes:
    has_fences = b"```" in content or b"~~~" in content
    parts = [text for _, language, text in _FENCE.findall(content) if language.lower() not in _NO_CODE] if has_fences else []
    return b"\n".join([*parts, *_literal(content)])


def _literal(content: bytes) -> Iterator[bytes]:
    """Lines of literal blocks and of blocks of code, as reStructuredText has them."""
    if b"::" not in content:
        return
    margin, inside = 0, False
    for line in content.split(b"\n"):
        bare = line.lstrip()
        if inside and bare and len(line) - len(bare) <= margin:
            inside = False
        if inside:
            yield line
        elif b"::" in line and (match := _DIRECTIVE.match(line)) and (match[2] or b"").lower() not in _NO_CODE:
            margin, inside = len(match[1].expandtabs()), True


def _in_examples(code: bytes, mark: bytes) -> set[bytes]:
    return {mark + word for word in _code(code)} | {b"^" + word for word in _WORD.findall(code)}


def _examples(content: bytes) -> set[bytes]:
    found = _in_examples(_fenced(content), b"~")
    if b">>> " in content:
        found |= _in_examples(_doctests(content), b">")
    return found


_READERS = {
    "words": lambda content: _words(content) | _pairs(content),
    "assembler": _words,
    "code": _code,
    "program": lambda content: _code(content) | _expressions(content),
    "expressions": _expressions,
    "marks": lambda content: _expressions(content) | {word for name in _MARKED.findall(content) for word in _WORD.findall(name)},
    "bindings": _bindings,
    "examples": _examples,
    "dotted": lambda content: _pairs(content) | _beside_types(content),
    "commands": lambda content: set[bytes](),
    "nothing": lambda content: set[bytes](),
}


# ---- whether it names a symbol


class Wanted(msgspec.Struct, frozen=True, kw_only=True):
    """Digests that tell whether a file may name one symbol.

    alone: any of them does. linked: told to an assembler, a linker or a generator. defined: it is in assembler. scripts: in a script of a
    page. macros: in the text of a macro. run, shown: in a doctest, or in another example, beside one of `owners`.
    props: as what a component is given; 0 where it is nothing of the kind. beginnings: of names that a program makes.
    """

    alone: frozenset[int]
    linked: frozenset[int]
    defined: frozenset[int]
    scripts: int
    props: int
    macros: frozenset[int]
    run: int
    shown: int
    owners: frozenset[int]
    beginnings: frozenset[int] = frozenset()

    @property
    def any(self) -> frozenset[int]:
        """Without one of these a file need not be looked at."""
        return self.alone | self.linked | self.defined | self.macros | self.beginnings | {self.scripts, self.props, self.run, self.shown}

    def is_linked(self, words: frozenset[int], *, shown: bool) -> bool:
        """Whether an assembler, a linker or a generator is told the name. shown: where it is defined counts, too."""
        return not self.linked.isdisjoint(words) or (shown and not self.defined.isdisjoint(words))

    def also(self, names: Iterable[str]) -> Wanted:
        """The same under further names, each of which counts by itself."""
        return msgspec.structs.replace(self, alone=self.alone | {word_digest(name) for name in names})

    def begun(self, name: str) -> Wanted:
        """The same where a program that writes C may make the name out of a beginning which ends with `_`."""
        beginnings = [name[: at + 1] for at, sign in enumerate(name[:-1]) if sign == "_" and at > 2]
        return msgspec.structs.replace(self, beginnings=frozenset(word_digest(f"%{beginning}") for beginning in beginnings))

    def is_begun(self, words: frozenset[int]) -> bool:
        """Whether a program makes such a name in a text that it writes."""
        return not self.beginnings.isdisjoint(words)

    def is_named(self, words: frozenset[int], *, shown: bool, own: bool = False, in_pages: bool = False, in_macros: bool = False) -> bool:
        """Whether a file with these words may name it.

        Args:
            shown: examples that nobody runs count, too. own: the file is the one that defines the symbol.
            in_pages: a page's scripts can name it. in_macros: the texts of macros, which are read where they are used only, count.
        """
        if in_macros and not self.macros.isdisjoint(words):
            return True
        if not self.alone.isdisjoint(words) or self.props in words or (in_pages and self.scripts in words):
            return True
        return (self.run in words or (shown and self.shown in words)) and (own or not self.owners.isdisjoint(words))


def wanted(name: str, owners: Iterable[str], *, is_member: bool = False, read_as: str = "", is_prop: bool = False) -> Wanted:
    """What to look for where a symbol of this name is asked for.

    Args:
        owners: names of what defines it: types, modules, packages. is_member: it may be taken of a value.
        read_as: what a template calls a property that it gives; empty: nothing else.
        is_prop: it may be what a component is given.
    """
    owning = sorted({owner for owner in owners if owner})
    return Wanted(
        alone=frozenset(
            [word_digest(name), *([word_digest(read_as)] if read_as else []), *(word_digest(f"{owner}.{name}") for owner in owning)]
        ),
        linked=frozenset(word_digest(f"!{named}") for named in (name, f"main.{name}", *(f"{owner}.{name}" for owner in owning))),
        defined=frozenset(word_digest(f"={owner}.{name}") for owner in owning),
        scripts=word_digest(f"<{name}"),
        props=word_digest(f"={name}") if is_prop else 0,
        macros=frozenset([word_digest(f"#.{name}" if is_member else f"#{name}")]),
        run=word_digest(f">{name}"),
        shown=word_digest(f"~{name}"),
        owners=frozenset(word_digest(f"^{owner}") for owner in owning),
    )

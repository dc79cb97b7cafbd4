"""Files that nothing here reads and that name a symbol: condition (a) of the promise.

Which words of such a file count, `indexer.unread` says. What git ignores, and
other repositories, are no part of the workspace; a few sources in them count by their words.
"""

from __future__ import annotations

import re
import shlex
from collections import defaultdict
from collections.abc import Callable, Collection, Sequence

from indexer import unread
from indexer.embedded import COMPONENT, form_of, searched_of
from indexer.languages import TYPESCRIPT, record_of
from indexer.model import SymbolKind
from indexer.plain_files import read
from query.answers.envelope import Reason
from query.answers.paths import of_paths
from query.facts import components
from query.facts.families import languages_of
from query.facts.freshness import Drift
from query.facts.gaps.uses import Uses, with_types
from query.facts.index import Index
from query.facts.symbols import Symbol, symbols_by_id

_MOST_LOOKED_AT = 200
"""Changed files whose words are looked up in their present text; beyond that those of the index hold."""

_WORDS = re.compile(r"\w+")
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_MEMBERS = frozenset(kind.label for kind in (SymbolKind.METHOD, SymbolKind.PROPERTY, SymbolKind.FIELD, SymbolKind.ENUM_MEMBER))

_VALUES = frozenset({SymbolKind.PROPERTY.label, SymbolKind.FIELD.label})

_SENTENCES = {
    "words": ("file in a language that is not read here has the word", "files in languages that are not read here have the word"),
    "assembler": ("file of assembler has the word", "files of assembler have the word"),
    "commands": ("file of commands has the word", "files of commands have the word"),
    "linked": (
        "file tells an assembler, a linker or a generator the name",
        "files tell an assembler, a linker or a generator the name",
    ),
    "texts": (
        "source has, in a text that is no code of its own (a template, assembler, a command), the name",
        "sources have, in texts that are no code of their own (templates, assembler, commands), the name",
    ),
    "code": ("file that is not read seems to use", "files that are not read seem to use"),
    "program": ("template of a program, which is not read, seems to use", "templates of programs, which are not read, seem to use"),
    "expressions": ("template, which is not read, uses the name", "templates, which are not read, use the name"),
    "bindings": ("component has, in markup and not as code, the name", "components have, in markup and not as code, the name"),
    "examples": ("document has an example, which is not read, of", "documents have examples, which are not read, of"),
    "dotted": (
        "file of settings or commands has a dotted name that ends with",
        "files of settings or commands have a dotted name that ends with",
    ),
    "macros": (
        "source has, in the text of a macro, which is read where it is used only, the name",
        "sources have, in texts of macros, which are read where they are used only, the name",
    ),
    "doctests": ("source has a doctest, which is not read, of", "sources have doctests, which are not read, of"),
    "other_repository": ("file of another repository in this one seems to use", "files of other repositories in this one seem to use"),
    "ignored": ("file that git ignores seems to use", "files that git ignores seem to use"),
}
"""By what is read of the files (`indexer.unread`), or why nothing is: one file, and several; the name follows."""


def reasons(index: Index, uses: Uses) -> list[Reason]:
    """Files that are not read and name one of the symbols, by what they are."""
    if not _is_any(index):
        return []
    naming: dict[tuple[str, str], set[str]] = defaultdict(set)
    for symbol in with_types(index, uses):
        if symbol.is_local or not symbol.record.name.isidentifier():
            continue
        read_as = _read_as(index, symbol)
        shortest = min(components.names_of(symbol), key=len, default=symbol.record.name)
        for path, what in _naming(index, symbol, uses.drift, shown=uses.question == "references", family=uses.family).items():
            if uses.scope.is_asked(path) if what == "linked" else uses.could_refer(path) or _is_of_object(symbol):
                naming[what, shortest].add(path)
            elif read_as and uses.scope.is_asked(path) and uses.scope.holds(path, [read_as]):
                naming[what, read_as].add(path)
    for (what, name), paths in naming.items():
        if what == "macros":  # of parts that the build leaves out it is said why
            paths.difference_update([path for (path,) in index.rows(_LEFT_OUT, [name])])
    return [_reason(what, name, sorted(paths)) for (what, name), paths in sorted(naming.items()) if paths]


_LEFT_OUT = """
    SELECT DISTINCT d.path FROM unresolved_name u JOIN document d USING (doc_id) WHERE u.name = ? AND has_role(u.roles, 'mention')
"""


def _is_of_object(symbol: Symbol) -> bool:
    """Whether it is a member of an object that is written out, which is handed over: who names it need not see where that stands."""
    return symbol.record.kind in _MEMBERS and not symbol.record.container.endswith("#")


def _is_macro(symbol: Symbol) -> bool:
    return symbol.record.signature.startswith("#")


def _naming(index: Index, symbol: Symbol, drift: Drift, *, shown: bool, family: Collection[str] = ()) -> dict[str, str]:
    """Paths of files that are not read, and that may name the symbol; the key of the sentence about each.

    Args:
        shown: examples in documents count, which nobody runs, and not doctests only.
        family: languages whose files may refer to it; empty for all.
    """
    wanted = _wanted(index, symbol)
    rows = index.rows("SELECT path, words FROM skipped_word WHERE list_has_any(words, $wanted::UINTEGER[])", {"wanted": sorted(wanted.any)})
    now, others = _changed(index, drift), _of_other_reasons(index)
    known = {path: frozenset(words) for path, words in rows if path not in now and path not in others} | now
    in_pages = _runs_in_pages(family)
    in_macros = shown or _is_macro(symbol)  # what a macro that is used calls, the compiler tells, but for other macros
    found: dict[str, str] = {}
    for path in sorted((*known, *_unsearched(index))):
        words = known.get(path)
        if words is not None and wanted.is_linked(words, shown=shown):
            found[path] = "linked"
            continue
        is_named = _is_named(symbol, wanted, path, words, shown=shown, in_pages=in_pages, in_macros=in_macros)
        if is_named and _may_refer(index, path, family):
            found[path] = _what_of(index, path, wanted, words)
    return found


def _wanted(index: Index, symbol: Symbol) -> unread.Wanted:
    record = symbol.record
    is_own = form_of(record.path) == COMPONENT and not record.container.endswith("default.")
    is_prop = is_own or record.kind in _VALUES  # what an object of options has, nobody gives
    is_member, read_as = record.kind in _MEMBERS, _read_as(index, symbol)
    made = unread.wanted(record.name, owners(symbol), is_member=is_member, read_as=read_as, is_prop=is_prop)
    return made.also(components.names_of(symbol))


def _read_as(index: Index, symbol: Symbol) -> str:
    """What a template calls the property that a method gives; empty where there is none."""
    if symbol.record.kind != SymbolKind.METHOD.label or not record_of(languages_of(index).get(symbol.record.path, "")).reads_by_getters:
        return ""
    got = _GETTER.fullmatch(symbol.record.name)
    return f"{got[1].lower()}{got[2]}" if got else ""


_GETTER = re.compile(r"(?:get|is|has)([A-Z])(\w*)")


def named_in_unread(index: Index, ids: Collection[int], drift: Drift, family_of: Callable[[str], Collection[str]]) -> set[int]:
    """Those of many symbols that a file which is not read, for whatever reason, may name, examples in documents left out.

    Args:
        family_of: languages whose files may refer to what a document defines, by its path.
    """
    if not ids or not _is_any(index):
        return set()
    sql = "SELECT path, words FROM skipped_word"
    now = _changed(index, drift)
    known = {path: frozenset(words) for path, words in index.rows(sql) if path not in now} | now
    everything = [*known, *_unsearched(index)]
    found: set[int] = set()
    for sym_id, symbol in symbols_by_id(index, sorted(ids)).items():
        family = family_of(symbol.record.path)
        wanted = _wanted(index, symbol)
        in_pages = _runs_in_pages(family)
        named = [
            path for path in everything if _is_named(symbol, wanted, path, known.get(path), shown=False, in_pages=in_pages, in_macros=True)
        ]
        linked = any(wanted.is_linked(words, shown=True) for words in known.values())
        if linked or any(_may_refer(index, path, family) for path in named):
            found.add(sym_id)
    return found


def _is_named(
    symbol: Symbol, wanted: unread.Wanted, path: str, words: frozenset[int] | None, *, shown: bool, in_pages: bool, in_macros: bool
) -> bool:
    """`words`: None for a file that was not searched, where any name may stand."""
    is_own = path == symbol.record.path
    return words is None or wanted.is_named(words, shown=shown, own=is_own, in_pages=in_pages, in_macros=in_macros)


def _runs_in_pages(family: Collection[str]) -> bool:
    return not family or any(record_of(language).family == TYPESCRIPT.family for language in family)


def _may_refer(index: Index, path: str, family: Collection[str]) -> bool:
    """Whether a file may refer to what languages of this family define: by its own language, or by what it is."""
    if not family:
        return True
    if own := languages_of(index).get(path, ""):
        return own in family
    families = unread.rule_of(path).families
    return not families or any(record_of(language).family in families for language in family)


def owners(symbol: Symbol) -> list[str]:
    """Names of what defines a symbol, one of which stands beside it in an example: of a member its type, else its module and package."""
    record = symbol.record
    if record.kind in _MEMBERS:
        return _WORDS.findall(record.container)[-1:]
    _, _, package, _, *descriptors = [*record.symbol.split(" "), "", "", "", ""]
    return [word for word in _WORDS.findall(f"{package} {' '.join(descriptors)}") if word != record.name]


def _what_of(index: Index, path: str, wanted: unread.Wanted, words: frozenset[int] | None) -> str:
    """The key of the sentence about a file, which has these words."""
    if path in _sources(index):
        if unread.rule_of(path).reads == "bindings":
            return "bindings"
        if words is not None and not wanted.alone.isdisjoint(words):
            return "texts"
        return "macros" if record_of(languages_of(index).get(path, "")).preprocessed else "doctests"
    return _ignored(index).get(path) or unread.rule_of(path).reads


def _reason(what: str, name: str, paths: Sequence[str]) -> Reason:
    one, several = _SENTENCES[what]
    count = len(paths)
    shown = " ".join(shlex.quote(path) for path in paths[:3])
    if what == "bindings" and (hyphened := _HUMP.sub("-\\?", name)) != name:
        look = f"to look: grep -niw {shlex.quote(hyphened)} {shown}{' …' if count > 3 else ''}"
    else:
        look = f"to look: grep -nw {shlex.quote(name)} {shown}{' …' if count > 3 else ''}"
    return of_paths("not_read", f"{count} {one if count == 1 else several} '{name}'; {look}", list(paths))


# ---- what the index knows of such files


def _is_any(index: Index) -> bool:
    return index.keep("any words", lambda: index.row("SELECT 1 FROM skipped_word LIMIT 1") is not None)


def _sources(index: Index) -> frozenset[str]:
    """Documents of which a part is not read."""
    sql = "SELECT w.path FROM skipped_word w ANTI JOIN skipped k USING (path)"
    return index.keep("sources with words", lambda: frozenset(path for (path,) in index.rows(sql)))


def _ignored(index: Index) -> dict[str, str]:
    """Sources that git ignores, or that are another repository's, and which of both."""
    sql = "SELECT path, reason FROM skipped WHERE reason IN ('ignored', 'other_repository')"
    return index.keep("ignored sources", lambda: dict(index.rows(sql)))


def _of_other_reasons(index: Index) -> frozenset[str]:
    """Files that are not read though they could be: `query.facts.completeness` counts them."""
    sql = "SELECT path FROM skipped WHERE reason NOT IN ('not_read', 'ignored', 'other_repository')"
    return index.keep("skipped otherwise", lambda: frozenset(path for (path,) in index.rows(sql)))


def _unsearched(index: Index) -> frozenset[str]:
    """Files of code that were too long to be searched: any name may stand there."""
    sql = "SELECT k.path FROM skipped k ANTI JOIN skipped_word w USING (path) WHERE k.reason = 'not_read'"
    return index.keep("unsearched", lambda: frozenset(path for (path,) in index.rows(sql)))


def _changed(index: Index, drift: Drift) -> dict[str, frozenset[int]]:
    """Words that files have now which are not what they were; none of a file that is gone."""
    paths = drift.unread
    known: dict[tuple[str, ...], dict[str, frozenset[int]]] = index.keep("words now", dict)
    key = tuple(paths)
    if key not in known:
        known.clear()
        texts = {path: read(index.root / path, unread.MOST_BYTES) or b"" for path in paths[:_MOST_LOOKED_AT]}
        known[key] = {path: frozenset(unread.words_of(path, searched_of(path, text))) for path, text in texts.items()}
    return known[key]

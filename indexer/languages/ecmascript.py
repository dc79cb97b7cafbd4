"""TypeScript and JavaScript, with and without JSX."""

from __future__ import annotations

from msgspec.structs import replace

from indexer.languages.hooks import ECMASCRIPT_HOOKS
from indexer.languages.record import Grammar, Language, Locks, Lookup
from indexer.model import NameUse, Role

_TYPESCRIPT = Grammar(
    source=("tree_sitter_typescript", "language_typescript"),
    definitions=("ecmascript.definitions", "typescript.definitions"),
    uses=("ecmascript.uses", "typescript.uses"),
    exports="export",
    ordered=False,
    rebinds=True,
    repair="repair_typescript",
)
_TSX = replace(_TYPESCRIPT, source=("tree_sitter_typescript", "language_tsx"), uses=(*_TYPESCRIPT.uses, "jsx.uses"))
_JAVASCRIPT = replace(
    _TYPESCRIPT,
    source=("tree_sitter_javascript", "language"),
    definitions=("ecmascript.definitions", "javascript.definitions"),
    uses=("ecmascript.uses", "javascript.uses", "jsx.uses"),
    repair="",
)

TYPESCRIPT = Language(
    names=("typescript",),
    family="typescript",
    grammar=_TYPESCRIPT,
    variants=((".tsx", _TSX),),  # `<T>x` means two things
    name_marks=("#", "@"),
    lookups=tuple(Lookup(call=call, use=NameUse.MEMBER, argument=1, of=0, roles=Role(0)) for call in ("spyOn", "stub")),
    file_imports="from",
    package_of="manifest",
    manager="npm",
    runtime_members=frozenset({"toString", "valueOf", "toJSON", "then", "next", "handleEvent"}),
    runtime_starts=("[Symbol.", "[Symbol", "Symbol."),
    satisfies="shape",
    bases_are_named=True,
    members_by_assignment=True,
    merges_declarations=True,
    points_at_texts=True,
    types_are_values=True,
    hooks=ECMASCRIPT_HOOKS,
    parameters="typescript",
    # the language has none of its own but Atomics; these are packages
    locks=Locks(names=("Mutex", "Semaphore", "AsyncLock", "Atomics"), within=("async-mutex", "async-lock", "typescript")),
)
TYPESCRIPT_REACT = replace(TYPESCRIPT, names=("typescriptreact", "tsx"), grammar=_TSX, variants=(), lexer="tsx")
JAVASCRIPT = replace(TYPESCRIPT, names=("javascript",), grammar=_JAVASCRIPT, variants=(), is_compiled=False, merges_declarations=False)
JAVASCRIPT_REACT = replace(JAVASCRIPT, names=("javascriptreact", "jsx"), lexer="jsx")

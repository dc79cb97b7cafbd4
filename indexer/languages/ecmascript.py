"""TypeScript and JavaScript, with and without JSX."""

from __future__ import annotations

from msgspec.structs import replace

from indexer.languages.bridges import ECMASCRIPT_BRIDGES, ECMASCRIPT_OFFERS
from indexer.languages.handing import ECMASCRIPT_HANDS, ECMASCRIPT_KEEPS_NONE
from indexer.languages.hooks import ECMASCRIPT_HOOKS
from indexer.languages.record import Grammar, Language, Locks, Lookup
from indexer.model import NameUse, Role

_TYPESCRIPT = Grammar(
    source=("tree_sitter_typescript", "language_typescript"),
    definitions=("ecmascript.definitions", "typescript.definitions"),
    uses=("ecmascript.uses", "typescript.uses", "ecmascript.operations", "typescript.operations"),
    signs="none",
    exports="export",
    ordered=False,
    rebinds=True,
    repair="repair_typescript",
    flow="ecmascript",
)
_TSX = replace(_TYPESCRIPT, source=("tree_sitter_typescript", "language_tsx"), uses=(*_TYPESCRIPT.uses, "jsx.uses"))
_JAVASCRIPT = replace(
    _TYPESCRIPT,
    source=("tree_sitter_javascript", "language"),
    definitions=("ecmascript.definitions", "javascript.definitions"),
    uses=("ecmascript.uses", "javascript.uses", "jsx.uses", "ecmascript.operations", "javascript.operations"),
    repair="repair_javascript",
)

_SYMBOLS = (
    *("toPrimitive", "toStringTag", "hasInstance", "species", "isConcatSpreadable", "match", "replace", "search", "split"),
    *("unscopables", "dispose", "asyncDispose", "metadata", "observable"),
)
_ITERATORS = ("[Symbol.iterator]", "[Symbol.asyncIterator]")
_CONVERSION = (("[Symbol.toPrimitive]", "valueOf", "toString"),)
_OPERATIONS = (
    ("iterate", (*((name,) for name in _ITERATORS), ("next",), ("return",))),
    ("next", (("next",), ("return",))),
    ("text", (("[Symbol.toPrimitive]", "toString"),)),
    ("primitive", _CONVERSION),
    ("equal", _CONVERSION),
    ("instance_of", (("[Symbol.hasInstance]",),)),
    ("await", (("then",),)),
    ("enter", (("[Symbol.dispose]",), ("[Symbol.asyncDispose]",))),
    ("remake", (("constructor",),)),
)
_RUN_BY = (
    (_ITERATORS, ("Map", "Set", "WeakMap", "WeakSet", "from", "fromAsync", "fromEntries", "groupBy", "all", "allSettled", "any", "race")),
)

_PLAIN = r"(?:readonly )?(?:number|string|boolean|bigint|symbol|void|undefined|null|never)(?:\[\])?"
_CLOSED = rf"^(?:[^(=]*|.*\)) *[?!]?: *{_PLAIN}(?: *\| *{_PLAIN})* *(?:[;,{{]|= *[^>]|$)"

_ASKED_FOR = ("spyOn", "stub", "has", "hasOwn", "Reflect.deleteProperty", "<Pick", "<Omit", " in")
"""What names a member by a string and neither reads nor calls it: tests, types, questions whether it is there."""

_OF_STORES = (
    *(("dispatch", 0), ("commit", 0)),
    *((call, argument) for call in ("mapActions", "mapMutations", "mapGetters", "mapState") for argument in (0, 1)),
)
"""What runs, or reads, a member of a store of Vue by its name, and where that stands."""

_RESERVED = (
    "break case catch class const continue debugger default delete do else enum export extends false finally for function if import in "
    "instanceof new null return super switch this throw true try typeof var void while with yield let static implements interface package "
    "private protected public await"
)

TYPESCRIPT = Language(
    names=("typescript",),
    family="typescript",
    scip="TypeScript",
    grammar=_TYPESCRIPT,
    variants=((".tsx", _TSX),),  # `<T>x` means two things
    keywords=frozenset(_RESERVED.split()),
    fixed_names=frozenset({"constructor", "default", "exports"}),
    name_marks=("#", "@"),
    lookups=(
        *(Lookup(call=call, use=NameUse.MEMBER, argument=1, of=0, roles=Role(0)) for call in _ASKED_FOR),
        *(Lookup(call=call, use=NameUse.MEMBER, argument=1, of=0) for call in ("Reflect.get", "Reflect.set")),
        Lookup(call="hasOwnProperty", use=NameUse.MEMBER, roles=Role(0)),
        *(Lookup(call=call, use=NameUse.MEMBER, argument=argument, roles=Role.READ | Role.CALL) for call, argument in _OF_STORES),
    ),
    file_imports="from",
    renames_by_alias=True,
    package_of="manifest",
    manager="npm",
    project_files=("package.json", "tsconfig*.json", "jsconfig.json", "pnpm-workspace.yaml"),
    runtime_members=frozenset({"toString", "valueOf", "toJSON", "then", "next", "handleEvent"}),
    # of descriptors (`Object.defineProperty`) and of what handles a proxy
    object_members=frozenset(
        (
            "get",
            "set",
            "apply",
            "construct",
            "has",
            "deleteProperty",
            "ownKeys",
            "defineProperty",
            "getOwnPropertyDescriptor",
            "getPrototypeOf",
        )
    ),
    runtime_starts=tuple(f"[Symbol.{name}" for name in _SYMBOLS),
    operations=_OPERATIONS,
    run_by=_RUN_BY,
    runs_texts=frozenset({"eval", "Function"}),
    open_types=r"lib\.(Iterable|AsyncIterable|Iterator|AsyncIterator|IterableIterator|AsyncIterableIterator|PromiseLike|Object)",
    library_files=r"/lib(?:\.[a-z0-9.]+)?\.d\.ts$",
    library_names=r"^\S+ npm typescript \S+ lib/[^/#]+(?:\(\)\.|[#.])$",
    closed_values=_CLOSED,
    reads_by_key=True,
    page_objects=frozenset({"window", "globalThis", "self", "top", "parent"}),
    fields_stand_first=True,
    numbers_members=True,
    satisfies="shape",
    bases_are_named=True,
    members_by_assignment=True,
    merges_declarations=True,
    points_at_texts=True,
    types_are_values=True,
    modules_are_values=True,
    tells_private=True,
    keeps_fields=True,
    makes_annotated=frozenset({"parameters"}),
    hands_objects_to=ECMASCRIPT_HANDS,
    asked_of_objects=frozenset({"handleEvent", "start", "pull", "write", "abort", "close", "cancel", "transform", "flush"}),
    keeps_no_object=ECMASCRIPT_KEEPS_NONE,
    texts=("component",),
    passes_on=r"\bexport\s*\*|\bexport\s*=|\bmodule\.exports\s*=\s*require\b|\b__exportStar\b|\bassign\(\s*(?:module\.)?exports\b",
    looks_at_modules=frozenset({"spyOn", "stub", "mock", "replace", "keys", "getOwnPropertyNames"}),
    binds_late=True,
    hooks=ECMASCRIPT_HOOKS,
    bridges=ECMASCRIPT_BRIDGES,
    offers=ECMASCRIPT_OFFERS,
    parameters="colon",
    # the language has none of its own but Atomics; these are packages
    locks=Locks(names=("Mutex", "Semaphore", "AsyncLock", "Atomics"), within=("async-mutex", "async-lock", "typescript")),
)
TYPESCRIPT_REACT = replace(TYPESCRIPT, names=("typescriptreact", "tsx"), grammar=_TSX, variants=(), lexer="tsx", scip="TypeScriptReact")
JAVASCRIPT = replace(
    TYPESCRIPT,
    types_in_comments=True,
    names=("javascript",),
    scip="JavaScript",
    grammar=_JAVASCRIPT,
    variants=(),
    is_compiled=False,
    merges_declarations=False,
)
JAVASCRIPT_REACT = replace(JAVASCRIPT, names=("javascriptreact", "jsx"), lexer="jsx", scip="JavaScriptReact")

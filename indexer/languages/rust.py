"""Rust."""

from __future__ import annotations

from indexer.languages.bridges import RUST_BRIDGES, RUST_OFFERS
from indexer.languages.hooks import RUST_HOOKS
from indexer.languages.record import Grammar, Language, Locks, Lookup
from indexer.model import NameUse

_SIGNS = {
    "add": "add", "subtract": "sub", "multiply": "mul", "divide": "div", "remainder": "rem", "shift_left": "shl", "shift_right": "shr",
    "bit_and": "bitand", "bit_xor": "bitxor", "bit_or": "bitor",
}  # fmt: skip
_OPERATIONS = (
    *((word, ((member,),)) for word, member in _SIGNS.items()),
    *((f"{word}_in_place", ((f"{member}_assign",),)) for word, member in _SIGNS.items()),
    ("equal", (("eq",),)),
    ("unequal", (("ne", "eq"),)),
    *((word, ((member, "partial_cmp"),)) for word, member in (("less", "lt"), ("less_equal", "le"), ("greater", "gt"))),
    ("greater_equal", (("ge", "partial_cmp"),)),
    ("negate", (("neg",),)),
    ("not", (("not",),)),
    ("dereference", (("deref",), ("deref_mut",))),
    ("get_attribute", (("deref",),)),
    ("get_item", (("index",), ("index_mut",))),
    ("return_early", (("from",), ("branch",), ("from_residual",))),
    ("await", (("into_future", "poll"),)),
    ("iterate", (("into_iter",), ("next",))),
)

RUST = Language(
    names=("rust",),
    family="rust",
    grammar=Grammar(
        source=("tree_sitter_rust", "language"),
        definitions=("rust.definitions",),
        uses=("rust.uses", "rust.operations"),
        signs="all",
        exports="pub",
        namespaces="kinds",
        binds_lower_case=True,
        blank="_",
        path_separator="::",
        rewrite="rewrite_rust",
    ),
    name_marks=("r#", "'"),
    lookups=tuple(
        Lookup(call=f"#{key}", use=NameUse.LINKED)
        for key in ("default", "with", "serialize_with", "deserialize_with", "skip_serializing_if", "getter", "from", "into", "try_from")
    ),
    has_macros=True,
    package_of="manifest",
    manager="cargo",
    project_files=("Cargo.toml", "rust-toolchain", "rust-toolchain.toml"),
    texts=("script",),
    declared_only=True,
    calls_c=r'extern\s*"C[^{]*\{[^}]*\bfn\s+NAME\b|extern\s*"C[^{]*\{[^}]*\bstatic\s+(?:mut\s+)?NAME\b',
    bases_are_named=True,
    parameters="exact",
    locks=Locks(
        names=(
            *("Mutex", "RwLock", "Condvar", "ReentrantMutex", "Semaphore"),
            *(f"Atomic{kind}" for kind in ("Bool", "Ptr", "U8", "U16", "U32", "U64", "Usize", "I8", "I16", "I32", "I64", "Isize")),
        )
    ),
    operations=_OPERATIONS,
    fields_lead_on=True,
    says_implementations=True,
    interfaces_alone_dispatch=True,
    runtime_members=frozenset(
        {
            *("fmt", "drop", "deref", "deref_mut", "next", "next_back", "into_iter", "from_iter", "extend", "poll", "into_future"),
            *("eq", "ne", "cmp", "partial_cmp", "lt", "le", "gt", "ge", "hash", "clone", "default", "from", "into", "try_from", "try_into"),
            *("to_string", "from_str", "source", "description", "as_ref", "as_mut", "borrow", "borrow_mut", "serialize", "deserialize"),
            *("branch", "from_residual", "from_output", "call", "call_mut", "call_once"),
        }
    ),
    runner="cargo",
    hooks=RUST_HOOKS,
    bridges=RUST_BRIDGES,
    offers=RUST_OFFERS,
    tests_have_attributes=True,
    documented_by="rustdoc",
)

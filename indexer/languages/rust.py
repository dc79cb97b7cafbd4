"""Rust."""

from __future__ import annotations

from indexer.languages.hooks import RUST_HOOKS
from indexer.languages.record import Grammar, Language, Locks, Lookup
from indexer.model import NameUse

RUST = Language(
    names=("rust",),
    family="rust",
    grammar=Grammar(
        source=("tree_sitter_rust", "language"),
        definitions=("rust.definitions",),
        uses=("rust.uses",),
        exports="pub",
        namespaces="kinds",
        binds_lower_case=True,
        blank="_",
        path_separator="::",
    ),
    name_marks=("r#", "'"),
    lookups=tuple(
        Lookup(call=f"#{key}", use=NameUse.LINKED)
        for key in ("default", "with", "serialize_with", "deserialize_with", "skip_serializing_if", "getter", "from", "into", "try_from")
    ),
    has_macros=True,
    package_of="manifest",
    manager="cargo",
    declared_only=True,
    parameters="exact",
    locks=Locks(
        names=(
            *("Mutex", "RwLock", "Condvar", "ReentrantMutex", "Semaphore"),
            *(f"Atomic{kind}" for kind in ("Bool", "Ptr", "U8", "U16", "U32", "U64", "Usize", "I8", "I16", "I32", "I64", "Isize")),
        )
    ),
    runtime_members=frozenset(
        {
            *("fmt", "drop", "deref", "deref_mut", "next", "next_back", "into_iter", "from_iter", "extend", "poll", "into_future"),
            *("add", "sub", "mul", "div", "rem", "neg", "not", "bitand", "bitor", "bitxor", "shl", "shr"),
            *("add_assign", "sub_assign", "mul_assign", "div_assign", "rem_assign"),
            *("bitand_assign", "bitor_assign", "bitxor_assign", "shl_assign", "shr_assign", "index", "index_mut"),
            *("eq", "ne", "cmp", "partial_cmp", "lt", "le", "gt", "ge", "hash", "clone", "default", "from", "into", "try_from", "try_into"),
            *("to_string", "from_str", "source", "description", "as_ref", "as_mut", "borrow", "borrow_mut", "serialize", "deserialize"),
            *("branch", "from_residual", "from_output", "call", "call_mut", "call_once"),
        }
    ),
    runner="cargo",
    hooks=RUST_HOOKS,
    tests_have_attributes=True,
    documented_by="rustdoc",
)

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
    runner="cargo",
    hooks=RUST_HOOKS,
    tests_have_attributes=True,
    documented_by="rustdoc",
)

"""Go."""

from __future__ import annotations

from indexer.languages.bridges import GO_BRIDGES, GO_OFFERS
from indexer.languages.handing import GO_HANDS, GO_KEEPS_NONE
from indexer.languages.hooks import GO_HOOKS
from indexer.languages.record import Grammar, Language, Locks, Lookup
from indexer.model import NameUse

_HOLDS = r"(?:\*?(?:map)?\[|(?:<-)?chan )"

GO = Language(
    names=("go",),
    family="go",
    grammar=Grammar(
        source=("tree_sitter_go", "language"),
        definitions=("go.definitions",),
        uses=("go.uses", "go.operations"),
        signs="none",
        exports="capital",
        blank="_",
        rebinds=True,
    ),
    looks_up_by=frozenset({"FieldByName", "MethodByName"}),
    run_by_tags=(("IsZero", "omitzero"),),
    lookups=(
        *(Lookup(call=call, use=NameUse.MEMBER) for call in ("MethodByName", "FieldByName", "{{")),
        Lookup(call="Lookup", use=NameUse.LINKED),
    ),
    imports_folders=True,
    imports_files=False,
    spreads=True,
    manager="go",
    standard_package="github.com/golang/go/src",
    predeclared=frozenset(
        {
            *("append().", "cap().", "clear().", "close().", "complex().", "copy().", "delete().", "imag().", "len().", "make()."),
            *("max().", "min().", "new().", "panic().", "print().", "println().", "real()."),
            *("recover().", "any#", "bool#", "byte#", "comparable#", "error#", "rune#", "string#", "uintptr#"),
            *(f"{kind}{bits}#" for kind in ("int", "uint") for bits in ("", 8, 16, 32, 64)),
            *("float32#", "float64#", "complex64#", "complex128#", "true.", "false.", "iota.", "nil."),
        }
    ),
    project_files=("go.mod", "go.work"),
    texts=("comments",),
    declared_only=True,
    calls_c=r"\bC\.NAME\b",
    builds_choose_files=True,
    imports_hosts=True,
    repeats_values=r"\bconst\s*\(",
    sets_by_place=True,
    runtime_members=frozenset(
        {
            *("String", "Error", "GoString", "Format", "Unwrap", "Is", "As", "Len", "Less", "Swap", "Scan"),
            *("MarshalJSON", "UnmarshalJSON", "MarshalText", "UnmarshalText", "MarshalBinary", "UnmarshalBinary", "MarshalXML"),
            *("UnmarshalXML", "MarshalYAML", "UnmarshalYAML", "GobEncode", "GobDecode", "LogValue"),
        }
    ),
    satisfies="unsaid",
    hands_objects_to=GO_HANDS,
    keeps_no_object=GO_KEEPS_NONE,
    interfaces_alone_dispatch=True,
    open_types=r"builtin\.(builtin\.)?(any|comparable|error)",
    function_types=r"^type \w+(?:\[.*\])? (?:= )?func\b",
    # maps, and what holds values of a type without a name: beside functions it is these that servers have no name of a type for
    closed_values=rf"^(?:(?:var )?[\w, ]+ (?:= )?(?:make\()?{_HOLDS}|func .*\) {_HOLDS}[^()]*$)",
    parameters="name type",
    locks=Locks(
        # a Cond holds a Locker
        names=(
            "Mutex",
            "RWMutex",
            "Locker",
            "Cond",
            "Bool",
            "Int32",
            "Int64",
            "Uint32",
            "Uint64",
            "Uintptr",
            "Pointer",
            "Value",
            "Weighted",
        ),
        within=("sync.", "golang.org/x/sync"),
    ),
    runner="go",
    hooks=GO_HOOKS,
    bridges=GO_BRIDGES,
    offers=GO_OFFERS,
    test_names=("Test", "Fuzz", "Example"),
    main_of_tests="TestMain",
    has_suites=True,
    tests_named_alone=True,
    tests_beside=True,
    runs_by_name=frozenset({"init"}),
    documented_by="go doc",
)

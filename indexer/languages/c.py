"""C, C++ and what is close to them."""

from __future__ import annotations

from msgspec.structs import replace

from indexer.languages.bridges import C_BRIDGES
from indexer.languages.hooks import C_HOOKS
from indexer.languages.record import Grammar, Language, Locks, Lookup
from indexer.model import NameUse

_C = Grammar(
    source=("tree_sitter_c", "language"),
    definitions=("c.definitions",),
    uses=("c.uses", "c.operations"),
    signs="none",
    exports="header",
    namespaces="types",
    prototypes=True,
    conditional=True,
    macros="plain",
)
_CPP = replace(
    _C,
    source=("tree_sitter_cpp", "language"),
    definitions=("c.definitions", "cpp.definitions"),
    uses=("c.uses", "cpp.uses", "cpp.operations"),
    macros="classes",
    signs="own",
    class_named_constructors=True,
    inherits=True,
    overloads=True,
)

_SIGNS = {
    "add": "+", "subtract": "-", "multiply": "*", "divide": "/", "remainder": "%", "shift_left": "<<", "shift_right": ">>",
    "bit_and": "&", "bit_xor": "^", "bit_or": "|",
}  # fmt: skip
_OPERATIONS = (
    *((word, ((f"operator{sign}",),)) for word, sign in _SIGNS.items()),
    *((f"{word}_in_place", ((f"operator{sign}=",),)) for word, sign in _SIGNS.items()),
    ("equal", (("operator==",),)),
    ("unequal", (("operator!=", "operator=="),)),
    *((word, ((f"operator{sign}", "operator<=>"),)) for word, sign in (("less", "<"), ("less_equal", "<="), ("greater", ">"))),
    ("greater_equal", (("operator>=", "operator<=>"),)),
    ("negate", (("operator-",),)),
    ("plus", (("operator+",),)),
    ("invert", (("operator~",),)),
    ("dereference", (("operator*",),)),
    ("member_of", (("operator->",),)),
    ("increment", (("operator++",),)),
    ("decrement", (("operator--",),)),
    ("assign", (("operator=",),)),
    ("get_item", (("operator[]",),)),
    ("call", (("operator()",),)),
    ("iterate", (("begin",), ("end",))),
    ("truth", (("operator bool",),)),
)

_VALUES = ("valarray", "complex", "atomic")
_ADDING = ("accumulate", "reduce", "transform_reduce", "inner_product", "partial_sum", "inclusive_scan", "exclusive_scan")
_REORDERING = ("sort", "partial_sort", "nth_element", "reverse", "rotate", "shuffle", "partition", "next_permutation", "prev_permutation")
"""What exchanges elements by whatever `swap` stands beside their type."""

_RUN_BY = (
    (tuple(f"operator{sign}{end}" for sign in _SIGNS.values() for end in ("", "=")), _VALUES),
    (("operator+",), (*_ADDING, "transform_inclusive_scan", "transform_exclusive_scan", "plus")),
    (("operator-",), ("adjacent_difference", "minus", "negate")),
    *(
        ((f"operator{sign}",), (by,))
        for sign, by in (("/", "divides"), ("%", "modulus"), ("&", "bit_and"), ("|", "bit_or"), ("^", "bit_xor"))
    ),
    (("operator~",), ("bit_not",)),
    (("operator<<",), ("ostream_iterator", "ostream_formatter", "streamed")),
    (("operator>>",), ("istream_iterator", "istream_view", "ws")),
    (("operator[]",), ("move_iterator", "reverse_iterator", "span")),
    (("lock", "unlock", "try_lock"), ("lock_guard", "unique_lock", "scoped_lock", "condition_variable_any")),
    (("lock_shared", "unlock_shared", "try_lock_shared"), ("shared_lock",)),
    (("push_back",), ("back_inserter", "back_insert_iterator", "stack", "queue", "priority_queue")),
    (("push_front",), ("front_inserter", "front_insert_iterator")),
    (("insert",), ("inserter", "insert_iterator")),
    (("swap",), ("swap", "iter_swap", "swap_ranges", *_REORDERING)),
)

C = Language(
    preprocessed=True,
    names=("c",),
    family="c",
    grammar=_C,
    type_before_name=True,
    lookups=tuple(
        Lookup(call=call, use=NameUse.LINKED, argument=1) for call in ("dlsym", "GetProcAddress", "lt_dlsym", "SDL_LoadFunction")
    ),
    calls_c=r"(?m)^(?!\s*(?:return|else|typedef|static)\b)\s*(?:extern\s+)?(?:const\s+)?[A-Za-z_]\w*(?:\s+[A-Za-z_]\w*)*[\s*]+NAME\s*\([^;{}()]*\)\s*;",
    texts=("assembler",),
    file_imports="include",
    is_included=True,
    bodies_elsewhere=True,
    numbers_members=True,
    sets_by_place=True,
    project_is_outermost=True,
    project_files=("compile_commands.json", "compile_flags.txt", ".clangd", "CMakeLists.txt"),
    build_files=("CMakeLists.txt", "Makefile", "makefile", "GNUmakefile"),
    builds_choose_files=True,
    runs_by_name=frozenset(
        {"DllMain", "WinMain", "wWinMain", "LLVMFuzzerTestOneInput", "LLVMFuzzerInitialize", "get_module", "napi_register_module_v1"}
    ),
    parameters="type name",
    locks=Locks(
        names=(
            *(
                "mutex",
                "recursive_mutex",
                "timed_mutex",
                "recursive_timed_mutex",
                "shared_mutex",
                "shared_timed_mutex",
                "atomic",
                "atomic_flag",
            ),
            *("atomic_ref", "condition_variable", "condition_variable_any", "counting_semaphore", "binary_semaphore", "pthread_mutex_t"),
            *("pthread_rwlock_t", "pthread_cond_t", "pthread_spinlock_t", "sem_t", "mtx_t", "cnd_t", "_Atomic"),
            *(f"atomic_{kind}" for kind in ("bool", "char", "short", "int", "uint", "long", "ulong", "size_t", "intptr_t", "uintptr_t")),
        )
    ),
    # what the language runs; and what asks a library of C for these
    runs_by_start=("~", "operator", "PyInit_", "luaopen_", "Java_", "JNI_On", "Init_", "R_init_"),
    hooks=C_HOOKS,
    bridges=C_BRIDGES,
    is_native=True,
)
CPP = replace(
    C,
    names=("cpp",),
    scip="CPP",
    calls_c=r'extern\s*"C"[^;{}]*\bNAME\s*\(|extern\s*"C"\s*\{[^}]*\bNAME\s*\(',
    grammar=_CPP,
    name_marks=("~",),
    operations=_OPERATIONS,
    operators_outside=True,
    constructs_by_type=True,
    run_by=_RUN_BY,
    # algorithms and containers compare, order, copy and call what they are given, and go through it
    runtime_members=frozenset(
        {
            *("begin", "end", "cbegin", "cend", "rbegin", "rend", "await_ready", "await_suspend", "await_resume", "await_transform"),
            *("get_return_object", "initial_suspend", "final_suspend", "return_void", "return_value", "yield_value", "unhandled_exception"),
            *(f"operator{sign}" for sign in ("==", "!=", "<", "<=", ">", ">=", "<=>", "=", "()", "*", "->", "++", "--", "!", ",", "->*")),
        }
    ),
    runtime_starts=("~", "operator ", 'operator""'),
)
ARDUINO = Language(names=("arduino",), family="arduino", type_before_name=True)
OBJECTIVE_C = Language(names=("objective-c",), family="objective-c", scip="Objective_C", file_imports="include")

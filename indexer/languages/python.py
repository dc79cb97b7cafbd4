"""Python."""

from __future__ import annotations

import keyword

from indexer.languages.bridges import PYTHON_BRIDGES
from indexer.languages.handing import PYTHON_HANDS, PYTHON_KEEPS_NONE
from indexer.languages.hooks import PYTHON_HOOKS
from indexer.languages.record import ANNOTATED_PLACES, Language, Locks, Lookup
from indexer.model import NameUse, Role

_ARITHMETIC = (
    *(("add", "add"), ("subtract", "sub"), ("multiply", "mul"), ("matrix_multiply", "matmul"), ("divide", "truediv")),
    *(("floor_divide", "floordiv"), ("remainder", "mod"), ("power", "pow"), ("shift_left", "lshift"), ("shift_right", "rshift")),
    *(("bit_and", "and"), ("bit_xor", "xor"), ("bit_or", "or")),
)
_ON_THE_RIGHT = ("add_to", "subtract_from", "multiply_by", "matrix_multiply_by", "divide_into", "floor_divide_into", "remainder_of",
                 "power_of", "shift_left_of", "shift_right_of", "bit_and_with", "bit_xor_with", "bit_or_with")  # fmt: skip
_OPERATIONS: tuple[tuple[str, tuple[tuple[str, ...], ...]], ...] = (
    ("iterate", (("__iter__", "__getitem__"), ("__next__",))),
    ("next", (("__next__",),)),
    ("iterate_async", (("__aiter__",), ("__anext__",))),
    ("next_async", (("__anext__",),)),
    ("enter", (("__enter__",), ("__exit__",))),
    ("enter_async", (("__aenter__",), ("__aexit__",))),
    ("await", (("__await__",),)),
    ("call", (("__call__",),)),
    ("get_item", (("__getitem__", "__class_getitem__", "__missing__"),)),
    ("set_item", (("__setitem__",),)),
    ("delete_item", (("__delitem__",),)),
    ("contains", (("__contains__", "__iter__", "__getitem__"),)),
    ("get_attribute", (("__getattr__",), ("__getattribute__",))),
    ("set_attribute", (("__setattr__",),)),
    ("delete_attribute", (("__delattr__",),)),
    ("get_described", (("__get__",),)),
    ("set_described", (("__set__",),)),
    ("delete_described", (("__delete__",),)),
    ("name_described", (("__set_name__",),)),
    ("truth", (("__bool__", "__len__"),)),
    ("length", (("__len__",),)),
    ("remake", (("__new__",), ("__init__",), ("__post_init__",))),
    ("unpack_mapping", (("keys",), ("__getitem__", "__missing__"))),
    ("close", (("close",),)),
    ("close_async", (("aclose",),)),
    ("text", (("__str__", "__repr__"),)),
    ("representation", (("__repr__",),)),
    ("format", (("__format__", "__str__", "__repr__"),)),
    ("bytes", (("__bytes__", "__iter__"),)),
    ("hash", (("__hash__",),)),
    ("integer", (("__int__", "__index__", "__trunc__"),)),
    ("float", (("__float__", "__index__"),)),
    ("absolute", (("__abs__",),)),
    ("round", (("__round__",),)),
    ("reverse", (("__reversed__", "__getitem__"),)),
    ("list_names", (("__dir__",),)),
    ("negate", (("__neg__",),)),
    ("plus", (("__pos__",),)),
    ("invert", (("__invert__",),)),
    ("equal", (("__eq__",),)),
    ("unequal", (("__ne__", "__eq__"),)),
    ("less", (("__lt__",),)),
    ("less_equal", (("__le__",),)),
    ("greater", (("__gt__",),)),
    ("greater_equal", (("__ge__",),)),
    *((word, ((f"__{member}__",),)) for word, member in _ARITHMETIC),
    *((word, ((f"__r{member}__",),)) for word, (_, member) in zip(_ON_THE_RIGHT, _ARITHMETIC, strict=True)),
    *((f"{word}_in_place", ((f"__i{member}__", f"__{member}__"),)) for word, member in _ARITHMETIC),
)
_CONCRETE = "dict|list|tuple|set|frozenset|str|bytes|bytearray|OrderedDict|defaultdict|Counter|deque|UserDict|ChainMap"
_ANSWERED = (
    (rf"(builtins|collections)\.({_CONCRETE}|UserList|UserString)", ("__contains__",)),
    (r"(typing|collections\.abc|_collections_abc)\.(Mapping|MutableMapping|Sequence|MutableSequence)", ("__contains__",)),
    (rf"(builtins|collections)\.({_CONCRETE})", ("__iter__",)),
    (r"builtins\.(str|BaseException|Exception|\w+(Error|Warning|Exit|Interrupt|Iteration))|enum\.\w+", ("__str__",)),
    (r"builtins\.str|enum\.\w+", ("__format__",)),
)
"""`key in x` of a kind of `dict` runs that of `dict`, and neither `__iter__` nor `__getitem__` of its own."""
_RUNTIME = frozenset(
    {
        # containers compare and hash what they hold, sorting compares, a container's text shows its items', logging shows what it is given
        *("__hash__", "__eq__", "__lt__", "__gt__", "__repr__", "__str__"),
        *(
            "__class_getitem__",
            "__del__",
            "__getattribute__",
            "__sizeof__",
            "__length_hint__",
            "__fspath__",
            "__index__",
            "__buffer__",
            "__release_buffer__",
        ),
        *("__copy__", "__deepcopy__", "__replace__", "__reduce__", "__reduce_ex__", "__getstate__", "__setstate__"),
        *("__getnewargs__", "__getnewargs_ex__", "__prepare__", "__mro_entries__", "__instancecheck__", "__subclasscheck__"),
        *("__attrs_post_init__", "__attrs_pre_init__", "__html__", "__rich__", "__rich_console__", "__rich_repr__", "__json__"),
        *("__subclasshook__", "__complex__", "__divmod__", "__rdivmod__", "__ceil__", "__floor__", "__trunc__"),
    }
)

_MADE = ("Lock", "RLock", "Condition", "Semaphore", "BoundedSemaphore")

_NONE = Role(0)
_OF_FIRST = (
    *((call, Role.READ) for call in ("getattr", "getattr_static", "__getattribute__")),
    *((call, Role.WRITE) for call in ("setattr", "__setattr__")),
    *((call, Role.DELETE) for call in ("delattr", "__delattr__")),
    *((call, _NONE) for call in ("hasattr", "monkeypatch.setattr", "monkeypatch.delattr")),
    *((call, _NONE) for call in ("patch.object", "patch.multiple", "spy", "stub")),
)
_REPLACED = ("patch", "patch.dict", "patch.multiple", "monkeypatch.setattr", "monkeypatch.delattr", "setattr", "delattr")
_LOADED = ("import_module", "__import__", "importorskip", "find_spec", "run_module", "import_string", "import_from_string", "resolve_name")
_LOOKUPS = (
    *(Lookup(call=call, use=NameUse.MEMBER, argument=1, of=0, roles=roles) for call, roles in _OF_FIRST),
    *(Lookup(call=call, use=NameUse.OBJECT, roles=_NONE) for call in _REPLACED),
    *(Lookup(call=call, use=NameUse.OBJECT) for call in (*_LOADED, "locate")),
    Lookup(call="attrgetter", use=NameUse.MEMBER, argument=-1),
    Lookup(call="methodcaller", use=NameUse.MEMBER, roles=Role.CALL),
    Lookup(call="usefixtures", use=NameUse.FIXTURE, argument=-1, roles=Role.CALL | Role.FIXTURE),
    *(Lookup(call=call, use=NameUse.FIXTURE, roles=Role.CALL | Role.FIXTURE) for call in ("getfixturevalue", "lazy_fixture")),
    Lookup(call="fixture", use=NameUse.FIXTURE_NAME, argument=-2, keyword="name", roles=_NONE),
    *(Lookup(call=call, use=NameUse.CLASS, keyword="to") for call in ("ForeignKey", "OneToOneField", "ManyToManyField")),
    Lookup(call="ManyToManyField", use=NameUse.CLASS, argument=-2, keyword="through"),
    Lookup(call="relationship", use=NameUse.CLASS, keyword="argument"),
    *(Lookup(call="get_model", use=NameUse.CLASS, argument=argument) for argument in (0, 1)),
)

PYTHON = Language(
    names=("python",),
    family="python",
    comments=("#",),
    decorators_above=True,
    is_indented=True,
    binds_in_file=True,
    keywords=frozenset(keyword.kwlist),
    binders="def|class|type",
    lookups=_LOOKUPS,
    package_of="module",
    imports_names=True,
    is_module=True,
    has_environment=True,
    project_files=(
        *("pyproject.toml", "setup.cfg", "setup.py", "pytest.ini", ".pytest.ini", "tox.ini"),
        *("ty.toml", "pyrightconfig.json", "pyrefly.toml", ".python-version"),
    ),
    refreshes_by_name=True,
    is_compiled=False,
    texts=("template",),
    spreads_mappings=True,
    decides_platform=r"\b(?:sys\.platform|os\.name|version_info|system\(\)|TYPE_CHECKING|implementation\.name)",
    makes_annotated=ANNOTATED_PLACES,
    looks_up_names=True,
    looks_up_by=frozenset({"getattr", "setattr", "hasattr", "delattr", "attrgetter", "methodcaller"}),
    satisfies="protocol",
    fields_by_assignment=True,
    binds_late=True,
    linearises=True,
    type_finders=frozenset({"builtins.getattr", "builtins.globals", "builtins.vars"}),
    types_are_values=True,
    modules_are_values=True,
    hands_objects_to=PYTHON_HANDS,
    asked_of_objects=frozenset(
        {
            *("write", "writelines", "flush", "fileno", "read", "readline", "readinto", "seek", "tell", "close", "isatty"),
            *("find_spec", "find_module", "create_module", "exec_module", "load_module", "invalidate_caches"),
        }
    ),
    keeps_no_object=PYTHON_KEEPS_NONE,
    looks_at_modules=frozenset(
        {
            *("object", "multiple", "setattr", "delattr", "getattr", "hasattr", "reload", "dir", "ismodule", "testmod"),
            *("getsource", "getfile", "getmodule", "getdoc", "getsourcefile", "stub", "mock", "replace"),
            *("assertIs", "assertIsNot", "assertEqual", "assertIn", "assertTrue"),
        }
    ),
    parameters="keyword",
    locks=Locks(
        names=(*_MADE, "CapacityLimiter", "allocate_lock"),
        within=("threading", "_thread", "multiprocessing", "asyncio", "anyio", "trio", "gevent", "eventlet"),
        made=(*_MADE, "LockType", "lock"),
    ),
    operations=_OPERATIONS,
    runtime_members=_RUNTIME,
    module_members=frozenset({"__getattr__", "__dir__"}),
    base_hooks=frozenset({"__init_subclass__"}),
    getters=frozenset({"__getattribute__"}),
    runs_texts=frozenset({"eval", "exec"}),
    metaclasses=frozenset({"builtins.type", "type", "abc.ABCMeta", "ABCMeta", "enum.EnumMeta", "enum.EnumType", "EnumMeta", "EnumType"}),
    answered_outside=_ANSWERED,
    idle_bases=frozenset({"object", "Generic", "Protocol", "ABC", "NamedTuple", "TypedDict", "Hashable", "Sized", "Callable"}),
    open_types=r"(typing|typing_extensions|ty_extensions|_typeshed|collections\.abc|_collections_abc|abc)\..*|builtins\.object",
    open_files=(
        "typing.pyi",
        "typing_extensions.pyi",
        "_internal.pyi",
        "_typeshed/__init__.pyi",
        "_collections_abc.pyi",
        "collections/abc.pyi",
    ),
    closed_results=(
        r"(None|str|bytes|bytearray|int|bool|float|complex|list|dict|set|tuple|frozenset|range|slice|Literal|LiteralString|TypeGuard"
        r"|TypeIs|datetime|date|time|timedelta|Path|Decimal|Pattern|Match|Logger)\b"
    ),
    runner="pytest",
    hooks=PYTHON_HOOKS,
    bridges=PYTHON_BRIDGES,
    test_names=("test",),
    tests_beside=True,
    runs_by_start=("pytest_", "__", "_repr_", "_ipython_"),  # `__unittest`, `__tracebackhide__`
    documented_by="pydoc",
)

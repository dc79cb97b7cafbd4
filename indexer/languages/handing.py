"""Functions of libraries that are given objects: which look members up in them by names, and which call none of them.

Data of the language records (`hands_objects_to`, `keeps_no_object`). Who is in neither, and is no function of the workspace or of the
language's own library, may call any public member.
"""

from __future__ import annotations

OWN_PACKAGES = frozenset({"stdlib", "std", "typescript", "@types/node", "jdk"})
"""Packages of the languages themselves, as monikers have them."""

PYTHON_HANDS = (
    ("register_instance", ""),
    ("getmembers", ""),
    ("vars", r"\.(?:items|values)\("),
    ("getmembers_static", ""),
)
PYTHON_KEEPS_NONE = frozenset(
    {
        *("append", "add", "extend", "insert", "appendleft", "put", "put_nowait", "send", "setdefault", "update", "get", "pop", "remove"),
        *("index", "count", "len", "print", "str", "repr", "bool", "int", "float", "hash", "id", "type", "isinstance"),
        *("issubclass", "super"),
        *("list", "tuple", "set", "dict", "frozenset", "sorted", "reversed", "iter", "next", "enumerate", "zip", "map", "filter"),
        *("any", "all"),
        *("sum", "min", "max", "debug", "info", "warning", "warn", "error", "exception", "critical", "log", "format", "join"),
        *("dumps", "dump"),
        *("copy", "deepcopy", "cast", "raises", "fields", "asdict", "astuple", "replace", "is_dataclass", "pformat", "pprint", "approx"),
        *("TypeVar", "NewType", "Optional", "Union", "field", "partial", "wraps", "signature", "Mock", "MagicMock", "create_autospec"),
        *("assertEqual", "assertNotEqual", "assertIs", "assertIsNot", "assertIsInstance", "assertIn", "assertNotIn", "assertTrue"),
        *("assertFalse", "assertIsNone", "assertIsNotNone", "assertRaises", "assertRaisesRegex", "addCleanup", "hasattr"),
        *("getattr", "setattr"),
        *("if", "elif", "while", "for", "return", "yield", "await", "lambda", "not", "and", "or", "in", "is", "assert", "print_", "with"),
        *("class", "def", "except", "raise", "from", "import", "del"),
    }
)

ECMASCRIPT_HANDS = (("Proxy", ""),)
ECMASCRIPT_KEEPS_NONE = frozenset(
    {
        *("push", "unshift", "add", "set", "delete", "has", "get", "includes", "indexOf", "concat", "splice", "resolve", "reject", "next"),
        *("log", "debug", "info", "warn", "error", "trace", "stringify", "parse", "String", "Number", "Boolean", "isArray", "from"),
        *("of", "keys"),
        *("values", "entries", "freeze", "structuredClone", "expect", "toBe", "toEqual", "toStrictEqual"),
        *("toMatchObject", "toBeInstanceOf"),
        *("toThrow", "equal", "deepEqual", "strictEqual", "ok", "is", "assert", "deepStrictEqual", "throws", "rejects", "spyOn", "mocked"),
        *("fn", "mock", "if", "for", "while", "switch", "catch", "return", "await", "typeof", "function", "super", "constructor", "import"),
        *("useState", "useRef", "useMemo", "useCallback", "useEffect", "useContext", "memo", "forwardRef", "createContext"),
        *("ref", "computed"),
        *("describe", "it", "test", "require", "setState", "dispatch", "emit", "nextTick", "setTimeout", "Promise", "Set", "Map", "Array"),
    }
)

GO_HANDS = (
    ("Register", r"\"net/rpc\""),
    ("RegisterName", r"\"net/rpc\""),
    ("ValueOf", r"\.(?:MethodByName|Method|NumMethod)\("),
    ("TypeOf", r"\.(?:MethodByName|Method|NumMethod)\("),
)
GO_KEEPS_NONE = frozenset(
    {
        *("append", "len", "cap", "new", "make", "copy", "delete", "panic", "close", "print", "println", "min", "max", "clear"),
        *("func", "if"),
        *("for", "switch", "return", "go", "defer", "range", "select", "case", "map", "interface", "struct", "var", "const"),
        *("type", "import"),
        *("Equal", "NotEqual", "Nil", "NotNil", "NoError", "Error", "ErrorIs", "ErrorAs", "True", "False", "Len", "Contains", "IsType"),
        *("Same", "EqualValues", "ElementsMatch", "Empty", "NotEmpty", "Diff", "DeepEqual", "Errorf", "Fatalf", "Fatal", "Log", "Logf"),
        *("Printf", "Println", "Print", "Sprintf", "Sprint", "Fprintf", "Marshal", "Unmarshal", "MarshalIndent", "Encode"),
        *("Decode", "Wrap"),
        *("Wrapf", "Info", "Infof", "Debug", "Debugf", "Warn", "Warnf", "With", "WithField", "WithFields", "Any", "Store", "Send", "Put"),
    }
)

JAVA_HANDS = (("getBeanInfo", ""), ("registerMBean", ""), ("bind", r"\bjava\.rmi\b"), ("rebind", r"\bjava\.rmi\b"))
JAVA_KEEPS_NONE = frozenset(
    {
        *("assertThat", "assertEquals", "assertNotEquals", "assertSame", "assertNotSame", "assertNull", "assertNotNull", "assertTrue"),
        *("assertFalse", "assertThrows", "assertInstanceOf", "assertArrayEquals", "isEqualTo", "isNotEqualTo", "isSameAs", "isInstanceOf"),
        *("isInstanceOfAny", "isExactlyInstanceOf", "hasCauseInstanceOf", "is", "equalTo", "instanceOf", "sameInstance", "containsExactly"),
        *("contains", "fail", "expect", "mock", "spy", "when", "verify", "doReturn", "doThrow", "thenReturn", "thenThrow", "any"),
        *("eq", "same"),
        *("isA", "getLogger", "getLog", "info", "debug", "warn", "error", "trace", "log", "logger", "checkNotNull", "checkArgument"),
        *("checkState", "requireNonNull", "notNull", "isTrue", "of", "ofNullable", "just", "add", "put", "set", "append"),
        *("copyOf", "newArrayList"),
        *("newHashSet", "newHashMap", "asList", "hashCode", "equals", "toString", "compare", "cast", "isAssignableFrom", "toStringHelper"),
    }
)

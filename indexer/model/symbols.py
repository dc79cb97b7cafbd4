"""What a symbol is, what an identifier does, and why we believe what it means."""

from __future__ import annotations

from enum import IntEnum, IntFlag


class SymbolKind(IntEnum):
    """LSP SymbolKind, by number (`tests/test_protocol.py` holds it against lsprotocol's)."""

    FILE = 1
    MODULE = 2
    NAMESPACE = 3
    PACKAGE = 4
    CLASS = 5
    METHOD = 6
    PROPERTY = 7
    FIELD = 8
    CONSTRUCTOR = 9
    ENUM = 10
    INTERFACE = 11
    FUNCTION = 12
    VARIABLE = 13
    CONSTANT = 14
    STRING = 15
    NUMBER = 16
    BOOLEAN = 17
    ARRAY = 18
    OBJECT = 19
    KEY = 20
    NULL = 21
    ENUM_MEMBER = 22
    STRUCT = 23
    EVENT = 24
    OPERATOR = 25
    TYPE_PARAMETER = 26

    @property
    def label(self) -> str:
        """Lower-case words as users type them, e.g. `enum member`."""
        return self.name.lower().replace("_", " ")


CALLABLE_KINDS = frozenset({SymbolKind.FUNCTION, SymbolKind.METHOD, SymbolKind.CONSTRUCTOR})


TYPE_KINDS = frozenset({SymbolKind.CLASS, SymbolKind.INTERFACE, SymbolKind.STRUCT, SymbolKind.ENUM})


SCOPE_KINDS = TYPE_KINDS | CALLABLE_KINDS | {SymbolKind.MODULE, SymbolKind.NAMESPACE, SymbolKind.PROPERTY}
"""What other definitions and statements stand in."""


VALUE_KINDS = frozenset({SymbolKind.PROPERTY, SymbolKind.FIELD, SymbolKind.VARIABLE, SymbolKind.CONSTANT})
"""What holds a value."""


class SymbolFlag(IntFlag):
    LOCAL = 1  # not visible outside its function
    PARAMETER = 2
    EXPORTED = 4
    ASYNC = 8
    PROPERTY = 16  # reading it runs a getter
    STATIC = 32
    CLASSMETHOD = 64
    ABSTRACT = 128
    OVERLOADED = 256
    FIXTURE = 512
    DEPRECATED = 1024
    EXTERNAL = 2048  # lives outside the workspace folders
    CONDITIONAL = 4096  # defined in more than one place of its scope
    IMPLEMENTS = 8192  # stands in what implements an interface: Rust's `impl Trait for T`
    LEFT_OUT = 16384  # defined in parts only that the build leaves out


class Role(IntFlag):
    """What an identifier does where it stands; a set. Bits are stored, so they never change their meaning."""

    DEFINITION = 1
    READ = 2
    WRITE = 4
    CALL = 8
    IMPORT = 16
    DECORATOR = 32
    SUPERTYPE = 64  # named in a class's list of bases
    ANNOTATION = 128  # inside a type annotation
    ARGUMENT = 256  # passed by name to a call: a callback, perhaps
    KEYWORD = 512  # `name` in `f(name=...)`
    DELETE = 1024
    MENTION = 2048  # named in a string, as in `__all__`; in C and C++, in a part that the build leaves out
    FIXTURE = 4096  # a test's parameter that a fixture fills
    STAR = 8192  # a module of which all names are imported
    PATH = 16384  # stands in an import and binds no name: a module on the way, what gets another name
    CONFINED = (
        32768  # read, and the value goes nowhere from here: a member is taken of it, it is compared, tested, discarded, called at once
    )

    @property
    def labels(self) -> list[str]:
        return [role.name.lower() for role in type(self) if role in self and role.name]


class Evidence(IntEnum):
    """Why we believe that an occurrence means its symbol, or that an edge exists.

    Stored as a number; the views print the name in lower case.
    """

    SYNTAX = 0  # certain by the language's scope rules: nobody was asked
    DEFINITION = 1  # textDocument/definition at this very place
    SAME_BINDING = 2  # definition, asked at another occurrence of the same binding in the file
    CALLEE_TYPE = 3  # definition at a call site followed the callee's type (alias, callback, __call__)
    CONSTRUCTOR = 4  # a call of a class runs its __init__ or __new__
    PROPERTY = 5  # an attribute read runs a getter
    DECORATOR = 6  # a bare decorator is called with what it decorates
    INFERRED = 7  # a function given by name to one that calls it at once, a fixture filled by pytest: called here by another's text
    SUBCLASS_LIST = 8  # the base stands in the class's own list
    TYPE_HIERARCHY = 9  # typeHierarchy/supertypes
    INHERITED = 10  # `self.x` by name along the bases of its class, where the server was silent
    OPERATOR = 11  # an operator, a subscript or a comparison runs a member of what it stands beside
    PROTOCOL = 12  # a statement, a built-in function or an assignment does: `with`, `for`, `if`, `str()`, an attribute's descriptor
    STRING = 13  # a string, or a tool's comment, names it: as a dotted name, a path, or by a name that is looked up in it
    ENTRY_POINT = 14  # a manifest names it as what others call or load
    FLOW = 15  # values were followed from where they are made to here (`Via` says which way); the server did not know
    POSSIBLE_FLOW = 16  # the same, and one of many, or an operation on a value that may be of the language's own types: left out by default
    SECOND_SERVER = 17  # another server's definition, where the first had none and values did not lead to one

    @property
    def label(self) -> str:
        return self.name.lower()


class Via(IntEnum):
    """How a function came to where it is called (evidence `flow`). Stored as a number; the views print the name in lower case."""

    NONE = 0
    ARGUMENT = 1
    RETURNED = 2
    STORED = 3  # in a variable
    CONTAINER = 4
    DECORATED = 5
    ATTRIBUTE = 6
    INFERRED_TYPE = 7  # it is a member of what the values before it are

    @property
    def label(self) -> str:
        return self.name.lower()


class NameUse(IntEnum):
    """How the name in a string is taken: what looks it up, and where."""

    DOTTED = 0  # `a.b.C` or `a.b:C` anywhere: names what it leads to, if that is here
    OBJECT = 1  # the same where an object is named for sure, `a` alone too: `mock.patch("a.b.C")`, `import_module("a")`
    ENTRY = 2  # `a.b:f` in a manifest
    MEMBER = 3  # an attribute of something: `getattr(x, "name")`
    GLOBAL = 4  # of this module: `globals()["name"]`
    FIXTURE = 5  # of pytest: `usefixtures("name")`
    CLASS = 6  # `User` or `app.User`, of this module or of all classes that are registered: `ForeignKey("User")`
    LINKED = 7  # by the name that a linker or a loader knows: `dlsym(handle, "name")`
    FILE = 8  # a path from this file on: `./x`
    BEGINNING = 9  # an attribute whose name begins so: `getattr(x, "visit_" + kind)`; empty where any name may be made and is called
    GLOBAL_BEGINNING = 10  # the same of this module: `globals()["visit_" + kind]`
    MODULE = 11  # a module, imported whole by a name that is made at run time, of which this is the beginning: `require("./" + name)`
    FIXTURE_NAME = 12  # of the fixture that stands below it: `@fixture(name="name")`

    @property
    def label(self) -> str:
        return self.name.lower()


class TargetSymbol(IntEnum):
    """What `symbol` of a target says in place of a symbol's key (`indexer.store.facts.TARGETS`)."""

    AT_PLACE = 0  # only the place is known
    NOTHING = 1


class Severity(IntEnum):
    """LSP DiagnosticSeverity, by number."""

    ERROR = 1
    WARNING = 2
    INFORMATION = 3
    HINT = 4

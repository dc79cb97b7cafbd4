"""The words of the index: kinds, roles, evidence, gaps. No IO, imports nothing of ours."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum, IntFlag, StrEnum


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

    @property
    def label(self) -> str:
        return self.name.lower()


class Operation(IntEnum):
    """What a text does to a value without naming the member that runs. Stored as a number, which never changes its meaning.

    Which members those are, `indexer.languages` says of each language.
    """

    ITERATE = 1
    NEXT = 2
    ITERATE_ASYNC = 3
    NEXT_ASYNC = 4
    ENTER = 5  # and exit
    ENTER_ASYNC = 6
    AWAIT = 7
    CALL = 8
    RAISE = 9  # of a class: it is constructed
    GET_ITEM = 10
    SET_ITEM = 11
    DELETE_ITEM = 12
    CONTAINS = 13
    GET_ATTRIBUTE = 14  # one that the type does not define
    SET_ATTRIBUTE = 15
    DELETE_ATTRIBUTE = 16
    GET_DESCRIBED = 17  # of an attribute whose value describes what reading it does
    SET_DESCRIBED = 18
    DELETE_DESCRIBED = 19
    NAME_DESCRIBED = 20
    TRUTH = 21
    LENGTH = 22
    TEXT = 23
    REPRESENTATION = 24
    FORMAT = 25
    BYTES = 26
    HASH = 27
    INTEGER = 28
    FLOAT = 29
    ABSOLUTE = 30
    ROUND = 31
    REVERSE = 32
    LIST_NAMES = 33
    NEGATE = 34
    PLUS = 35
    INVERT = 36
    NOT = 37
    DEREFERENCE = 38
    MEMBER_OF = 39  # `x->name`, where that is an operator of its own
    EQUAL = 40
    UNEQUAL = 41
    LESS = 42
    LESS_EQUAL = 43
    GREATER = 44
    GREATER_EQUAL = 45
    INCREMENT = 46
    DECREMENT = 47
    ASSIGN = 48
    RETURN_EARLY = 49  # `x?`
    ADD = 50
    SUBTRACT = 51
    MULTIPLY = 52
    MATRIX_MULTIPLY = 53
    DIVIDE = 54
    FLOOR_DIVIDE = 55
    REMAINDER = 56
    POWER = 57
    SHIFT_LEFT = 58
    SHIFT_RIGHT = 59
    BIT_AND = 60
    BIT_XOR = 61
    BIT_OR = 62
    ADD_TO = 70  # on the right of ADD, and so on
    SUBTRACT_FROM = 71
    MULTIPLY_BY = 72
    MATRIX_MULTIPLY_BY = 73
    DIVIDE_INTO = 74
    FLOOR_DIVIDE_INTO = 75
    REMAINDER_OF = 76
    POWER_OF = 77
    SHIFT_LEFT_OF = 78
    SHIFT_RIGHT_OF = 79
    BIT_AND_WITH = 80
    BIT_XOR_WITH = 81
    BIT_OR_WITH = 82
    ADD_IN_PLACE = 90
    SUBTRACT_IN_PLACE = 91
    MULTIPLY_IN_PLACE = 92
    MATRIX_MULTIPLY_IN_PLACE = 93
    DIVIDE_IN_PLACE = 94
    FLOOR_DIVIDE_IN_PLACE = 95
    REMAINDER_IN_PLACE = 96
    POWER_IN_PLACE = 97
    SHIFT_LEFT_IN_PLACE = 98
    SHIFT_RIGHT_IN_PLACE = 99
    BIT_AND_IN_PLACE = 100
    BIT_XOR_IN_PLACE = 101
    BIT_OR_IN_PLACE = 102
    CONSTRUCT = 110  # by a declaration that names the type only
    HOLD = 111  # of a type: a template gets it, and may construct values of it
    REMAKE = 112  # one more of the value's class: `type(x)()`
    UNPACK_MAPPING = 113
    CLOSE = 114  # handed to what closes it
    CLOSE_ASYNC = 115
    LOOK_UP = 116  # a member by a name that is made at run time; it is called
    PRIMITIVE = 117  # an operator makes a number or a text of it, as it has it
    INSTANCE_OF = 118  # of what stands for a type: whether a value is of it
    COPY = 119  # all its own members are read
    READ_MADE = 120  # as LOOK_UP, and it is read or written
    INSTANTIATE = 121  # what the parameters of a template say, or what no compiler's tree was there to tell

    @property
    def label(self) -> str:
        return self.name.lower()


class Unwritten(IntEnum):
    """What a compiler puts in where the text does not name it. Stored as a number."""

    MAKE = 0  # an object of a type is made or copied: a constructor
    END = 1  # an object of a type ends: a destructor
    DELETE = 2  # the same of an object that may be of a type below
    CALL = 3  # a function: what a macro, an operator or a conversion calls; of a type where one is named
    AGGREGATE = 5  # an object is made of its parts in braces
    DEFAULT = 6  # a member that the compiler writes as the text asks for: it runs the same of the parts
    VALUE = 7  # a function that a macro names and does not call
    BESIDE = 4  # a function that stands beside a type, where the type has no member of that name


REFLECTED = Operation.ADD_TO - Operation.ADD
"""From an operation on the left of an operator to that on its right."""

IN_PLACE = Operation.ADD_IN_PLACE - Operation.ADD


SIGNS = frozenset(
    {Operation.PRIMITIVE, Operation.INSTANCE_OF, Operation.GET_ITEM, Operation.SET_ITEM, Operation.DELETE_ITEM, Operation.CONTAINS}
    | {Operation.NEGATE, Operation.PLUS, Operation.INVERT, Operation.NOT, Operation.DEREFERENCE, Operation.MEMBER_OF}
    | {operation for operation in Operation if operation >= Operation.EQUAL and operation < Operation.CONSTRUCT}
)
"""Operations that a sign stands for, and no word."""


class Basis(IntEnum):
    """How it is known what type a value has. Stored as a number."""

    INSTANCE = 0  # of a type that is named
    RESULT = 1  # it is what a call gives
    VALUE = 2  # it is what a name holds, of whose type nobody told
    UNKNOWN = 3
    ELSEWHERE = 4  # of a type that the workspace has nothing to do with: a number, a list, what the standard library makes
    SIGN = 5  # it does not matter: what runs is what the server names where the sign stands


class Flow(IntEnum):
    """What a row about the flow of values is (`indexer.store.facts.FLOWS`). Stored as a number.

    "Takes" names the rows that lead to a row, by their `part`.
    """

    ENTER = 0  # what follows stands in the body of the definition in the row `of`; without one, in that of the module. `part` is 1 in the
    # first row of a file in which functions have a `this`: it is followed as ECMAScript says
    NAME = 1  # what an identifier means; with `of`, what that row bound alone reaches it
    ATTRIBUTE = 2  # takes (0) the object
    CALL = 3  # takes what `Handed` says
    ITEM = 4  # takes (0) what holds it, or that is the row `of`; `key`, or any; of `r` and a number, all from that place on
    BIND = 5  # a name; takes (0) the value, which it also gives; with `of`, the variable of that row is set once more
    SET_ATTRIBUTE = 6  # takes the object (0) and the value (1)
    SET_ITEM = 7  # the same, of `key` or any; in ECMAScript takes the name that stands there (2)
    DEFINE = 8  # a function, or, if `part` is 1, a class; takes parameters, and decorators and bases by `Handed`
    PARAMETER = 9  # `part` by `Handed`; takes (0) the default
    LAMBDA = 10  # takes parameters, and (0) the result
    COLLECTION = 11  # takes elements (0), by place
    ITERATE = 12  # an element of what it takes (0)
    ENTER_CONTEXT = 13  # what `with` gives of what it takes (0); `key` says `async` where it is that
    RETURN = 14  # of the body around; takes (0) the value
    YIELD = 15
    YIELD_FROM = 16
    CAUGHT = 17  # an object of the class, or of one of the classes, that it takes (0)
    HOLD = 18  # gives what it takes (0), or what the row `of` gives
    EXTEND = 19  # elements of what it takes as 1 go into what it takes as 0
    COMBINE = 20  # containers of what it takes (0), and what objects give for the sign `key`
    CONSTANT = 21  # `key`
    CUT = 22  # too deep or too long: something here has no rows
    MAPPING = 23  # takes items (0) with their keys, mappings and keys by `Handed`
    THIS = 24  # what the function, or class, in the row `of` is called on
    MODULE = 25  # what the file exports
    EXPORT = 26  # takes (0) what the file exports from then on, which it also gives
    RECORD = 27  # as MAPPING, of properties: they are taken as attributes are
    GLOBAL = 28  # a name that nothing in the file binds: `key`
    REQUIRED = 29  # what the module exports that the string there names
    SUPER = 30  # of the method in the row `of`, what is above its class
    NARROW = 31  # of what it takes (0) objects of a class (1); if `part` is 1, what is of none of them
    KEY = 32  # where the name `key` stands of a property of the RECORD, or of an argument of the CALL, that takes it


class Handed:
    """Numbers of `part`: what a call, a definition or a collection takes a value as."""

    CALLEE = 0
    ARGUMENT = 1  # by place: this and the number before it
    BY_PLACE, BY_NAME, ALL, ALL_NAMED = 0, 1_001, 1_002, 1_003  # parameters; the last two are also `*a`, `**a` of calls and collections
    KEYWORD = 1_004  # with `key`
    TOLD = 1_005  # the constant that says what the call is about
    AS_KEY, NAMED = 1_006, 1_007  # of a mapping; the name of a property, or of an argument, which is no value
    DECORATOR = 1_100  # and up, as they are written
    BASE = 1_200  # and up
    RESULT, METACLASS = 1_300, 1_301  # of a function: a class that its annotation declares the result to be of; of a class
    OWN_RESULT = 1_302  # of a method: `Self`, or the type variable that its first parameter is declared to be of
    EVERY = 1_303  # a parameter that nobody declares, of all that a function is given: `arguments`


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


class Trust(StrEnum):
    """How far a repository is trusted, and so what a language server may execute of it.

    NONE: nothing that lies in the repository or that was installed for it; programs of the system and of lspidx only read it.
    DEPS: what was installed for it too: the interpreter of its environment, its node_modules. Not what is part of the repository.
    FULL: everything: build scripts, proc macros, plugins, the repository's own tools. Servers are not confined.
    """

    NONE = "none"
    DEPS = "deps"
    FULL = "full"

    def covers(self, needed: Trust) -> bool:
        levels = list(Trust)
        return levels.index(self) >= levels.index(needed)


class SkipReason(StrEnum):
    """Why a file of the repository was not crawled. Those about folders and links stand at a path that ends with `/`, or at the link."""

    TOO_LARGE = "too_large"
    TOO_DEEP = "too_deep"  # nested; of a document: read for its text only, no server is asked
    TOO_SLOW = "too_slow"  # of a document: no parser of ours reads it in a time that fits its size; its words are known
    BINARY = "binary"
    NOT_DECODABLE = "not_decodable"
    GENERATED = "generated"
    VENDORED = "vendored"
    MINIFIED = "minified"
    BUNDLED = "bundled"  # many modules in one file
    BUILT = "built"  # a compiler's or a tool's output
    EXCLUDED = "excluded"
    SYMLINK = "symlink"  # to what is read under its own path, or to nothing
    UNLISTED_LINK = "unlisted_link"  # to what is no file of this workspace
    NOT_REGULAR = "not_regular"
    UNREADABLE = "unreadable"
    NOT_CHECKED_OUT = "not_checked_out"  # left out of the work tree by a sparse checkout; words are those of what git has
    LFS_POINTER = "lfs_pointer"  # git-lfs keeps the content elsewhere, and it was not fetched
    NAME_NOT_UTF8 = "name_not_utf8"
    NO_SERVER = "no_server"
    IGNORED = "ignored"  # a source that git ignores, such as settings of one machine
    OTHER_REPOSITORY = "other_repository"  # a source of another repository that lies in this one
    NOT_READ = "not_read"  # a text that no server reads, and that has words which may name symbols (`indexer.unread`)
    NOT_IN_BUILD = "not_in_build"  # of a document: read for its text only, since its server takes no build of it
    NESTED_REPOSITORY = "nested_repository"
    WORK_TREE = "work_tree"  # of this repository or another, inside of this one
    SUBMODULE = "submodule"  # not checked out
    HIDDEN_FOLDER = "hidden_folder"  # of a folder without git


QUESTIONS_CUT = "questions_cut"
"""In place of a reason: so many of a document's questions were not asked, for the limits of questions."""

TREE_KNOWN = "syntax_error: compiled"
"""The reason of a document with a syntax error whose compiler has shown its own tree: all calls of its functions are known."""

CUT = (QUESTIONS_CUT, SkipReason.TOO_DEEP, SkipReason.TOO_SLOW)
"""What the reason of a document begins with that has answers to some questions, or to none, for a limit on what a file may cost. It depends
on the text, so nothing is lost, and no later crawl asks again (ADR 0030, 0041)."""

FOREIGN = (SkipReason.VENDORED, SkipReason.GENERATED, SkipReason.MINIFIED, SkipReason.BUNDLED, SkipReason.BUILT)
"""Reasons that say: not the project's own source. `include` reads such files all the same."""

BY_WORDS = (SkipReason.NOT_READ, SkipReason.IGNORED, SkipReason.OTHER_REPOSITORY)
"""Reasons of texts of which words are known and nothing else: they count where they name what was asked about (`indexer.unread`)."""

BORDERS = (SkipReason.NESTED_REPOSITORY, SkipReason.WORK_TREE, SkipReason.SUBMODULE, SkipReason.HIDDEN_FOLDER)
"""Reasons of whole folders where the workspace ends."""


class LossReason(StrEnum):
    """Why an answer that should be there is not."""

    SERVER_CRASHED = "server_crashed"
    SERVER_TIMEOUT = "server_timeout"
    SERVER_ERROR = "server_error"
    SERVER_PROTOCOL = "server_protocol"
    SERVER_MEMORY = "server_memory"
    SERVER_UNAVAILABLE = "server_unavailable"
    WORKER_CRASHED = "worker_crashed"
    CHANGED_DURING_CRAWL = "changed_during_crawl"
    SYNTAX_ERROR = "syntax_error"
    NOT_READY = "not_ready"
    NOT_CRAWLED = "not_crawled"  # the run was cut off before it came to it
    TIME_LIMIT = "time_limit"  # the file, or its unit, took longer than it may
    QUESTION_LIMIT = "question_limit"  # its unit asks more than it may


class CoverageStatus(StrEnum):
    """The outcome of one method on one document."""

    DONE = "done"
    EMPTY = "empty"
    UNSUPPORTED = "unsupported"
    LOST = "lost"
    SKIPPED = "skipped"


@dataclass(frozen=True, slots=True, kw_only=True)
class Skipped:
    """A file that was looked at and left out, with the reason.

    `words` are the digests (`indexer.text.word_digests`) of all identifiers in it, or, for reasons of BY_WORDS, of those that
    `indexer.unread` says; None where it was not searched.
    """

    path: str
    reason: SkipReason
    language: str = ""
    words: tuple[int, ...] | None = None

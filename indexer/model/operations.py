"""What a text does to values without naming the members that run, and how the types of such values are known."""

from __future__ import annotations

from enum import IntEnum


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


REFLECTED = Operation.ADD_TO - Operation.ADD
"""From an operation on the left of an operator to that on its right."""


IN_PLACE = Operation.ADD_IN_PLACE - Operation.ADD


SIGNS = frozenset(
    {Operation.PRIMITIVE, Operation.INSTANCE_OF, Operation.GET_ITEM, Operation.SET_ITEM, Operation.DELETE_ITEM, Operation.CONTAINS}
    | {Operation.NEGATE, Operation.PLUS, Operation.INVERT, Operation.NOT, Operation.DEREFERENCE, Operation.MEMBER_OF}
    | {operation for operation in Operation if operation >= Operation.EQUAL and operation < Operation.CONSTRUCT}
)
"""Operations that a sign stands for, and no word."""


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


class Basis(IntEnum):
    """How it is known what type a value has. Stored as a number."""

    INSTANCE = 0  # of a type that is named
    RESULT = 1  # it is what a call gives
    VALUE = 2  # it is what a name holds, of whose type nobody told
    UNKNOWN = 3
    ELSEWHERE = 4  # of a type that the workspace has nothing to do with: a number, a list, what the standard library makes
    SIGN = 5  # it does not matter: what runs is what the server names where the sign stands

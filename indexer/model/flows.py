"""The rows that tell of the flow of values (`indexer.store.facts.FLOWS`), and how one takes another."""

from __future__ import annotations

from enum import IntEnum


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
    CAUGHT = 17  # an object of the class, or of one of the classes, that it takes (0); with `of`, such of what that row catches
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
    THROW = 33  # of the body around; takes (0) what is thrown and (1) why
    CATCH = 34  # all that the rows behind the row `of`, and before this one, throw, and what they call; that row gives it, too
    KEY = 32  # where the name `key` stands of a property of the RECORD, or of an argument of the CALL, that takes it


BEFORE = "x"
"""Behind the sign of a row COMBINE that stands before its only operand."""


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

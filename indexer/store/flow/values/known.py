"""What is known while values flow, beside the graph and the calls in it."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import Any, NamedTuple

from indexer.store.flow.text.program import Program
from indexer.store.flow.values.arguments import Arguments
from indexer.store.flow.values.calling import Sites
from indexer.store.flow.values.properties import Properties, Told
from indexer.store.flow.values.records import Models
from indexer.store.flow.values.sites import Begun, Signature, Site

OWN = -1
"""In place of a class that a result is declared to be of: the one that the method is called on."""


class Loaded(NamedTuple):
    """An attribute of a value, wherever it is asked for: its node, what the value is, the member of its class and of its metaclass."""

    node: int
    sort: int
    first: int
    member: int
    of_meta: int


class Form:
    """What `__get__` gives."""

    ITSELF = 0  # the descriptor
    HELD = 1  # what it was made with
    BOUND = 2  # that, or the descriptor itself, with what it is read of as the first argument
    RESULT = 3  # what that gives of what it is read of


class Given(NamedTuple):
    """One of the results of `__get__`.

    Attributes:
        place, name: of the argument of the descriptor's class that it is about; -1 for the descriptor itself.
        is_owner: the class is handed over, not the object.
    """

    form: int
    place: int = -1
    name: str = ""
    is_owner: bool = False


class Known(Sites):
    """Holds it."""

    def __init__(self, program: Program, call: Callable[[Any, Site, int], None]) -> None:
        super().__init__(program)
        self.signatures: dict[int, list[Signature]] = {}  # by symbol
        self.lambdas: dict[int, tuple[Signature, int]] = {}  # by row: and the node of its result
        self.gives_back: dict[int, list[int]] = {}  # by symbol: places of parameters that it returns
        self.defaults: dict[int, list[int]] = {}  # by parameter: nodes of what it is where a call gives nothing
        self.compared: list[tuple[int, int, tuple[str, ...]]] = []  # row, node, and names of which each object there runs the first it has
        self.rest_at: set[int] = set()  # rows where items of a container may be called that are more than a node keeps
        self.begun: list[Begun] = []
        self.class_names: dict[str, list[int]] = {}  # classes of the workspace, once they are asked for
        self.remade: set[int] = set()  # functions whose decorators may make another one of them
        self.records: set[int] = set()  # classes whose arguments are their fields
        self.nothing = self.graph.node()  # what is handed over and holds no value that flows
        self.defined_at: dict[int, int] = {}  # by function or class: the row of its definition
        self.defined: set[int] = set()  # functions and classes whose text is here
        self.fallbacks: list[tuple[int, int]] = []  # node, value that is taken where nothing else came
        self.narrowed: list[tuple[int, tuple[int, ...]]] = []  # row, classes of one of which it is
        self.remade_calls: set[tuple[int, int]] = set()  # row and symbol: a call of a decorated function, and what its decorator made
        self.declared: list[tuple[int, int]] = []  # function, class that its result is declared to be of, or OWN
        self.read: dict[tuple[int, int], None] = {}  # row of an attribute and the member that it means
        self.bases: list[tuple[int, int, str]] = []  # class, the row of what it extends where that is no name of a type, and its name
        self.binds: dict[int, int] = {}  # by row of a binding, or of a call of no name: what it takes first
        self._binders: dict[int, int] = {}  # by symbol: the row that binds it first
        self._load_again: dict[tuple[int, str], Loaded] = {}  # by value and name of an attribute
        self._linked: set[tuple[str, int]] = set()
        self._bindings: set[tuple[int, int, int, int]] = set()
        self._call = call
        self.lookups: dict[int, list[tuple[int, list[int]]]] = {}  # by function: place of a name, nodes of objects: it gives their member
        self.wrappers: dict[int, list[tuple[int, int]]] = {}  # by function: place of what the function that it returns wraps, and that
        self.set_names: set[str] = set()  # of attributes that something is set by
        self.texts: set[str] = set()  # constants that may be such names
        self.unfound: dict[
            tuple[int, int, str], tuple[int, int, bool]
        ] = {}  # row, object, name: its node, where that goes, is `__getattr__` asked
        self.described_at: dict[
            tuple[int, str, int], None
        ] = {}  # member, `__get__` or `__set__`, and the row of an attribute that means it
        self.weakly_read: list[tuple[int, int, str]] = []  # row, object, name by which something was set by a name that is a value
        self.made_classes: list[tuple[int, int]] = []  # row of the statement, class
        self._waiting: dict[tuple[int, str], list[tuple[int, int]]] = {}  # class and name: who wants what is set there
        self._copies: dict[int, list[int]] = {}
        self._copy_waiting: dict[int, list[tuple[str, int, int]]] = {}
        self.stored: set[tuple[int, str]] = set()  # class and name of what is set in it, or in objects of it, and is no member
        self.weakly_set: dict[tuple[int, str], int] = {}  # by class and name: the node of what is set by a name that is a value
        self.is_weakly_set: dict[tuple[int, str], bool] = {}  # by value and name
        self.weak_names: set[str] = set()  # by which something is set, by a name that is a value
        self.fallen_back: set[tuple[int, int, str]] = set()
        self.may_copy = False  # whether a class may have copies of another's members
        self._asks = any("__getattr__" in known for known in program.members.values())
        self.kept_by: dict[int, int] = {}  # by method: the class of its decorator, of a kind of `classmethod` or the like
        self.instead: dict[int, int] = {}  # by function of which `singledispatch` made one of several: the node of the others
        self.arguments = Arguments()
        self.properties = Properties()
        self.told = Told()  # what identifiers mean that is a property which an assignment makes
        self.made_by: dict[int, int] = {}  # by row of the name of `type`, where it is called, the class that it makes
        self.below: dict[int, list[int]] = {}  # by class those that inherit from it
        self.lacking: list[tuple[int, int, str, int]] = []  # row, object, name that no class of its order has, where that goes
        self.of_below: set[int] = set()  # rows of attributes that the class leaves empty, and classes below it set
        self.set_at: list[tuple[int, int, int]] = []  # row of a call of `setattr` by a name that is a value, nodes of objects and names
        self.mapping_of: Callable[[int], int] = lambda call: -1  # by row of a call of `setattr` in a loop over `x.items()` the node of x
        self.decorated_classes: set[int] = set()
        self.decorated_to: list[tuple[int, int]] = []  # a class, and the node of what its decorators give
        self.names_itself = any("__set_name__" in known for known in program.members.values())
        self.models = Models(program)
        self.getters: dict[int, tuple[Given, ...]] = {}  # by class of descriptors what these give, where the text says it
        self._held_first: dict[int, int] = {}  # by value the number of the call that holds it as first argument
        self.is_described = any("__get__" in known or "__set__" in known for known in program.members.values())

    def bound_at(self, sym_id: int, row: int) -> None:
        self._binders.setdefault(sym_id, row)

    def bound_by(self, row: int) -> int:
        """The row that binds what a name means, or -1."""
        return next((self._binders[sym_id] for sym_id in self.program.means.get(row, ()) if sym_id in self._binders), -1)

    def goes_on(self, site: Site, value: int) -> None:
        self._call(self, site, value)

    @abstractmethod
    def load(self, value: int, name: str, target: int, row: int, told_at: int = -1) -> None:
        """`value.name` goes to `target`.

        Args:
            row: that of the attribute, -1 where a library looks it up. told_at: where that tells what runs.
        """

"""One request under way: what it is about, the tools that it asks, and what is said of how complete its answer is."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from indexer.errors import AmbiguousName
from query.answers.envelope import Answer, Completeness, Provenance
from query.facts.completeness import Certificate
from query.facts.index import Index
from query.lsp import notices
from query.lsp.later import Later
from query.lsp.notices import Notices
from query.lsp.params import AtPosition
from query.lsp.pool import Job
from query.lsp.rooms import Documents, Options, Room, Rooms, path_of
from query.lsp.texts import Encoding, Point
from query.lsp.views import Kept, View, Views
from query.lsp.wire import Wire


class Moved(Exception):
    """Another index was published while a request was answered: it is asked anew, since places of the two do not go together."""


@dataclasses.dataclass(kw_only=True)
class Desk:
    """What all requests of one client share; the client's abilities as of its `initialize`.

    is_nested: outlines are trees. is_versioned: edits name the versions of documents. is_markdown: hovers may be Markdown.
    refreshes: requests by which it takes word that lenses or diagnostics are others now.
    look: has the client shown how far the index of a folder is, where one is being made.
    """

    wire: Wire
    notices: Notices
    rooms: Rooms
    options: Options
    kept: Kept = dataclasses.field(default_factory=Kept)
    encoding: Encoding = "utf-16"
    is_nested: bool = False
    is_versioned: bool = False
    is_markdown: bool = True
    shows_progress: bool = False
    pulls: bool = False
    refreshes: tuple[str, ...] = ()
    look: Callable[[Room], None] = lambda room: None


class Spot(NamedTuple):
    """What a request is about. `point`: in the client's text; `at`: in the indexed text, None where it is not there."""

    room: Room
    views: Views
    view: View
    uri: str
    point: Point
    at: Point | None

    @property
    def is_carried(self) -> bool:
        return not self.view.is_same


class Ask:
    """One request. `documents`: what the client had open when it came."""

    def __init__(self, desk: Desk, job: Job, method: str, documents: Documents) -> None:
        self.desk, self.job, self.method, self.documents = desk, job, method, documents
        self._laters: list[Later] = []
        self._untold: list[Callable[[], None]] = []

    # ---- what it is about

    def views(self, room: Room) -> Views:
        return Views(room, room.index, self.documents, self.desk.encoding, self.desk.kept)

    def document(self, uri: str) -> tuple[Room, Views, View] | None:
        """None where the URI names no file of the client's folders."""
        path = path_of(uri)
        room = self.desk.rooms.of(path)
        if room is None:
            return None
        views = self.views(room)
        return room, views, views.of(path)

    def spot(self, params: AtPosition) -> Spot | None:
        found = self.document(params.text_document.uri)
        if found is None:
            return None
        room, views, view = found
        point = views.point(view, params.position)
        is_known = views.index is None or bool(room.in_index(views.index, view.path))
        return Spot(room, views, view, params.text_document.uri, point, views.indexed(view, point) if is_known else None)

    # ---- tools

    def at(self, spot: Spot, name: str, /, *, now: bool = False, **arguments: Any) -> list[Answer[Any]]:
        """The answers of a tool about the place that the request is about: several where what stands there means several symbols.

        Args:
            now: as `ask_now`.
        """
        ask = self.ask_now if now else self.ask
        assert spot.at is not None
        where = {"file_path": spot.view.path, "line": spot.at.line + 1, "column": spot.at.col + 1}
        try:
            return [ask(spot.room, spot.views, name, **where, **arguments)]
        except AmbiguousName as error:
            return [ask(spot.room, spot.views, name, symbol=each["symbol"], **arguments) for each in error.candidates]

    def ask(self, room: Room, views: Views, name: str, /, **arguments: Any) -> Answer[Any]:
        """The answer of a tool; how complete it is about uses is found out when it is told, see `certify`.

        Raises:
            Moved: it is of another index than the views. Whatever the tool raises.
        """
        return self._asked(room, views, name, lambda index: self._kept(Later(index, views.unsaved())), arguments)

    def ask_now(self, room: Room, views: Views, name: str, /, **arguments: Any) -> Answer[Any]:
        """The same with its completeness."""
        return self._asked(room, views, name, lambda index: Certificate(index, views.unsaved()), arguments)

    def _kept(self, later: Later) -> Later:
        self._laters.append(later)
        return later

    def _asked(
        self, room: Room, views: Views, name: str, certificate: Callable[[Index], Certificate], arguments: Mapping[str, Any]
    ) -> Answer[Any]:
        def progress(done: int, total: int, what: str) -> None:
            self.job.progress(done, total, what)
            self.desk.look(room)

        self.job.uses(room.index)
        answer = room.service.whole(name, arguments, progress=progress, certificate=certificate)
        if room.index is not views.index:
            raise Moved
        return answer

    def record(self, answer: Answer[Any], views: Views) -> Index | None:
        """The index that an answer's symbols are looked up in; None where running servers gave it."""
        return views.index if answer.provenance.source == "index" else None

    # ---- how complete

    def certify(
        self, uri: str, answers: Sequence[Answer[Any]], views: Views, *, lost: int = 0, beyond: int = 0, of_uses: bool = False
    ) -> None:
        """Tells how complete these answers are, once the client has them.

        Args:
            lost: so many of their places are not in the client's texts. of_uses: any file may add to them.
            beyond: so many of their symbols lie outside of the workspace, where the index knows no place.
        """
        laters, self._laters = self._laters, []

        def tell() -> None:
            known = [*(answer.completeness for answer in answers), *(told for later in laters for told in later.settled())]
            completeness = notices.doubted(notices.together(known), views.unknown() if of_uses else [], lost, beyond)
            self._tell(uri, completeness, answers[0].provenance if answers else None)

        self._untold.append(tell)

    def tell(self, uri: str, completeness: Completeness, provenance: Provenance | None = None) -> None:
        """The same where it is known already."""
        self._untold.append(lambda: self._tell(uri, completeness, provenance))

    def tell_all(self) -> None:
        """What is to be told of the answer, which the client has by now."""
        untold, self._untold = self._untold, []
        for tell in untold:
            tell()

    def forget(self) -> None:
        """Of an answer that is thrown away."""
        self._laters, self._untold = [], []

    def _tell(self, uri: str, completeness: Completeness, provenance: Provenance | None) -> None:
        self.desk.notices.tell(self.job.number, self.method, uri, completeness, provenance)

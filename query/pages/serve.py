"""`lspidx serve`: the pages by HTTP, for one person on this machine.

Whoever asks shows a token: in the address once, by a cookie from then on. The name of the host is checked, so that a page of somebody else
whose name leads here (DNS rebinding) is refused; no answer may be read by other origins. Nothing is written, and only `GET` and `HEAD` are
answered. The index that is newest is asked, and each page says whether the work tree has moved on.
"""

from __future__ import annotations

import hmac
import socket
import threading
from collections.abc import Callable
from pathlib import Path

import anyio
import click
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.types import Receive, Scope, Send

from indexer.errors import LspidxError, UsageError
from query.facts.index import Index
from query.pages import lists, names
from query.pages.book import Book
from query.pages.markup import POLICY, Page, asset, el, join, stylesheet
from query.surface import listening as web
from query.surface.render import error_text
from query.surface.service import Service

HOST = "127.0.0.1"
_HEADERS = {
    "Content-Security-Policy": POLICY.format(forms="'self'") + "; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}


class Server:
    """The pages of the newest index, as an ASGI application.

    Args of `__init__`: token: what who asks has to show. hosts: what a request may call us, with the port.
    """

    def __init__(self, service: Service, token: str, hosts: frozenset[str], port: int) -> None:
        self._service = service
        self._token = token.encode()
        self._hosts = hosts
        self._cookie = f"lspidx-{port}"  # cookies know no ports: two servers must not take each other's
        self._lock = threading.Lock()
        self._book: Book | None = None
        self._names: tuple[Index, str] | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        request = Request(scope, receive)
        response = self._refused(request) or self._entered(request)
        if response is None:
            response = await anyio.to_thread.run_sync(self._answer, request)
        response.headers.update(_HEADERS)
        await response(scope, receive, send)

    # ---- who may ask

    def _refused(self, request: Request) -> Response | None:
        hosts = request.headers.getlist("host")
        if len(hosts) != 1 or hosts[0].lower() not in self._hosts:
            return _plain(403, "refused: this server is asked by another name than its own")
        if not self._is_shown(request.query_params.get("token", "")) and not self._is_shown(request.cookies.get(self._cookie, "")):
            return _plain(403, "refused: open the whole address that `lspidx serve` has printed, with its token")
        if request.method not in ("GET", "HEAD"):
            return _plain(405, "these pages are read only", {"Allow": "GET, HEAD"})
        return None

    def _is_shown(self, token: str) -> bool:
        return hmac.compare_digest(token.encode("utf-8", "replace"), self._token)

    def _entered(self, request: Request) -> Response | None:
        """Takes the token out of the address, where it would be read over a shoulder, and kept in a history."""
        if "token" not in request.query_params:
            return None
        name = _name_of(request)
        response = RedirectResponse(f"/{name}" if name is not None else "/", 303)
        token = self._token.decode()
        response.set_cookie(self._cookie, token, path="/", httponly=True, samesite="strict")
        return response

    # ---- what they get

    def _answer(self, request: Request) -> Response:
        name = _name_of(request)
        try:
            if name is None:
                return _plain(404, "there is no such page")
            if name in _FILES:
                make, kind = _FILES[name]
                return Response(make(), media_type=kind)
            book = self._now()
            if name == names.NAMES:
                return Response(self._names_of(book), media_type="text/javascript")
            if name == names.SEARCH:
                return _html(book.frame.around(lists.hits(book, request.query_params.get("q", ""))))
            made = book.page(name)
            if made is None:
                missing = el("p", "There is no such page in this index. It may have been in one before.")
                body = join([el("h1", "Not found"), missing, el("p", el("a", "All files", href=names.root_of(name) + names.HOME))])
                return _html(book.frame.around(Page(name=name, title="Not found", body=body)), 404)
            return _html(made)
        except LspidxError as error:
            return _plain(503, click.unstyle(error_text(error)))

    def _now(self) -> Book:
        index = self._service.index()
        with self._lock:
            if self._book is None or self._book.index is not index:
                self._book = Book(index, is_live=True)
                return self._book
            book = self._book
        return book.now()

    def _names_of(self, book: Book) -> str:
        known = self._names
        if known is None or known[0] is not book.index:
            known = self._names = (book.index, lists.names_script(book))
        return known[1]


_FILES: dict[str, tuple[Callable[[], str], str]] = {
    names.STYLE: (stylesheet, "text/css"),
    names.SCRIPT: (lambda: asset("pages.js"), "text/javascript"),
}


def _name_of(request: Request) -> str | None:
    """The page that a path names; None where it can be none of ours."""
    path = request.url.path.removeprefix("/") or names.HOME
    folder, _, last = path.rpartition("/")
    if folder in names.PLACES:
        return path if names.PAGE.fullmatch(last) else None
    return path if path in (names.HOME, names.SEARCH, *lists.PAGES) else None


def _html(text: str, status: int = 200) -> Response:
    return Response(text.encode("utf-8", "backslashreplace"), status, media_type="text/html")


def _plain(status: int, text: str, headers: dict[str, str] | None = None) -> Response:
    return Response(text + "\n", status, headers=headers, media_type="text/plain")


def serve(start: Path, token: str, port: int, say: Callable[[str], None]) -> None:
    """Returns when it is told to end.

    Args:
        port: 0 for a free one. say: told the address, with the token, when it can be opened.
    Raises:
        UsageError: the port cannot be taken. NoIndex and others: there is nothing to show.
    """
    service = Service(start, edits=False)
    service.index()
    try:
        listening = socket.create_server((HOST, port))
    except OSError as error:
        raise UsageError(f"cannot listen on port {port}: {error.strerror or error}") from error
    with listening:
        port = listening.getsockname()[1]
        hosts = frozenset(f"{name}:{port}" for name in (HOST, "localhost"))
        say(f"http://{HOST}:{port}/?token={token}")
        try:
            web.serve(Server(service, token, hosts, port), listening)
        finally:
            service.close()

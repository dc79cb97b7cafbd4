"""HTML that cannot be anything but what we wrote: text is escaped where it becomes part of a page, and only here is markup made.

`Html` is text that is markup already. Everything else that is given to `el` is text of somebody: what steers, hides or turns a line round
is spelled out (`indexer.quoting`), then `<`, `>`, `&` and quotes are escaped.
"""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from importlib.resources import files

from indexer.quoting import one_line, visible
from query.answers.envelope import Completeness, Provenance, Reason
from query.pages import names

_SLOT = re.compile(r"\{\{(\w+)\}\}")
_BARE = re.compile(r"[A-Za-z0-9_.#/-]*[A-Za-z0-9_.#-]")
"""Values that need no quotes: half of what is written are links."""

POLICY = "default-src 'none'; style-src 'self'; script-src 'self'; base-uri 'none'; form-action {forms}"
_MOST_REASONS = 40
_MOST_PATHS = 3


class Html(str):
    """Markup of our own."""

    __slots__ = ()


def text(value: object) -> Html:
    """A name, a path, a line, as text of a page: on one line, nothing in it steers."""
    return value if isinstance(value, Html) else Html(html.escape(one_line(str(value))))


def lines(value: str) -> Html:
    """Text of several lines, as text of a page."""
    return Html(html.escape(visible(value)))


def el(name: str, /, *children: object, **attributes: object) -> Html:
    """An element. Attributes by keyword: `class_` for `class`; one that is None or False is left out, True has no value."""
    given = ""
    for key, value in attributes.items():
        if value is None or value is False:
            continue
        word = key.rstrip("_").replace("_", "-")
        shown = text(value)
        given += f" {word}" if value is True else f" {word}={shown}" if _BARE.fullmatch(shown) else f' {word}="{shown}"'
    inside = "".join(map(text, children))
    return Html(f"<{name}{given}>" if name in ("input", "br", "wbr") else f"<{name}{given}>{inside}</{name}>")


def join(parts: Iterable[object], between: str = "") -> Html:
    return Html(between.join(map(text, parts)))


def number(value: int, what: str = "", several: str = "") -> str:
    """`1 file`, `1,234 files`."""
    return f"{value:,} {what if value == 1 else several or what + 's'}".strip()


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """A page before it has its frame. `name`: its own. `notice`: what is to be said above everything, such as that the tree moved on."""

    name: str
    title: str
    body: Html
    here: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    """What all pages share. `is_live`: they are served, so that a form without a script finds somebody who answers."""

    project: str
    made: str
    notice: Html
    is_live: bool

    def around(self, page: Page) -> str:
        root = names.root_of(page.name)
        policy = POLICY.format(forms="'self'" if self.is_live else "'none'")
        links = [
            ("Files", names.HOME),
            ("Map", names.MAP),
            ("Unresolved", names.UNRESOLVED),
            ("Unreferenced", names.UNREFERENCED),
            ("Untested", names.UNTESTED),
        ]
        current = page.here or page.name
        nav = join(el("a", label, href=root + name, aria_current="page" if current == name else None) for label, name in links)
        slots = {
            "policy": "" if self.is_live else f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n',
            "title": text(f"{page.title} · {self.project}"),
            "root": root,
            "project": text(self.project),
            "nav": nav,
            "notice": self.notice,
            "body": page.body,
            "made": text(self.made),
            "form": _form(root + names.SEARCH) if self.is_live else "",
            "live": "live" if self.is_live else "static",
        }
        return _SLOT.sub(lambda slot: slots[slot[1]], asset("page.html"))


def _form(action: str) -> Html:
    field = el(
        "input", id="q", name="q", type="search", autocomplete="off", spellcheck="false", placeholder="Search a name  /", maxlength=200
    )
    label = el("label", "Search a name", for_="q", class_="away")
    return el("form", label, field, id="find", role="search", action=action, method="get")


def asset(name: str) -> str:
    found = _assets.get(name)
    if found is None:
        found = _assets[name] = files("query.pages").joinpath(name).read_text(encoding="utf-8").replace("\r\n", "\n")
    return found


_assets: dict[str, str] = {}


def origin(source: Provenance) -> str:
    """Where the facts of a page come from, on one line."""
    commit = f"commit {source.commit[:10]}{' and changes' if source.dirty else ''}" if source.commit else ""
    when = f"{'imported ' if source.imported else ''}{source.indexed_at} UTC" if source.indexed_at else ""
    foreign = "FOREIGN INDEX: nobody can tell that you made it" if source.foreign is True else ""
    return " · ".join(filter(None, [foreign, ", ".join(source.servers), commit, when]))


def standing(known: Completeness | None, command: str, place: Callable[[str], Html]) -> Html:
    """How complete a list is, in the words of the tool that gave it.

    Args:
        known: None where nobody has asked, which the page says once. command: what asks for the list.
        place: a path as a link, or as what it says.
    """
    if known is None:
        return el("p", el("span", "unknown", class_="badge unknown"), " not asked", class_="standing")
    badge = el("span", known.status, class_=f"badge {known.status}")
    if not known.reasons:
        said = " nothing that is known of is missing" if known.status == "complete" else ""
        return el("p", badge, said, class_="standing")
    rows = [
        el(
            "li",
            el("code", reason.code),
            " ",
            reason.detail,
            *_paths(reason, place),
        )
        for reason in known.reasons[:_MOST_REASONS]
    ]
    more = len(known.reasons) - len(rows)
    if more:
        rows.append(el("li", f"and {number(more, 'reason')} more: ", el("code", command)))
    summary = el("summary", badge, f" {number(len(known.reasons), 'reason')} why something may be missing")
    return el("details", summary, el("ul", *rows), class_="standing")


def _paths(reason: Reason, place: Callable[[str], Html]) -> list[Html]:
    if not reason.paths:
        return []
    shown = [place(path) for path in reason.paths[:_MOST_PATHS]]
    more = text(f", and {len(reason.paths) - len(shown)} more") if len(reason.paths) > len(shown) else Html()
    return [Html(" <span class=dim>("), join(shown, ", "), more, Html(")</span>")]


def stylesheet() -> str:
    """Of all pages; the rules of pictures are those of reports."""
    from query.reports.svg import css

    return asset("pages.css") + css()

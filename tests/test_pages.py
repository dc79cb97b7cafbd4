"""The index as pages: what leads where, that the lists are the tools' own, that nothing of a repository is markup, and who may ask."""

from __future__ import annotations

import html
import http.client
import os
import re
import select
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import pytest
from query_support import lspidx
from support import crawl_with_ty, write_tree

from indexer.errors import UsageError
from query.facts import lexed as lexed_texts
from query.facts import linked
from query.facts.index import Index, open_index
from query.facts.linked import Described
from query.pages import names, source, symbols, texts
from query.pages import out as out_folder
from query.pages.book import Book
from query.pages.site import write
from query.pages.source import MOST_BYTES, Link
from query.surface.registry import call

pytest_plugins = ["query_fixtures"]

HOSTILE_FILES = (
    "<img src=x onerror=alert(1)>.py",
    "a'b\"><script>alert(2)</script>.py",
    "CON.py",
    "con.py",
    "Aux/nul.py",
    "\u202egnp.py",
    "x" * 200 + ".py",
    "..py",
    "&lt;b&gt;.py",
)
HOSTILE_TEXT = '''"""</pre><script>alert(3)</script> <img src=x onerror=alert(4)>"""


def turned(value: str = "\u202e</a><b>&amp;") -> str:
    """<svg onload=alert(5)> \u2066hidden\u2069 \x1b[31m"""
    return value  # --> ]]> <!-- \u202e


class Named:
    label = "\\"'><script>alert(6)</script>"


turned("<i onclick=alert(7)>")
'''
ALLOWED = frozenset(
    re.findall(
        r"\w+",
        "html head meta title link script body a header nav form label input div main footer h1 h2 h3 p span code pre ul li details summary"
        " table thead tbody tr th td b i meter figure figcaption svg g rect text path button wbr",
    )
)
ATTRIBUTES = frozenset(
    re.findall(
        r"[\w-]+",
        "lang charset name content rel href src defer data-root data-kind class id role aria-label aria-current tabindex action method type"
        " autocomplete spellcheck placeholder maxlength for value min max scope title http-equiv viewbox width height x y rx d",
    )
)


@dataclass
class Seen(HTMLParser):
    """A page as a browser takes it: its elements, where it leads, its anchors, its text."""

    links: list[str] = field(default_factory=list)
    anchors: set[str] = field(default_factory=set)
    wrong: list[str] = field(default_factory=list)
    scripts: int = 0
    text: str = ""

    def __post_init__(self) -> None:
        super().__init__()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self.scripts += tag == "script"
        self.wrong += [tag] if tag not in ALLOWED else []
        self.wrong += [f"{tag} {name}" for name in given if name not in ATTRIBUTES]
        self.links += [value for name, value in attrs if name in ("href", "src", "action") and value is not None]
        if given.get("id"):
            assert given["id"] not in self.anchors, given["id"]
            self.anchors.add(str(given["id"]))

    def handle_data(self, data: str) -> None:
        self.text += data


def seen(page: str) -> Seen:
    parser = Seen()
    parser.feed(page)
    parser.close()
    return parser


def site_of(index: Index, folder: Path, **options: Any) -> dict[str, Seen]:
    """Writes a site; its pages by name."""
    write(index, folder, jobs=1, **options)
    return {path.relative_to(folder).as_posix(): seen(path.read_text(encoding="utf-8")) for path in sorted(folder.rglob("*.html"))}


@pytest.fixture(scope="module")
def site(shop: Index, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Seen]:
    return site_of(shop, tmp_path_factory.mktemp("site") / "public")


@pytest.fixture(scope="module")
def hostile_root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = write_tree(tmp_path_factory.mktemp("hostile") / "<b>root", dict.fromkeys(HOSTILE_FILES, HOSTILE_TEXT))
    big = "x = 1\n" * 1_000 + f'y = """{"-" * MOST_BYTES}"""\n'
    write_tree(root, {"big.py": big, "null.py": b"x = 1\n\0\xff", "emoji.py": "\N{PARTY POPPER} = 1\nx = 2; y = x\n"})
    crawl_with_ty(root, jobs=1)
    return root


@pytest.fixture(scope="module")
def hostile(hostile_root: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Seen]:
    with open_index(hostile_root) as index:
        return site_of(index, tmp_path_factory.mktemp("hostile-site") / "public")


def described(index: Index) -> list[Described]:
    """Every symbol that has a page."""
    documents = [file.doc_id for file in linked.files(index) if file.doc_id >= 0]
    inside = [symbol for found in linked.symbols_in(index, documents).values() for symbol in found if not symbol.is_local]
    return inside + list(linked.described(index, linked.outsiders(index)).values())


def assert_whole(pages: Mapping[str, Seen], folder: Path) -> None:
    """Every link leads to a file of the site, and to an anchor that is there."""
    for name, page in pages.items():
        for link in page.links:
            parts = urlsplit(link)
            assert not parts.scheme, (name, link)
            assert not parts.netloc, (name, link)
            target = os.path.normpath(os.path.join(os.path.dirname(name), unquote(parts.path))) if parts.path else name
            assert target in pages or (target.startswith("assets/") and (folder / target).is_file()), (name, link)
            if parts.fragment:
                assert parts.fragment in pages[target].anchors, (name, link)


# ---- what leads where


def test_every_link_of_a_site_leads_to_a_page_and_an_anchor_that_exist(shop: Index, tmp_path: Path):
    pages = site_of(shop, tmp_path / "public")
    assert len(pages) > 50
    assert_whole(pages, tmp_path / "public")


def test_an_identifier_leads_to_its_definition_and_the_definition_to_the_page_of_the_symbol(shop: Index):
    book = Book(shop, is_live=False, certifies=False)
    [run] = [symbol for symbol in described(shop) if symbol.qualified_name == "shop.service.run"]
    page = texts.of_file(book, book.by_path["shop/service.py"]).body
    line = next(text for text in page.split("\n") if "return" in text and "run</a>(<i" in text)
    assert f"<a href=#L{run.line + 1}>run</a>" in line
    assert f"<a href=../{names.of_symbol(run.key)} class=d>run</a>" in page
    models = texts.of_file(book, book.by_path["shop/__init__.py"]).body
    target = names.of_file("shop/models.py").removeprefix("f/")
    [item] = [symbol for symbol in described(shop) if symbol.qualified_name == "shop.models.Item"]
    assert f"<a href={target}#L{item.line + 1}>Item</a>" in models


def test_a_local_name_leads_to_where_its_lines_are_listed(site: dict[str, Seen]):
    page = site[names.of_file("shop/service.py")]
    local = [link for link in page.links if link.startswith("#l")]
    assert local
    assert {link[1:] for link in local} <= page.anchors


def test_an_unresolved_identifier_is_marked_and_leads_nowhere(shop: Index):
    book = Book(shop, is_live=False, certifies=False)
    page = texts.of_file(book, book.by_path["shop/dynamic.py"]).body
    assert re.search(r'<span class=u title="nobody could tell what this means">nowhere</span>', page)


def test_columns_after_signs_outside_of_the_basic_plane_are_where_the_reader_sees_them(shop: Index):
    book = Book(shop, is_live=False, certifies=False)
    page = texts.of_file(book, book.by_path["shop/service.py"]).body
    line = next(text for text in page.split("\n") if text.startswith("<b id=") and "MOOD" in text)
    assert re.search(r"🎉\"</i>, <a href=#L\d+>run</a>\(<i class=n>1</i>\)", line), line


def test_a_page_reads_without_a_script(site: dict[str, Seen]):
    for name, page in site.items():
        assert page.scripts == 1, name
    assert "shop/" in site["index.html"].text
    [run] = [page for page in site.values() if "function shop.service.run ·" in page.text]
    assert re.search(r"\d uses in \d files", run.text)


# ---- the lists are those of the tools


def test_uses_callers_and_callees_equal_the_tools_answers_and_so_does_how_complete_they_are(shop: Index):
    book = Book(shop, is_live=False)
    wanted = described(shop)
    together = symbols.entries(book, wanted)
    for symbol, entry in zip(wanted, together, strict=True):
        told = call(shop, "find_references", {"symbol": symbol.moniker, "limit": 10_000})
        assert [(use.path, use.line + 1, use.col + 1) for use in entry.uses] == [(row.path, row.line, row.col) for row in told.result], (
            symbol
        )
        assert entry.uses_known == told.completeness, symbol.qualified_name
        for direction, edges, known in (
            ("incoming", entry.callers, entry.callers_known),
            ("outgoing", entry.callees, entry.callees_known),
        ):
            told = call(shop, "find_callers", {"symbol": symbol.moniker, "direction": direction, "limit": 5_000})
            keys = {other.sym_id: other.moniker for other in linked.described(shop, {edge.other for edge in edges}).values()}
            listed = [(keys[edge.other], edge.how, [(site.path, site.line + 1, site.col + 1) for site in edge.sites]) for edge in edges]
            expected = [(edge.symbol.symbol, edge.how, [(site.path, site.line, site.col) for site in edge.sites]) for edge in told.result]
            assert listed == expected, (symbol.qualified_name, direction)
            if known is not None:
                assert known == told.completeness, (symbol.qualified_name, direction)


def test_a_hierarchy_equals_the_tools_answer(shop: Index):
    book = Book(shop, is_live=False)
    wanted = [symbol for symbol in described(shop) if symbol.qualified_name in ("shop.models.Base", "shop.models.Item", "shop.models.Leaf")]
    for entry in symbols.entries(book, wanted):
        told = call(shop, "type_hierarchy", {"symbol": entry.symbol.moniker})
        keys = {
            other.sym_id: other.moniker for other in linked.described(shop, {key for kin in entry.kin.values() for key in kin}).values()
        }
        listed = {(way, keys[sym_id]) for way, kin in entry.kin.items() for sym_id in kin}
        assert listed == {(row.direction, row.symbol.symbol) for row in told.result}
        assert entry.kin_known == told.completeness


def test_one_symbol_by_itself_has_the_page_that_it_has_among_all(shop: Index):
    book = Book(shop, is_live=False)
    wanted = described(shop)[:40]
    together = symbols.pages(book, wanted)
    assert [symbols.pages(book, [symbol])[0] for symbol in wanted] == together


def test_a_list_whose_completeness_nobody_asked_says_unknown_and_never_complete(shop: Index, tmp_path: Path):
    pages = site_of(shop, tmp_path / "public", certifies=False)
    of_symbols = [page for name, page in pages.items() if name.startswith("s/")]
    assert of_symbols
    for page in of_symbols:
        assert "was not asked" in page.text
        assert "complete nothing that is known of is missing" not in page.text


def test_a_partial_list_gives_the_reasons_of_the_tool(shop: Index, site: dict[str, Seen]):
    [symbol] = [symbol for symbol in described(shop) if symbol.qualified_name == "shop.models.Base.describe"]
    told = call(shop, "find_references", {"symbol": symbol.moniker})
    assert told.completeness.status == "partial"
    page = site[names.of_symbol(symbol.key)]
    for reason in told.completeness.reasons:
        assert reason.code in page.text
        assert reason.detail in page.text


# ---- hostile names and texts


def test_nothing_of_a_hostile_repository_is_markup(hostile: dict[str, Seen]):
    for name, page in hostile.items():
        assert page.wrong == [], name
        assert page.scripts == 1, name


def test_every_link_of_a_hostile_site_leads_to_a_page_of_ours(hostile_root: Path, tmp_path: Path):
    with open_index(hostile_root) as index:
        pages = site_of(index, tmp_path / "public")
    assert_whole(pages, tmp_path / "public")


def test_signs_that_steer_or_turn_a_line_round_are_spelled_out(hostile: dict[str, Seen]):
    for name, page in hostile.items():
        assert not re.search("[\u202a-\u202e\u2066-\u2069\x1b\x00]", page.text), name
    assert "\\u202e" in hostile[names.of_file("\u202egnp.py")].text


def test_the_names_for_the_script_are_ascii_that_ends_no_element(hostile_root: Path):
    from query.pages import lists

    with open_index(hostile_root) as index:
        script = lists.names_script(Book(index, is_live=False))
    assert script.isascii()
    assert "<" not in script
    assert "\\\\u202e" in script


def test_names_of_files_are_ours_whatever_those_of_the_repository_are(hostile: dict[str, Seen]):
    lower = [name.lower() for name in hostile]
    assert len(set(lower)) == len(lower)
    for name in hostile:
        folder, _, last = name.rpartition("/")
        assert folder in ("", *names.PLACES)
        assert names.PAGE.fullmatch(last)
        assert last.partition(".")[0] not in ("con", "nul", "aux", "prn")


@pytest.mark.parametrize("path", ["..", "../../etc/passwd", "/etc/passwd", "C:\\x", "a\0b", "\ud800", "", "." * 300, "CON", "con"])
def test_no_path_becomes_the_name_of_a_file_outside(path: str):
    for page in (names.of_file(path), names.of_folder(path)):
        assert ".." not in page
        assert names.PAGE.fullmatch(page.rpartition("/")[2])


def test_files_that_are_too_large_or_binary_have_a_page_that_says_so(hostile: dict[str, Seen]):
    for path in ("big.py", "null.py"):
        text = hostile[names.of_file(path)].text
        assert "left out" in text or "too large" in text or "no text" in text, path


@pytest.mark.parametrize(("path", "step"), [("a.go", "/*\n"), ("a.ts", "/*\n"), ("a.cpp", 'R"a(\n'), ("a.lua", "--[[\n")])
def test_a_text_whose_colours_take_squares_of_it_has_none(path: str, step: str, monkeypatch: pytest.MonkeyPatch):
    """It held every page of a server for minutes, and `lspidx site` for as long for each such file."""
    monkeypatch.setattr(lexed_texts, "_MOST_S", 0.5)
    monkeypatch.setattr(lexed_texts, "_slow", set())
    text = (step * 100_000)[: lexed_texts.MOST_BYTES - 10].split("\n")
    shown = source.listing(path, [line.encode() for line in text], [])
    assert "<i class" not in shown
    assert shown.count("<b id=L") == len(text) - (not text[-1])


def test_colours_and_links_of_a_line_share_its_signs_out():
    line = "x = f('é🚀', y, \"z\", 12)  # y"
    at = [Link(0, col, col + 1, "#L1", "") for col in (0, 4, 13)]
    shown = source.listing("a.py", [line.encode()], at)
    assert re.sub("<[^>]*>", "", shown).strip() == f"1{html.escape(line, quote=False)}"
    assert re.findall(r"<a href=#L1>([^1])</a>", shown) == ["x", "f", "y"]
    assert re.findall(r"<i class=(\w)>(.*?)</i>", shown) == [("s", "'é🚀'"), ("s", '"z"'), ("n", "12"), ("m", "# y")]


# ---- the folder


def test_a_folder_that_lspidx_did_not_make_is_refused_and_left_alone(shop: Index, tmp_path: Path):
    (tmp_path / "mine.html").write_text("mine")
    with pytest.raises(UsageError, match="not empty, and lspidx did not make it"):
        write(shop, tmp_path, jobs=1)
    assert [path.name for path in tmp_path.iterdir()] == ["mine.html"]


def test_a_folder_of_ours_is_written_again_and_loses_what_is_no_page_any_more(shop: Index, tmp_path: Path):
    folder = tmp_path / "public"
    first = write(shop, folder, jobs=1, certifies=False)
    old = folder / names.of_file("gone.py")
    old.write_text("old")
    (folder / "f" / "notes.txt").write_text("not a page")
    again = write(shop, folder, jobs=1, certifies=False)
    assert (again.pages, again.removed) == (first.pages, 1)
    assert not old.exists()
    assert (folder / "f" / "notes.txt").exists()


def test_a_link_in_place_of_the_folder_or_of_one_in_it_is_not_followed(shop: Index, tmp_path: Path):
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "public").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(UsageError, match="is a link"):
        write(shop, tmp_path / "public", jobs=1)
    made = tmp_path / "made"
    write(shop, made, jobs=1, certifies=False)
    shutil.rmtree(made / "f")
    (made / "f").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(Exception, match="link"):
        write(shop, made, jobs=1, certifies=False)
    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_the_workspace_itself_is_no_folder_for_a_site(shop: Index):
    with pytest.raises(UsageError, match="workspace itself"):
        out_folder.opened(shop.root, shop.root)


def test_a_site_made_by_several_processes_is_the_same_byte_for_byte(shop: Index, tmp_path: Path):
    one, two = tmp_path / "one", tmp_path / "two"
    write(shop, one, jobs=1)
    write(shop, two, jobs=2)
    files = [path.relative_to(one) for path in sorted(one.rglob("*")) if path.is_file()]
    assert files == [path.relative_to(two) for path in sorted(two.rglob("*")) if path.is_file()]
    for file in files:
        assert (one / file).read_bytes() == (two / file).read_bytes(), file


def test_the_command_writes_a_site_and_says_what_it_wrote(copy: Path, tmp_path: Path):
    done = lspidx("site", str(tmp_path / "public"), "--no-certify", "--jobs", "1", cwd=copy)
    assert done.returncode == 0, done.stderr
    assert "wrote" in done.stdout
    assert (tmp_path / "public" / "index.html").is_file()


# ---- served


@dataclass
class Served:
    """A server under test, which `get` asks as a browser does that has its cookie."""

    port: int
    token: str
    root: Path

    def get(self, path: str, method: str = "GET", **headers: str | None) -> tuple[int, Mapping[str, str], str]:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        given: dict[str, str | None] = {"Host": f"127.0.0.1:{self.port}", "Cookie": f"lspidx-{self.port}={self.token}", **headers}
        connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
        for name, value in given.items():
            if value is not None:
                connection.putheader(name, value)
        connection.endheaders()
        answer = connection.getresponse()
        body = answer.read().decode()
        connection.close()
        return answer.status, {name.lower(): value for name, value in answer.getheaders()}, body


@pytest.fixture(scope="module")
def served(shop_root: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    root = shutil.copytree(shop_root, tmp_path_factory.mktemp("served") / "shop", symlinks=True)
    process = subprocess.Popen([sys.executable, "-m", "query.cli", "serve"], cwd=root, stdout=subprocess.PIPE, encoding="utf-8")
    try:
        assert process.stdout is not None
        assert select.select([process.stdout], [], [], 60)[0], "nothing was said"
        found = re.search(r"http://127\.0\.0\.1:(\d+)/\?token=(\S+)", process.stdout.readline())
        assert found
        yield Served(int(found[1]), found[2], root)
    finally:
        process.terminate()
        process.wait(timeout=30)
        process.stdout.close()


def test_whoever_shows_no_token_is_refused(served: Served):
    for path in ("/", "/index.html", "/assets/pages.css", "/assets/names.js", "/nowhere", "/search?q=x"):
        assert served.get(path, Cookie=None)[0] == 403, path
    assert served.get("/", Cookie=f"lspidx-{served.port}=wrong")[0] == 403
    assert served.get("/?token=wrong", Cookie=None)[0] == 403
    assert served.get("/", "POST", Cookie=None)[0] == 403


def test_the_token_of_the_address_becomes_a_cookie_and_leaves_the_address(served: Served):
    status, headers, _ = served.get(f"/map.html?token={served.token}", Cookie=None)
    assert (status, headers["location"]) == (303, "/map.html")
    assert "HttpOnly" in headers["set-cookie"]
    assert "samesite=strict" in headers["set-cookie"].lower()
    assert served.get(f"//evil.example/?token={served.token}", Cookie=None)[1]["location"] == "/"


def test_another_host_name_is_refused(served: Served):
    for host in ("evil.example", f"evil.example:{served.port}", "127.0.0.1", f"127.0.0.1:{served.port + 1}", ""):
        assert served.get("/", Host=host)[0] == 403, host
    assert served.get("/", Host=f"localhost:{served.port}")[0] == 200


def test_nothing_but_reading_is_answered(served: Served):
    for method in ("POST", "PUT", "DELETE", "PATCH", "OPTIONS"):
        assert served.get("/", method)[0] == 405, method
    assert served.get("/", "HEAD")[2] == ""


def test_paths_that_are_no_page_are_not_found(served: Served):
    for path in ("/../etc/passwd", "/f/../../etc/passwd", "/f/%2e%2e%2fpasswd", "/s/0000000000000000.html", "/f/x.html", "/%00", "/shop"):
        assert served.get(path)[0] == 404, path


def test_every_answer_forbids_scripts_of_others_frames_and_other_origins(served: Served):
    for path in ("/", "/nowhere", "/assets/pages.js"):
        _, headers, _ = served.get(path, Origin="https://evil.example")
        policy = headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "script-src 'self'" in policy
        assert "unsafe" not in policy
        assert "frame-ancestors 'none'" in policy
        assert headers["x-content-type-options"] == "nosniff"
        assert not any(name.startswith("access-control") for name in headers)


def test_all_pages_that_are_served_lead_to_pages_that_are_served(served: Served):
    waiting, known = ["/index.html"], {"/index.html"}
    while waiting:
        path = waiting.pop()
        status, _, body = served.get(path)
        assert status == 200, path
        if not path.endswith(".html"):
            continue
        page = seen(body)
        assert page.wrong == [], path
        for link in page.links:
            target = os.path.normpath(os.path.join(os.path.dirname(path), urlsplit(link).path or path))
            if target not in known:
                known.add(target)
                waiting.append(target)
    assert len(known) > 50


def test_a_search_works_without_a_script(served: Served):
    status, _, body = served.get("/search?q=desc")
    assert status == 200
    page = seen(body)
    assert "shop.models.Base.describe" in page.text
    assert any(link.startswith("s/") for link in page.links)
    assert seen(served.get("/search?q=%3Cimg%20src%3Dx%20onerror%3D1%3E")[2]).wrong == []


def test_served_pages_say_when_the_work_tree_is_another(served: Served):
    page = names.of_file("shop/either.py")
    assert "differs from the index" not in served.get(f"/{page}")[2]
    changed = served.root / "shop" / "either.py"
    before = changed.read_bytes()
    changed.write_bytes(before + b"\n# more\n")
    try:
        body = served.get(f"/{page}")[2]
        assert "The work tree differs from the index: 1 changed file" in body
        assert "not what was indexed" in body
    finally:
        changed.write_bytes(before)

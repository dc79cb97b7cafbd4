"""`lspidx lsp`: an editor asks, the index answers, and each answer says how complete it is."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest
from lsp_support import CAPABILITIES, Bare, Editor, Refusal, bare, editor, piece
from query_support import FILES, LSPIDX, generation
from support import crawl_with_ty, write_tree

from indexer.lsp.enums import ErrorCodes, LSPErrorCodes

pytest_plugins = ["query_fixtures"]

SERVICE, MODELS, TEST = "shop/service.py", "shop/models.py", "tests/test_service.py"
OF_BASE = 'class Base:\n    """Whatever has a name."""\n\n    def @@describe'
PROJECT = {"pyproject.toml": "[project]\nname = 'shop'\n"}


@pytest.fixture(scope="module")
def client(shop_root: Path) -> Iterator[Editor]:
    """An editor of the indexed shop, for tests that change nothing."""
    with editor(shop_root) as found:
        yield found


def places(editor: Editor, found: list[dict[str, Any]]) -> list[tuple[str, str]]:
    """The path and the line of each location."""
    shown: list[tuple[str, str]] = []
    for item in found:
        path = item["uri"].removeprefix(editor.root.as_uri() + "/")
        text = (editor.root / path).read_text(encoding="utf-8")
        shown.append((path, text.split("\n")[item["range"]["start"]["line"]].strip()))
    return shown


def references(editor: Editor, marked: str, text: str | None = None, *, declaration: bool = False) -> list[dict[str, Any]]:
    """Uses of what stands in the service."""
    return editor.ask("textDocument/references", {**editor.at(SERVICE, marked, text), "context": {"includeDeclaration": declaration}})


# ---- places


def test_a_definition_is_the_name_where_it_is_defined(client: Editor):
    [found] = client.ask("textDocument/definition", client.at(SERVICE, "    return @@run(3)"))
    assert found["uri"] == client.uri(SERVICE)
    assert piece(FILES[SERVICE], found["range"]) == "run"
    assert places(client, [found]) == [(SERVICE, "def run(count: int) -> int:")]
    assert client.status() == "complete"


def test_all_overloads_are_definitions(client: Editor):
    found = client.ask("textDocument/definition", client.at(SERVICE, 'middle() + @@parse("x")'))
    assert [line for _, line in places(client, found)] == [
        "def parse(text: str) -> int: ...", "def parse(text: bytes) -> float: ...", "def parse(text):",
    ]  # fmt: skip


def test_what_lies_outside_of_the_workspace_is_where_a_running_server_says(client: Editor):
    found = client.ask("textDocument/definition", client.at("shop/either.py", "import @@os"))
    assert [item["uri"].rpartition("/")[2] for item in found] == ["__init__.pyi"]
    assert client.certificate()["source"] == "live"


def test_references_come_with_and_without_the_declaration(client: Editor):
    at = client.at(SERVICE, "def @@run(count")
    uses = client.ask("textDocument/references", {**at, "context": {"includeDeclaration": False}})
    assert places(client, uses) == [
        (SERVICE, "return run(count - 1)"),
        (SERVICE, "return run(3)"),
        (SERVICE, 'MOOD, AFTER = "\N{PARTY POPPER}\N{PARTY POPPER}", run(1)'),
        (TEST, "from shop.service import outer, run"),
        (TEST, "assert run(1) == 0"),
    ]
    assert {piece(FILES[item["uri"].removeprefix(client.root.as_uri() + "/")], item["range"]) for item in uses} == {"run"}
    every = client.ask("textDocument/references", {**at, "context": {"includeDeclaration": True}})
    assert len(every) == len(uses) + 1


def test_an_answer_that_lacks_something_says_so_beside_it_and_once_in_the_log(shop_root: Path):
    with editor(shop_root) as client:
        at = {
            **client.at(MODELS, OF_BASE),
            "context": {"includeDeclaration": False},
        }
        for _ in range(3):
            client.ask("textDocument/references", at)
            assert client.status() == "partial"
            assert "unresolved_same_name" in client.codes()
        logged = [said["message"] for said in client.told("window/logMessage") if "describe" in said["message"]]
        assert len(logged) == 1
        assert logged[0].startswith("lspidx: partial answer to textDocument/references: ")
        assert client.ask("lspidx/completeness", at)["status"] == "partial"
        whole = client.ask("lspidx/completeness", {**client.at(SERVICE, "def @@middle"), "method": "callHierarchy/incomingCalls"})
        assert (whole["status"], whole["reasons"], whole["source"]) == ("complete", [], "index")


def test_no_note_of_ours_goes_to_a_client_that_has_not_asked_for_it(shop_root: Path):
    with editor(shop_root, capabilities={}) as client:
        client.ask("textDocument/definition", client.at(SERVICE, "    return @@run(3)"))
        assert client.told("lspidx/completeness") == []


def test_a_hover_is_what_the_index_keeps(client: Editor):
    found = client.ask("textDocument/hover", client.at(SERVICE, "    return @@run(3)"))
    assert found["contents"]["kind"] == "markdown"
    assert "def run(count: int) -> int" in found["contents"]["value"]


def test_where_nothing_stands_there_is_no_answer_and_no_complaint(client: Editor):
    assert client.ask("textDocument/hover", {"textDocument": {"uri": client.uri(SERVICE)}, "position": {"line": 1, "character": 0}}) is None
    blank = client.number
    assert client.ask("textDocument/definition", client.at(SERVICE, "@@def middle")) is None
    keyword = client.number
    client.ask("textDocument/definition", client.at(SERVICE, "    return @@run(3)"))
    assert client.status()  # what is said about an answer comes after it; so what was to be said about the two before has come
    assert not {note["id"] for note in client.told("lspidx/completeness")} & {blank, keyword}


def test_an_identifier_that_nobody_could_resolve_is_no_empty_answer(client: Editor):
    assert client.ask("textDocument/definition", client.at("shop/dynamic.py", "return thing.@@nowhere")) is None
    assert client.status() == "unknown"


def test_escapes_of_the_repository_are_spelled_out(client: Editor):
    found = client.ask("textDocument/hover", client.at("shop/evil.py", "def @@warn"))
    assert "\x1b" not in found["contents"]["value"]


def test_highlights_tell_reads_from_writes(client: Editor):
    found = client.ask("textDocument/documentHighlight", client.at(SERVICE, "@@total = count"))
    assert [(item["range"]["start"]["line"], item["kind"]) for item in found] == [(12, 3), (13, 2)]


def test_implementations_and_types(client: Editor):
    found = client.ask("textDocument/implementation", client.at(SERVICE, "base.@@describe()"))
    assert [line for _, line in places(client, found)] == ["def describe(self) -> str:"] * 2
    found = client.ask("textDocument/typeDefinition", client.at(SERVICE, "@@item = Item(3)"))
    assert places(client, found) == [(MODELS, "class Item(Priced, Taxed):")]


# ---- symbols


def test_an_outline_is_a_tree_whose_names_lie_within_their_definitions(client: Editor):
    found = client.ask("textDocument/documentSymbol", {"textDocument": {"uri": client.uri(MODELS)}})
    assert [item["name"] for item in found] == ["Base", "Priced", "Taxed", "Item", "Leaf", "Plain", "parse"]
    waiting = list(found)
    while waiting:
        item = waiting.pop()
        waiting += item["children"]
        start, end = (tuple(item["range"][side].values()) for side in ("start", "end"))
        assert start <= tuple(item["selectionRange"]["start"].values()) <= tuple(item["selectionRange"]["end"].values()) <= end
        assert piece(FILES[MODELS], item["selectionRange"]) == item["name"]
    assert [child["name"] for child in found[0]["children"]] == ["describe", "save"]


def test_a_client_that_knows_no_trees_gets_a_list(shop_root: Path):
    with editor(shop_root, capabilities={}) as client:
        found = client.ask("textDocument/documentSymbol", {"textDocument": {"uri": client.uri(MODELS)}})
    assert ("save", "Base") in [(item["name"], item["containerName"]) for item in found]


def test_symbols_are_found_by_a_part_of_their_name(client: Editor):
    found = client.ask("workspace/symbol", {"query": "describ"})
    assert {item["name"] for item in found} == {"describe"}
    assert {item["containerName"] for item in found} == {"shop.models.Base", "shop.models.Priced", "shop.models.Leaf"}


def test_what_can_be_folded_is_the_definitions(client: Editor):
    found = client.ask("textDocument/foldingRange", {"textDocument": {"uri": client.uri(SERVICE)}})
    lines = FILES[SERVICE].split("\n")
    assert "def run(count: int) -> int:" in [lines[item["startLine"]] for item in found]
    assert all(item["endLine"] > item["startLine"] for item in found)


# ---- hierarchies and lenses


def test_calls_can_be_followed_both_ways(client: Editor):
    [item] = client.ask("textDocument/prepareCallHierarchy", client.at(SERVICE, "def @@middle"))
    callers = client.ask("callHierarchy/incomingCalls", {"item": item})
    assert [call["from"]["name"] for call in callers] == ["outer"]
    assert [piece(FILES[SERVICE], where) for where in callers[0]["fromRanges"]] == ["middle"]
    callees = client.ask("callHierarchy/outgoingCalls", {"item": callers[0]["from"]})
    assert [call["to"]["name"] for call in callees] == ["middle", "parse"]
    assert [piece(FILES[SERVICE], call["fromRanges"][0]) for call in callees] == ["middle", "parse"]


def test_types_can_be_followed_both_ways(client: Editor):
    [item] = client.ask("textDocument/prepareTypeHierarchy", client.at(MODELS, "class @@Item"))
    assert [above["name"] for above in client.ask("typeHierarchy/supertypes", {"item": item})] == ["Priced", "Taxed"]
    assert [below["name"] for below in client.ask("typeHierarchy/subtypes", {"item": item})] == ["Leaf"]
    assert client.ask("textDocument/prepareTypeHierarchy", client.at(SERVICE, "def @@middle")) is None


def test_a_lens_counts_callers_and_tests_and_says_whether_these_are_all(client: Editor):
    lenses = client.ask("textDocument/codeLens", {"textDocument": {"uri": client.uri(SERVICE)}})
    assert all("command" not in lens for lens in lenses)
    lines = FILES[SERVICE].split("\n")
    titles: dict[str, str] = {}
    for lens in lenses:
        resolved = client.ask("codeLens/resolve", lens)
        titles[lines[lens["range"]["start"]["line"]]] = resolved["command"]["title"]
    assert titles["def outer() -> int:"] == "1 caller · 1 test · complete"
    assert titles["def middle() -> int:"] == "1 caller · complete"
    client.ask("workspace/executeCommand", {"command": "lspidx.completeness", "arguments": resolved["command"]["arguments"]})
    assert client.told("window/showMessage")[-1]["message"].startswith("lspidx: ")
    with pytest.raises(Refusal) as refused:
        client.ask("workspace/executeCommand", {"command": "rm", "arguments": []})
    assert refused.value.code == ErrorCodes.INVALID_PARAMS


# ---- texts that are not saved


def test_places_of_a_changed_text_are_carried_both_ways(copy: Path):
    with editor(copy) as client:
        text = client.open(SERVICE)
        changed = "# one\n# two\n" + text.replace("def middle() -> int:", "def middle(more: int = 0) -> int:")
        client.change(SERVICE, changed)
        uses = references(client, "def @@run(count", changed, declaration=True)
        here = [item["range"] for item in uses if item["uri"] == client.uri(SERVICE)]
        assert len(uses) == 6
        assert [piece(changed, where) for where in here] == ["run"] * 4
        assert client.status() == "partial"
        assert "unsaved" in client.codes()
        [found] = client.ask("textDocument/definition", client.at(SERVICE, "return @@middle() +", changed))
        assert piece(changed, found["range"]) == "middle"  # in a line that was edited
        outline = client.ask("textDocument/documentSymbol", {"textDocument": {"uri": client.uri(SERVICE)}})
        assert all(piece(changed, item["selectionRange"]) == item["name"] for item in outline if item["name"] != "MOOD")
        [item] = client.ask("textDocument/prepareCallHierarchy", client.at(SERVICE, "def @@outer", changed))
        assert piece(changed, item["selectionRange"]) == "outer"


def test_a_place_that_was_not_indexed_is_asked_of_a_running_server_with_the_clients_text(copy: Path):
    with editor(copy) as client:
        text = client.open(SERVICE)
        changed = text + "\n\ndef fresh(base: Base) -> str:\n    return show(base)\n\n\nfresh(Leafless())\n"
        client.change(SERVICE, changed)
        [found] = client.ask("textDocument/definition", client.at(SERVICE, "@@fresh(Leafless", changed))
        assert piece(changed, found["range"]) == "fresh"
        assert client.certificate()["source"] == "live"
        uses = references(client, "def @@fresh", changed)
        assert [piece(changed, item["range"]) for item in uses] == ["fresh"]
        assert "fresh" in client.ask("textDocument/hover", client.at(SERVICE, "def @@fresh", changed))["contents"]["value"]
        assert not client.ask("textDocument/definition", client.at(SERVICE, "fresh(@@Leafless", changed))


def test_a_use_that_is_gone_from_the_text_is_left_out_and_counted(copy: Path):
    with editor(copy) as client:
        text = client.open(TEST)
        client.change(TEST, text.replace("    assert run(1) == 0\n", ""))
        uses = references(client, "def @@run(count")
        assert len(uses) == 4
        assert {"unsaved", "places_gone"} <= set(client.codes())


def test_a_new_file_that_is_not_saved_makes_no_answer_complete(copy: Path):
    with editor(copy) as client:
        at = {**client.at(SERVICE, "def @@middle"), "context": {"includeDeclaration": False}}
        client.ask("textDocument/references", at)
        assert client.status() == "complete"
        client.open("shop/fresh.py", "from shop.service import middle\n\nmiddle()\n")
        client.ask("textDocument/references", at)
        assert (client.status(), client.codes()) == ("partial", ["unsaved"])
        client.tell("textDocument/didClose", {"textDocument": {"uri": client.uri("shop/fresh.py")}})
        client.ask("textDocument/references", at)
        assert client.status() == "complete"


def test_a_changed_text_that_cannot_name_a_symbol_takes_nothing_away(copy: Path):
    with editor(copy) as client:
        client.open("shop/utils.py", "def helper() -> int:\n    return 3\n")
        references(client, "def @@middle")
        assert client.status() == "complete"


def test_a_text_that_is_too_long_to_be_followed_makes_no_answer_complete(copy: Path):
    """Neither when it is opened nor when it becomes so; a whole text that can be followed ends it."""
    long = "x = 1\n" * 1_700_000
    with editor(copy) as client:
        for path, grows in (("shop/utils.py", False), ("shop/models.py", True)):
            text = client.open(path, None if grows else long)
            if grows:
                client.change(path, long)
            references(client, "def @@middle")
            assert (client.status(), client.codes()) == ("partial", ["unsaved"])
            client.change(path, (copy / path).read_text(encoding="utf-8") if not grows else text, version=3)
            references(client, "def @@middle")
            assert client.status() == "complete"


def test_half_of_a_surrogate_pair_in_a_change_is_a_change(copy: Path):
    """A text may hold one while it is typed; the columns behind it are the client's."""
    with bare(copy) as wire:
        hello(wire, copy, experimental={"lspidx": {"completeness": True}})
        uri = (copy / "shop/utils.py").as_uri()
        text = (copy / "shop/utils.py").read_text(encoding="utf-8")
        item = {"uri": uri, "languageId": "python", "version": 1, "text": text}
        wire.send({"jsonrpc": "2.0", "method": "textDocument/didOpen", "params": {"textDocument": item}})
        typed = text + "from shop.service import middle\n\nNOTE = '\ud83d'; middle()\n"
        change = {"textDocument": {"uri": uri, "version": 2}, "contentChanges": [{"text": typed}]}
        wire.send({"jsonrpc": "2.0", "method": "textDocument/didChange", "params": change})
        service = (copy / SERVICE).read_text(encoding="utf-8")
        line = next(number for number, text in enumerate(service.split("\n")) if text.startswith("def middle"))
        at = {"textDocument": {"uri": (copy / SERVICE).as_uri()}, "position": {"line": line, "character": 4}}
        wire.ask(5, "textDocument/references", {**at, "context": {"includeDeclaration": False}})
        while (told := wire.read()).get("params", {}).get("id") != 5:  # the note about that answer, which comes after it
            pass
        assert told["params"]["status"] == "partial"
        assert [reason["code"] for reason in told["params"]["reasons"]] == ["unsaved"]


@pytest.mark.parametrize("link", ["file", "folder"])
def test_a_link_that_leads_out_of_the_folder_is_answered_by_nobody(copy: Path, tmp_path: Path, link: str):
    """A clone may hold one to what nobody is to read; neither the index nor a running server says anything of it."""
    outside = write_tree(tmp_path / "home" / ".hidden", {"k.py": "SECRET = 's3cret-literal'\nSECRET\n"})
    (copy / "shop" / ("k.py" if link == "file" else "d")).symlink_to(outside / "k.py" if link == "file" else outside)
    uri = (copy / "shop" / ("k.py" if link == "file" else "d/k.py")).as_uri()
    with editor(copy) as client:
        at = {"textDocument": {"uri": uri}, "position": {"line": 1, "character": 2}}
        for method in ("hover", "definition", "completion", "documentHighlight"):
            assert not client.ask(f"textDocument/{method}", at), method
        assert not client.ask("textDocument/references", {**at, "context": {"includeDeclaration": True}})
        assert not client.ask("textDocument/documentSymbol", {"textDocument": {"uri": uri}})
        assert "s3cret" not in str(client.notes)


def test_a_link_within_the_folder_is_the_file_that_it_leads_to(copy: Path):
    (copy / "shop" / "again.py").symlink_to(copy / SERVICE)
    with editor(copy) as client:
        found = client.ask("textDocument/hover", client.at("shop/again.py", "    return @@run(3)"))
        assert "def run(count: int) -> int" in found["contents"]["value"]


def test_no_server_is_started_in_a_home_that_nobody_has_indexed(tmp_path: Path):
    home = write_tree(tmp_path / "home", {"a.py": "value = 1\nvalue\n"})
    with editor(home, environment={"HOME": str(home)}) as client:
        at = {"textDocument": {"uri": (home / "a.py").as_uri()}, "position": {"line": 1, "character": 1}}
        assert client.ask("textDocument/hover", at) is None
        assert client.status() == "unknown"
        assert "this is your home folder" in client.certificate()["reasons"][0]["detail"]
    assert not (home / ".lspidx").exists()


def test_the_file_of_another_machine_is_none(client: Editor):
    ours = client.uri(SERVICE)
    for uri in (ours.replace("file://", "file://evil.example"), "file:///" + "a/" * 100_000):
        at = {"textDocument": {"uri": uri}, "position": {"line": 0, "character": 0}}
        assert client.ask("textDocument/hover", at) is None
    at = client.at(SERVICE, "    return @@run(3)") | {"textDocument": {"uri": ours.replace("file://", "file://localhost")}}
    assert client.ask("textDocument/hover", at) is not None


def test_what_is_saved_is_indexed_behind_the_answers(copy: Path):
    with editor(copy) as client:
        text = client.open(SERVICE)
        client.ask("textDocument/definition", client.at(SERVICE, "    return @@run(3)"))
        before = generation(copy)
        changed = text + "\n\ndef late() -> int:\n    return middle()\n"
        client.change(SERVICE, changed)
        client.save(SERVICE, changed)
        client.wait(lambda: generation(copy) != before)
        client.wait(lambda: client.told("workspace/codeLens/refresh"))
        uses = references(client, "def @@middle")
        assert ("shop/service.py", "return middle()") in places(client, uses)
        assert client.status() == "complete"


def test_with_no_refresh_the_index_stays_and_answers_say_so(copy: Path):
    with editor(copy, "--no-refresh") as client:
        text = client.open(SERVICE)
        client.ask("textDocument/definition", client.at(SERVICE, "    return @@run(3)"))
        before = generation(copy)
        client.change(SERVICE, "# one\n" + text)
        client.save(SERVICE, "# one\n" + text)
        uses = references(client, "def @@middle")
        assert [piece("# one\n" + text, item["range"]) for item in uses] == ["middle"]  # carried from the text that is on no disk any more
        assert (client.status(), client.codes()) == ("partial", ["stale"])
        assert generation(copy) == before


# ---- units of columns


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-32"])
def test_columns_are_counted_as_the_client_counts(copy: Path, encoding: str):
    with editor(copy, capabilities={**CAPABILITIES, "general": {"positionEncodings": [encoding]}}) as client:
        assert client.capabilities["positionEncoding"] == encoding
        text = client.open(SERVICE)
        marked = 'AFTER = "\N{PARTY POPPER}\N{PARTY POPPER}", @@run(1)'
        at = client.at(SERVICE, marked, encoding=encoding)
        [found] = client.ask("textDocument/definition", at)
        assert piece(text, found["range"], encoding) == "run"
        uses = client.ask("textDocument/references", {**at, "context": {"includeDeclaration": False}})
        assert {piece(FILES[item["uri"].removeprefix(copy.as_uri() + "/")], item["range"], encoding) for item in uses} == {"run"}
        wide = at["position"]
        edit = {"start": wide, "end": {"line": wide["line"], "character": wide["character"] + 3}}
        version = {"uri": client.uri(SERVICE), "version": 2}
        client.tell("textDocument/didChange", {"textDocument": version, "contentChanges": [{"range": edit, "text": "\N{SNAKE}"}]})
        changed = text.replace('", run(1)', '", \N{SNAKE}(1)')
        client.tell(
            "textDocument/didChange",
            {
                "textDocument": {**version, "version": 3},
                "contentChanges": [{"range": {"start": wide, "end": wide}, "text": "middle() + "}],
            },
        )
        changed = changed.replace("\N{SNAKE}", "middle() + \N{SNAKE}")
        found = client.ask("textDocument/definition", client.at(SERVICE, '", @@middle() +', changed, encoding))
        assert [piece(changed, item["range"], encoding) for item in found] == ["middle"]


def test_the_index_counts_in_utf_16_and_that_is_taken_where_it_is_offered(shop_root: Path):
    with editor(shop_root, capabilities={"general": {"positionEncodings": ["utf-32", "utf-8", "utf-16"]}}) as client:
        assert client.capabilities["positionEncoding"] == "utf-16"


# ---- what only a running server knows


def test_completions_and_signatures_are_of_the_clients_text(copy: Path):
    with editor(copy) as client:
        text = client.open(SERVICE)
        changed = text + "\n\ndef fresh(alpha: int) -> int:\n    return alpha\n\n\nfre\nfresh(\n"
        client.change(SERVICE, changed)
        found = client.ask("textDocument/completion", client.at(SERVICE, "\nfre@@\n", changed))
        items = found["items"] if isinstance(found, dict) else found
        assert "fresh" in [item["label"] for item in items]
        item = next(item for item in items if item["label"] == "fresh")
        assert client.ask("completionItem/resolve", item)["label"] == "fresh"
        signatures = client.ask("textDocument/signatureHelp", client.at(SERVICE, "\nfresh(@@\n", changed))
        assert "alpha" in signatures["signatures"][0]["label"]
        whole = {"start": {"line": 0, "character": 0}, "end": {"line": 40, "character": 0}}
        hints = client.ask("textDocument/inlayHint", {"textDocument": {"uri": client.uri(SERVICE)}, "range": whole})
        assert isinstance(hints, list)
        context = {"diagnostics": client.ask("textDocument/diagnostic", {"textDocument": {"uri": client.uri(SERVICE)}})["items"]}
        assert context["diagnostics"]
        actions = client.ask("textDocument/codeAction", {"textDocument": {"uri": client.uri(SERVICE)}, "range": whole, "context": context})
        assert isinstance(actions, list)


def test_what_the_server_of_a_language_lacks_is_no_error(client: Editor):
    options = {"tabSize": 4, "insertSpaces": True}
    assert client.ask("textDocument/formatting", {"textDocument": {"uri": client.uri(SERVICE)}, "options": options}) is None
    assert (client.status(), client.codes()) == ("unknown", ["method_unsupported"])


def test_diagnostics_are_the_indexs_until_the_text_changes(copy: Path):
    with editor(copy) as client:
        text = client.open(SERVICE)
        params = {"textDocument": {"uri": client.uri(SERVICE)}}
        assert client.ask("textDocument/diagnostic", params) == {"kind": "full", "items": []}
        client.change(SERVICE, text + "\n\nnobody_knows_this\n")
        [found] = client.ask("textDocument/diagnostic", params)["items"]
        assert piece(text + "\n\nnobody_knows_this\n", found["range"]) == "nobody_knows_this"
        assert client.certificate()["source"] == "live"


def test_a_client_that_asks_for_no_diagnostics_is_told_them(copy: Path):
    (copy / "lspidx.toml").write_text("exclude = ['shop/utils.py']\n", encoding="utf-8")
    crawl_with_ty(copy, jobs=1, exclude=["shop/utils.py"])
    with editor(copy, capabilities={}) as client:
        client.open("shop/utils.py")
        client.wait(lambda: client.told("textDocument/publishDiagnostics"))
        [note] = client.told("textDocument/publishDiagnostics")[-1]["diagnostics"]
        assert (note["source"], note["code"], note["severity"]) == ("lspidx", "not_read", 3)
        assert "was skipped when the index was made: excluded" in note["message"]


def test_a_server_that_was_killed_costs_no_answer(copy: Path):
    with editor(copy, command=[str(LSPIDX)]) as client:
        text = client.open(SERVICE)
        changed = text + "\n\ndef fresh() -> int:\n    return 1\n\n\nfresh()\n"
        client.change(SERVICE, changed)
        at = client.at(SERVICE, "\n@@fresh()\n", changed)
        assert len(client.ask("textDocument/definition", at)) == 1
        server = client._client._server
        assert server is not None
        killed = [child for child in psutil.Process(server.pid).children(recursive=True) if "ty" in child.name()]
        assert killed
        for child in killed:
            child.kill()
        found = client.ask("textDocument/definition", at) or client.ask("textDocument/definition", at)
        assert [piece(changed, item["range"]) for item in found] == ["fresh"]


# ---- renaming


def test_a_rename_is_an_edit_for_the_client_that_names_versions(copy: Path):
    with editor(copy) as client:
        client.open(SERVICE)
        at = client.at(SERVICE, "def @@middle")
        assert piece(FILES[SERVICE], client.ask("textDocument/prepareRename", at)) == "middle"
        edit = client.ask("textDocument/rename", {**at, "newName": "centre"})
        [change] = edit["documentChanges"]
        assert change["textDocument"] == {"uri": client.uri(SERVICE), "version": 1}
        assert [(piece(FILES[SERVICE], item["range"]), item["newText"]) for item in change["edits"]] == [("middle", "centre")] * 2
        assert (copy / SERVICE).read_text(encoding="utf-8") == FILES[SERVICE]


def test_a_rename_that_may_break_something_is_refused_in_words(copy: Path):
    with editor(copy) as client:
        at = client.at(MODELS, OF_BASE)
        with pytest.raises(Refusal) as refused:
            client.ask("textDocument/rename", {**at, "newName": "tell"})
        assert refused.value.code == LSPErrorCodes.REQUEST_FAILED
        assert "'describe' was not renamed: " in str(refused.value)
        assert "members that override it" in str(refused.value)
        with pytest.raises(Refusal, match="no name of python"):
            client.ask("textDocument/rename", {**client.at(SERVICE, "def @@middle"), "newName": "no name"})


def test_a_rename_waits_until_all_is_saved(copy: Path):
    with editor(copy) as client:
        client.open(TEST, FILES[TEST] + "\n# more\n")
        with pytest.raises(Refusal, match=r"save first: tests/test_service\.py"):
            client.ask("textDocument/rename", {**client.at(SERVICE, "def @@middle"), "newName": "centre"})


# ---- first contact


def test_without_an_index_one_is_made_and_the_editor_shows_how_far_it_is(tmp_path: Path):
    root = write_tree(tmp_path / "shop", {**FILES, **PROJECT})
    with editor(root) as client:
        at = client.at(SERVICE, "    return @@run(3)")
        found = client.ask("textDocument/definition", at)
        assert places(client, found) == [(SERVICE, "def run(count: int) -> int:")]
        client.wait(lambda: (root / ".lspidx" / "CURRENT").is_file())
        client.wait(lambda: [note["value"]["kind"] for note in client.told("$/progress")][-1:] == ["end"])
        kinds = [note["value"]["kind"] for note in client.told("$/progress")]
        assert (kinds[0], kinds[-1]) == ("begin", "end")
        assert client.told("window/workDoneProgress/create")[0]["token"] == client.told("$/progress")[0]["token"]
        references(client, "def @@middle")
        assert (client.status(), client.certificate()["source"]) == ("complete", "index")


def test_no_auto_index_makes_none_and_says_what_to_do(tmp_path: Path):
    root = write_tree(tmp_path / "shop", {**FILES, **PROJECT})
    with editor(root, "--no-auto-index") as client:
        assert client.ask("workspace/symbol", {"query": "run"}) == []
        assert (client.status(), client.codes()) == ("unknown", ["no_index"])
        client.wait(lambda: client.told("window/logMessage"))
        assert "lspidx index" in client.told("window/logMessage")[-1]["message"]
        assert not (root / ".lspidx" / "CURRENT").exists()


# ---- folders


def test_each_folder_of_the_client_has_its_own_index_and_nothing_else_is_served(copy: Path, tmp_path: Path):
    other = write_tree(tmp_path / "other", {"main.py": "def start() -> int:\n    return 1\n\n\nstart()\n"})
    crawl_with_ty(other, jobs=1)
    beyond = write_tree(tmp_path / "beyond", {"main.py": "def start() -> int:\n    return 1\n"})
    crawl_with_ty(beyond, jobs=1)
    with editor(copy, folders=[copy, other]) as client:
        found = client.ask("workspace/symbol", {"query": "start"})
        assert [item["location"]["uri"] for item in found] == [(other / "main.py").as_uri()]
        at = {"textDocument": {"uri": (other / "main.py").as_uri()}, "position": {"line": 4, "character": 1}}
        assert [item["uri"] for item in client.ask("textDocument/definition", at)] == [(other / "main.py").as_uri()]
        outside = {**at, "textDocument": {"uri": (beyond / "main.py").as_uri()}, "position": {"line": 0, "character": 5}}
        assert client.ask("textDocument/definition", outside) is None
        event = {"added": [], "removed": [{"uri": other.as_uri(), "name": "other"}]}
        client.tell("workspace/didChangeWorkspaceFolders", {"event": event})
        assert client.ask("textDocument/definition", at) is None


def test_several_languages_in_one_repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Of a language without a server the text is read: its symbols are there, and what its uses are nobody knows."""
    monkeypatch.setenv("LSPIDX_SERVERS_DIR", str(tmp_path / "servers"))  # a machine that has ty alone
    files = {
        "app.py": "def start() -> int:\n    return 1\n\n\nstart()\n",
        "web/app.ts": "export function render(): number { return 1 }\nrender();\n",
        "cmd/other.go": "package main\n\nfunc other() { run() }\n",
        "cmd/main.go": "package main\n\nfunc main() { run() }\n\nfunc run() {}\n",
        "tool.sh": "greet() {\n  echo hi\n}\ngreet\n",
    }
    root = write_tree(tmp_path / "mixed", files)
    crawl_with_ty(root, jobs=1)
    with editor(root) as client:
        for path, name in (("app.py", "start"), ("web/app.ts", "render"), ("cmd/main.go", "main"), ("tool.sh", "greet")):
            outline = client.ask("textDocument/documentSymbol", {"textDocument": {"uri": client.uri(path)}})
            assert outline[0]["name"] == name, path
            assert piece(files[path], outline[0]["selectionRange"]) == name
            assert name in [item["name"] for item in client.ask("workspace/symbol", {"query": name})]
        client.ask("textDocument/references", {**client.at("cmd/main.go", "func @@run"), "context": {"includeDeclaration": True}})
        assert client.status() != "complete"
        client.ask("textDocument/references", {**client.at("app.py", "def @@start"), "context": {"includeDeclaration": True}})
        assert client.status() == "complete"
        notes = client.ask("textDocument/diagnostic", {"textDocument": {"uri": client.uri("cmd/other.go")}})["items"]
        assert any("no language server" in note["message"] for note in notes)


# ---- what no client should send


def hello(wire: Bare, root: Path, **capabilities: Any) -> None:
    assert "result" in wire.initialize(root, capabilities=capabilities)
    wire.send({"jsonrpc": "2.0", "method": "initialized", "params": {}})


def test_malformed_messages_are_answered_with_errors_and_cost_nothing_else(shop_root: Path):
    with bare(shop_root) as wire:
        assert wire.ask(1, "textDocument/hover", {})["error"]["code"] == ErrorCodes.SERVER_NOT_INITIALIZED
        hello(wire, shop_root)
        wire.send(b"{")
        assert wire.answer(None)["error"]["code"] == ErrorCodes.PARSE_ERROR
        wire.send(b"\xff\xfe")
        assert wire.answer(None)["error"]["code"] == ErrorCodes.PARSE_ERROR
        wire.send(b'[{"jsonrpc":"2.0","id":2,"method":"shutdown"}]')
        assert wire.answer(None)["error"]["code"] == ErrorCodes.INVALID_REQUEST
        wire.send({"jsonrpc": "2.0", "id": 3, "method": 7})
        assert wire.answer(3)["error"]["code"] == ErrorCodes.INVALID_REQUEST
        wire.send(b'{"jsonrpc":"2.0","id":4,"method":"textDocument/hover","params":' + b"[" * 100_000 + b"]" * 100_000 + b"}")
        wire.send({"jsonrpc": "2.0", "id": 9, "result": "nobody has asked"})
        assert wire.ask(5, "nobody/knows")["error"]["code"] == ErrorCodes.METHOD_NOT_FOUND
        before = {"textDocument": {"uri": "file:///x"}, "position": {"line": -1, "character": 0}}
        for number, params in enumerate((None, [], {}, {"textDocument": 5}, before)):
            assert wire.ask(f"p{number}", "textDocument/hover", params)["error"]["code"] == ErrorCodes.INVALID_PARAMS
        for number, uri in enumerate(("", "untitled:1", "file:relative", "file:///nowhere/x.py", "file:///%00", "http://[::1")):
            at = {"textDocument": {"uri": uri}, "position": {"line": 0, "character": 0}}
            assert wire.ask(f"u{number}", "textDocument/hover", at)["result"] is None
        assert wire.ask("half", "textDocument/hover", {"textDocument": {"uri": "\ud800"}})["error"]["code"] == ErrorCodes.PARSE_ERROR
        for method in ("didOpen", "didChange", "didClose", "didSave"):
            wire.send({"jsonrpc": "2.0", "method": f"textDocument/{method}", "params": {"textDocument": {"uri": 3}}})
        assert wire.ask(6, "initialize", {})["error"]["code"] == ErrorCodes.INVALID_REQUEST
        assert wire.ask(7, "shutdown")["result"] is None
        assert wire.ask(8, "textDocument/hover", {})["error"]["code"] == ErrorCodes.INVALID_REQUEST
        wire.send({"jsonrpc": "2.0", "method": "exit"})
        code, said = wire.end()
        assert code == 0
        assert "Traceback" not in said + str(wire.seen)


def test_a_client_that_goes_away_ends_the_server(shop_root: Path):
    with bare(shop_root) as wire:
        hello(wire, shop_root)
        assert wire.process.stdin is not None
        wire.process.stdin.close()
        wire.process.stdin = None
        assert wire.end()[0] == 1
    with bare(shop_root) as wire:
        hello(wire, shop_root)
        wire.send({"jsonrpc": "2.0", "method": "exit"})
        assert wire.end()[0] == 1  # without a word of farewell


def test_a_stream_without_frames_ends_the_server_with_a_word(shop_root: Path):
    with bare(shop_root) as wire:
        hello(wire, shop_root)
        wire.raw(b"Content-Length: many\r\n\r\n{}")
        code, said = wire.end()
    assert code == 1
    assert "the client cannot be understood any more" in said
    assert "Traceback" not in said


def test_the_server_ends_when_its_client_does_though_its_stdin_stays_open(shop_root: Path):
    client = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    with bare(shop_root) as wire:
        wire.initialize(shop_root, processId=client.pid)
        assert wire.ask(1, "workspace/symbol", {"query": "outer"})["result"]
        client.communicate(b"\n")
        assert wire.process.wait(60) == 1


def test_nothing_of_an_index_is_answered_that_a_stranger_made(copy: Path):
    """As everywhere: the answer comes, and says that nothing of it is to be believed."""
    with editor(copy, environment={"LSPIDX_STATE_DIR": str(copy.parent / "another")}) as client:
        client.ask("textDocument/definition", client.at(SERVICE, "    return @@run(3)"))
        assert client.status() == "unknown"
        assert "foreign_index" in client.codes()

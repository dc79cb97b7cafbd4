"""Whether a crawl lost a language, and what may not be replaced by it."""

from __future__ import annotations

from indexer.crawl.plan.losses import languages_lost, unresolved_too_often, without_server, worse_than
from indexer.crawl.units import PlannedDocument

DEFINITION = "textDocument/definition"


def documents(**counts: int) -> list[PlannedDocument]:
    return [
        PlannedDocument(path=f"{number}.{language}", language=language, digest="", size_bytes=1)
        for language, count in counts.items()
        for number in range(count)
    ]


def losses(language: str, count: int, reason: str = "not_ready") -> list[tuple[str, str, str]]:
    return [(f"{number}.{language}", DEFINITION, reason) for number in range(count)]


def test_a_language_is_lost_with_half_of_its_files():
    found = languages_lost(documents(go=78, python=3), [*losses("go", 75), *losses("python", 1)], {"go": "knows nothing"})
    assert [(item.language, item.documents, item.lost, item.why) for item in found] == [("go", 78, 75, "knows nothing")]
    assert found[0].sentence == "75 of 78 go files have no answers from a server (not ready): knows nothing"
    assert "language.go.timeout_s" in found[0].remedy


def test_other_methods_lose_no_language():
    assert languages_lost(documents(go=1), [("0.go", "textDocument/hover", "server_error: x")], {}) == []


def test_the_commonest_reason_is_named():
    [found] = languages_lost(documents(c=3), [*losses("c", 3, "server_timeout")[:2], ("2.c", DEFINITION, "server_error: bad")], {})
    assert found.reason == "server_timeout"


def test_an_index_that_has_the_language_is_better():
    lost = languages_lost(documents(go=2), losses("go", 2), {})
    assert worse_than({"resolution": {"go": {"identifiers": 9}}}, lost) == lost
    assert worse_than({"resolution": {"python": {"identifiers": 9}}}, lost) == []
    assert worse_than({"resolution": {"go": {"identifiers": 9}}, "languages_lost": [{"language": "go"}]}, lost) == []


def test_a_share_of_identifiers_can_be_asked_for():
    resolution = {"go": {"identifiers": 100, "unresolved": 30}, "python": {"identifiers": 0, "unresolved": 0}}
    assert unresolved_too_often(resolution, 70.0) == []
    [sentence] = unresolved_too_often(resolution, 70.5)
    assert sentence == "70.0 % of the go identifiers are resolved, less than min_resolved = 70.5"
    assert unresolved_too_often(resolution, 0.0) == []


def test_languages_of_a_few_files_without_a_server_are_said_together() -> None:
    """bat highlights ninety languages, with two files of each; a line for each hid what the clone lacks."""
    missing = {name: f"{name}d: to get it: gem install {name}d" for name in ("ruby", "haskell", "dart", "elm", "lua")}
    languages = ["ruby"] * 9 + ["haskell"] * 5 + ["dart"] * 2 + ["elm"] * 2 + ["lua"] + ["rust"] * 60
    assert without_server(missing, languages) == [
        "9 ruby files have no language server here, only their text is read; rubyd: to get it: gem install rubyd",
        "10 files of 4 languages have no language server here, only their text is read: haskell, dart, elm, lua; "
        "to get them: lspidx doctor",
    ]
    few = {name: missing[name] for name in ("ruby", "haskell", "dart")}
    assert len(without_server(few, languages)) == 3
    assert without_server({}, languages) == []

"""When a server is believed, and what becomes of files that no build takes in."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import msgspec
import pytest
from support import Watcher, assert_all_ended, fake_server, rows, write_tree
from toolchains import requires

from indexer.config import Config
from indexer.crawl.plan import choice
from indexer.crawl.plan.probes import probe_documents
from indexer.crawl.run import Crawl, crawl, read_manifest
from indexer.crawl.units import PlannedDocument
from indexer.crawl.worker.probing import Probe, Probing
from indexer.drive.readiness import Readiness
from indexer.errors import LanguageLost, ServerError
from indexer.lsp.session import Answer, Notification
from indexer.store.generations import Home
from query.facts.index import open_index
from query.surface.registry import call

UNBUILT = {"unbuilt": "^no package metadata for file"}
FILES = {f"part{number}/a.ts": f"export function f{number}() {{}}\nf{number}();\n" for number in range(4)}
CORNER = {f"corner/c{number}.ts": f"function g{number}() {{}}\ng{number}();\n" for number in range(3)}

CrawlWith = Callable[..., Crawl]


@pytest.fixture
def crawl_with(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[CrawlWith]:
    """Crawls `work` with the fake server as that of TypeScript; no process may be left afterwards."""
    pids = tmp_path / "pids"
    pids.mkdir()

    def go(script: str, *, timeout_s: float = 10.0, accept_loss: bool = False, spec: Mapping[str, Any] | None = None) -> Crawl:
        found = fake_server(script, pids, language="typescript", **{"open": "none", "timeout_s": timeout_s, **(spec or {})})
        monkeypatch.setattr(choice, "find_server", lambda name, avoid=(): found)
        return crawl(tmp_path / "work", Config(jobs=1), Watcher(), environment={}, accept_loss=accept_loss)

    yield go
    assert_all_ended([int(file.name) for file in pids.iterdir()])


def _coverage(done: Crawl, path: str) -> set[tuple[str, str]]:
    """Status and reason of each method that was asked about a document, or that has a reason."""
    joined = f"FROM document_coverage c JOIN document d USING (doc_id) WHERE d.path = '{path}'"
    return set(rows(done.generation, f"SELECT c.status, c.reason {joined} AND (c.asked > 0 OR c.reason <> '')"))


@pytest.mark.slow
def test_a_server_may_load_longer_than_its_limit_while_it_says_how_far_it_has_come(crawl_with: CrawlWith, tmp_path: Path):
    write_tree(tmp_path / "work", FILES)
    done = crawl_with("progress_crawls", timeout_s=1.5, spec={"ready": "progress", "ready_title": "Loading"})
    assert done.manifest["lost"] == {}
    assert done.manifest["server_restarts"] == 0


@pytest.mark.slow
def test_a_corner_that_no_build_takes_in_loses_nothing(crawl_with: CrawlWith, tmp_path: Path):
    """An incremental run in which only such files have changed: the server knows none of them, and is ready all the same."""
    root = write_tree(tmp_path / "work", {**FILES, **CORNER})
    first = crawl_with("leaves_a_corner_out", spec=UNBUILT)
    write_tree(root, {path: f"// changed\n{text}" for path, text in CORNER.items()})
    done = crawl_with("leaves_a_corner_out", spec=UNBUILT)
    for made in (first, done):
        assert made.manifest["lost"] == {}
        assert made.manifest["languages_lost"] == []
        assert ("done", "") in _coverage(made, "part0/a.ts")
        assert {status for status, _ in _coverage(made, "corner/c0.ts")} == {"done", "skipped"}
    assert crawl_with("leaves_a_corner_out", spec=UNBUILT).up_to_date


@pytest.mark.slow
def test_answers_that_such_a_file_could_belong_to_say_so(crawl_with: CrawlWith, tmp_path: Path):
    root = write_tree(tmp_path / "work", {**FILES, **{path: f"{text}f1();\n" for path, text in CORNER.items()}})
    crawl_with("leaves_a_corner_out", spec=UNBUILT)
    with open_index(root) as index:
        answer = call(index, "find_callers", {"symbol": "f1"})
    assert answer.completeness.status == "partial"
    assert [reason.code for reason in answer.completeness.reasons] == ["not_in_build"]
    assert answer.completeness.reasons[0].paths == sorted(CORNER)


@pytest.mark.slow
def test_what_a_server_says_of_a_failed_load_ends_the_wait(crawl_with: CrawlWith, tmp_path: Path):
    write_tree(tmp_path / "work", FILES)
    with pytest.raises(ServerError, match="could not load the workspace: module lookup disabled"):
        crawl_with("complains", timeout_s=600, spec={"ready_failed": "errors loading workspace: (.*)"})
    assert Home(tmp_path / "work").current() is None


@pytest.mark.slow
def test_an_index_that_has_a_language_is_not_replaced_by_one_without(
    crawl_with: CrawlWith, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """Unless that is asked for; then the loss is in the manifest, and the next run has nothing to lose any more."""
    root = write_tree(tmp_path / "work", {**FILES, "b.py": "def f(): pass\nf()\n"})
    pids = tmp_path / "pids"  # which the fixture looks at
    other = fake_server("good", pids, language="python", open="none", timeout_s=10.0)
    good = fake_server("good", pids, language="typescript", open="none", timeout_s=10.0)
    bad = fake_server("dies_at_start", pids, language="typescript", open="none", timeout_s=10.0)
    renamed = msgspec.structs.replace(other, spec=msgspec.structs.replace(other.spec, name="other"))

    def crawl_by(typescript: Any, **options: Any) -> Crawl:
        monkeypatch.setattr(choice, "find_server", lambda name, avoid=(): renamed if "ty" in name else typescript)
        return crawl(root, Config(jobs=1), Watcher(), environment={}, **options)

    before = crawl_by(good)
    write_tree(root, {path: f"{text}// changed\n" for path, text in FILES.items()} | {"b.py": "def g(): pass\ng()\n"})
    with pytest.raises(LanguageLost, match=r"4 of 4 typescript files .*--accept-loss"):
        crawl_by(bad)
    assert Home(root).current() == before.generation
    after = crawl_by(bad, accept_loss=True)
    assert [item["language"] for item in read_manifest(after.generation)["languages_lost"]] == ["typescript"]


WITHOUT_HEADERS = """#include <Absent.h>
static Handle *mask(Handle *self, Handle *given)
{
    int size = 0;
    if (!absent_parse(given, &size)) { return NULL; }
    for (int i = 0; i < size; i++) { size += i; }
    return absent_of(size);
}
static AbsentMethod methods[] = {
    {"mask", mask, ABSENT_FLAG, ""},
    {NULL, NULL, 0, NULL}
};
static struct AbsentModule module = { ABSENT_HEAD, "mask", NULL, -1, methods };
ABSENT_INIT
made(void) {
    return absent_make(&module);
}
"""


@pytest.mark.slow
def test_a_file_whose_headers_are_absent_loses_no_language(tmp_path: Path):
    """tornado's one file of C includes Python.h: clangd was "never ready", and C was lost after a minute."""
    requires("clangd")
    root = write_tree(tmp_path / "work", {"mask.c": WITHOUT_HEADERS})
    done = crawl(root, Config(jobs=1), Watcher(), environment={})
    assert done.manifest["languages_lost"] == []
    assert done.manifest["lost"] == {}


def _progress(kind: str, **value: Any) -> Notification:
    params = {"token": 1, "value": {"kind": kind, **value}}
    return Notification("$/progress", msgspec.Raw(msgspec.json.encode(params)))


def test_only_news_are_a_sign_of_progress():
    readiness = Readiness("progress", "^Load", "", {})
    readiness.notified(_progress("begin", title="Loading"))
    readiness.notified(_progress("report", percentage=10))
    readiness.notified(_progress("report", percentage=10))
    assert (readiness.signs, readiness.ready) == (2, False)
    readiness.notified(_progress("report", percentage=20))
    readiness.notified(_progress("end"))
    assert (readiness.signs, readiness.ready) == (4, True)


def test_the_reason_of_a_failed_load_is_the_servers_own_word():
    readiness = Readiness("initialized", "", "", {}, "failed: (.*)")
    message = {"type": 1, "message": "initial load failed: no\n  network"}
    readiness.notified(Notification("window/logMessage", msgspec.Raw(msgspec.json.encode(message))))
    assert readiness.failure == "no"
    assert readiness.signs == 0


def test_probes_come_from_different_folders_and_the_upper_ones_first():
    def planned(path: str, size: int, *, is_test: bool = False) -> PlannedDocument:
        return PlannedDocument(path=path, language="go", digest="", size_bytes=size, is_test=is_test)

    documents = [
        planned("_examples/x/a.go", 900),
        planned("a.go", 10),
        planned("b.go", 20),
        planned("b_test.go", 15, is_test=True),
        planned("middleware/c.go", 50),
        planned("middleware/huge.go", 10_000_000),
    ]
    assert [item.path for item in probe_documents(documents)] == ["b.go", "middleware/c.go", "_examples/x/a.go"]


def test_what_was_answered_while_a_proof_failed_is_not_waited_for_again():
    """A first question that wakes a server is answered late, with those of the first proof; the second proof has its own to wait for."""
    numbers = itertools.count(3)
    open_: list[int] = [2]  # that first question

    def request(method: bytes, params: bytes) -> int:
        open_.append(next(numbers))
        return open_[-1]

    def wait() -> list[Answer]:
        assert open_, "nothing is left that could come"
        return [Answer(open_.pop(), msgspec.Raw(b"null"), None)]

    talk: Any = SimpleNamespace(
        session=SimpleNamespace(supports=lambda capability: True, request=request),
        client=SimpleNamespace(wait=wait),
        notified=lambda events: None,
    )
    document: Any = SimpleNamespace(
        syntax=SimpleNamespace(tokens=SimpleNamespace(line=[0], col=[0])), uri_json=b'"file:///a"', unbuilt=False
    )
    reader: Any = SimpleNamespace(says_unbuilt=lambda event: False)
    sources: Any = SimpleNamespace(careful=True)
    probing, asked = Probing(cast("Any", None), sources, reader), {2}
    for _ in range(2):
        assert not probing._succeeds(talk, [Probe(document, [0])], asked)
        assert asked == set()

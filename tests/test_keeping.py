"""Questions and edits of a process that lives, right after files have changed."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from support import Watcher, crawl_with_ty, write_tree

from indexer.errors import EditRefused, Locked, ServerError
from query.answers.envelope import Answer
from query.surface import service as services
from query.surface.service import Service
from query.upkeep import keeping
from query.upkeep.ahead import Ahead

FILES = {
    "pyproject.toml": '[project]\nname = "thing"\n',
    "thing/__init__.py": "",
    "thing/a.py": '__all__ = ["first"]\n\n\ndef first() -> int:\n    return 1\n',
    "thing/b.py": "from thing.a import first\n\n\ndef second() -> int:\n    return first()\n",
    "thing/c.py": "def third() -> int:\n    return 3\n",
}
NEW_CALLER = "from thing.a import first\n\n\ndef fourth() -> int:\n    return first()\n"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = write_tree(tmp_path / "thing", FILES)
    crawl_with_ty(root)
    return root


@pytest.fixture
def service(root: Path) -> Iterator[Service]:
    found = Service(root, keeps_fresh=True)
    yield found
    found.close()


def _callers(service: Service) -> tuple[list[str], str, list[str]]:
    answer = service.ask("find_callers", {"symbol": "thing.a.first"})
    reasons = [reason.code for reason in answer.completeness.reasons]
    return sorted(item.symbol.qualified_name for item in answer.result), answer.completeness.status, reasons


def test_a_question_after_an_edit_is_answered_of_the_tree_as_it_is(service: Service, root: Path) -> None:
    assert _callers(service) == (["thing.b.second"], "complete", [])
    (root / "thing/c.py").write_text(NEW_CALLER)
    assert _callers(service) == (["thing.b.second", "thing.c.fourth"], "complete", [])
    (root / "thing/b.py").write_text("x = 1\n")
    (root / "thing/new.py").write_text(NEW_CALLER.replace("fourth", "fifth"))
    assert _callers(service) == (["thing.c.fourth", "thing.new.fifth"], "complete", [])
    found = service.ask("get_symbol_source", {"symbol": "thing.new.fifth"})
    assert "return first()" in found.result[0].source


def test_a_file_that_changed_while_it_was_read_and_is_again_what_it_was_is_read_at_the_next_question(root: Path) -> None:
    """As `git stash` and `git stash pop` during a crawl: by stamp and digest nothing has changed, and nothing is known of it."""
    path = root / "thing/b.py"
    (root / "thing/c.py").write_text(NEW_CALLER)

    def edited_meanwhile(phase: str) -> None:
        if phase == "crawl":
            path.write_text("x = 1\n")

    crawl_with_ty(root, watcher=Watcher(on_phase=edited_meanwhile), full=True)
    path.write_text(FILES["thing/b.py"])
    telling = Service(root)
    assert _callers(telling) == (["thing.c.fourth"], "partial", ["stale"])
    telling.close()
    keeping = Service(root, keeps_fresh=True, patience_s=60.0)
    assert _callers(keeping) == (["thing.b.second", "thing.c.fourth"], "complete", [])
    keeping.close()


def test_a_service_that_does_not_keep_the_index_fresh_says_that_it_is_stale(root: Path) -> None:
    service = Service(root)
    (root / "thing/c.py").write_text(NEW_CALLER)
    assert _callers(service) == (["thing.b.second"], "partial", ["stale"])


def _counting(monkeypatch: pytest.MonkeyPatch, error: Exception) -> list[int]:
    calls: list[int] = []

    def fail(*_: Any, **__: Any) -> None:
        calls.append(1)
        raise error

    monkeypatch.setattr(services, "recrawl", fail)
    return calls


def test_a_refresh_that_fails_leaves_the_answer_stale_and_is_tried_again_for_other_files(
    service: Service, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = _counting(monkeypatch, ServerError("no server"))
    (root / "thing/c.py").write_text(NEW_CALLER)
    for _ in range(3):
        assert _callers(service)[1:] == ("partial", ["stale"])
    assert len(calls) == 1
    (root / "thing/b.py").write_text(NEW_CALLER)
    assert _callers(service)[1:] == ("partial", ["stale"])
    assert len(calls) == 2


def test_where_another_process_makes_the_index_its_result_is_taken(service: Service, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (root / "thing/c.py").write_text(NEW_CALLER)
    with monkeypatch.context() as patched:
        calls = _counting(patched, Locked("somebody is at it"))
        assert _callers(service)[1:] == ("partial", ["stale"])
        assert calls
    crawl_with_ty(root)
    assert _callers(service) == (["thing.b.second", "thing.c.fourth"], "complete", [])


def test_a_question_waits_no_longer_than_it_may_and_says_that_the_index_is_being_made(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    may_go_on, is_over, recrawl = threading.Event(), threading.Event(), services.recrawl

    def slow(*arguments: Any, **named: Any) -> None:
        assert may_go_on.wait(60)
        recrawl(*arguments, **named)
        is_over.set()

    monkeypatch.setattr(services, "recrawl", slow)
    impatient, patient = Service(root, keeps_fresh=True, patience_s=0.05), Service(root, keeps_fresh=True, patience_s=60.0)
    try:
        (root / "thing/c.py").write_text(NEW_CALLER)
        answer = impatient.ask("find_callers", {"symbol": "thing.a.first"})
        assert "ask again" in answer.completeness.reasons[0].detail
        assert impatient.ask("find_callers", {"symbol": "thing.a.first"}).completeness.status == "partial"
        may_go_on.set()
        assert is_over.wait(60)
        assert _callers(impatient) == (["thing.b.second", "thing.c.fourth"], "complete", [])
        may_go_on.clear()
        threading.Timer(0.2, may_go_on.set).start()
        (root / "thing/b.py").write_text("x = 1\n")
        assert _callers(patient) == (["thing.c.fourth"], "complete", [])
    finally:
        may_go_on.set()
        impatient.close()
        patient.close()


_ENDS_MEANWHILE = """
import sys, duckdb
from pathlib import Path
from query.surface import service as services

def merge(root, flags, progress, **_):
    progress(0, 0, "merge")
    database = duckdb.connect(":memory:", config={"threads": 1})
    for _ in range(1500):
        database.execute("SELECT count(*) FROM range(20000) WHERE hash(range) % 7 = 1").fetchall()
    print("merged", flush=True)

services.recrawl = merge
root = Path(sys.argv[1])
(root / "thing/c.py").write_text("first")
service = services.Service(root, keeps_fresh=True, patience_s=0.01)
print(service.ask("find_callers", {"symbol": "thing.a.first"}).completeness.status, flush=True)
if sys.argv[2] == "closes":
    service.close()
"""


@pytest.mark.parametrize("end", ["closes", "only ends"])
def test_a_process_that_ends_in_the_midst_of_a_refresh_is_not_brought_down_by_it(root: Path, end: str) -> None:
    """Python ends its daemon threads wherever they are: within the database's code that is `FATAL: exception not rethrown`, and a core."""
    command = [sys.executable, "-c", _ENDS_MEANWHILE, str(root), end]
    done = subprocess.run(command, cwd=Path(__file__).parent.parent, capture_output=True, text=True, check=False, timeout=120)
    assert (done.returncode, done.stdout.split(), done.stderr) == (0, ["partial", "merged"], "")


def test_a_refresh_ends_at_its_next_step_once_nobody_can_ask_any_more(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    steps: list[int] = []
    begun, may_go_on, is_over = threading.Event(), threading.Event(), threading.Event()

    def crawl(_root: Path, _flags: object, progress: Callable[[int, int, str], None], **_: object) -> None:
        begun.set()
        may_go_on.wait(60)
        try:
            for step in range(100):
                progress(step, 100, "crawl")
                steps.append(step)
        finally:
            is_over.set()

    monkeypatch.setattr(services, "recrawl", crawl)
    service = Service(root, keeps_fresh=True, patience_s=0.01)
    (root / "thing/c.py").write_text("first")
    assert _callers(service)[1] == "partial"
    assert begun.wait(60)
    service.close()
    may_go_on.set()
    assert is_over.wait(60)
    assert steps == []
    assert not service.is_refreshing or _soon(lambda: not service.is_refreshing)


def test_an_edit_waits_for_the_index_though_the_last_refresh_took_long_and_a_question_does_not() -> None:
    may_go_on, waited = threading.Event(), threading.Event()

    def refresh(_progress: object) -> None:
        assert may_go_on.wait(60)

    keeper = keeping.Keeper(refresh, patience_s=30.0)
    keeper._took_s = keeping.LONGEST_WAIT_S + 1  # pyright: ignore[reportPrivateUsage]
    assert not keeper.catch_up(["a.py"])
    thread = threading.Thread(target=lambda: waited.set() if keeper.catch_up(["a.py"], writes=True) else None)
    thread.start()
    may_go_on.set()
    thread.join(60)
    assert waited.is_set()


def _soon(holds: Callable[[], bool]) -> bool:
    return any(holds() or time.sleep(0.01) for _ in range(1000))


# ---- edits


def _renamed(service: Service, **arguments: Any) -> Answer[Any]:
    return service.ask("rename_symbol", {"symbol": "thing.a.first", "new_name": "primary", "apply": True, **arguments})


@pytest.mark.parametrize("keeps_fresh", [False, True])
def test_a_rename_after_an_edit_of_the_defining_file_is_held_against_the_index_of_now(root: Path, keeps_fresh: bool) -> None:
    """The server passes over `__all__`, which only the index knows: a rename by the server alone breaks every import by `*`."""
    service = Service(root, keeps_fresh=keeps_fresh)
    try:
        with (root / "thing/a.py").open("a") as file:
            file.write("# a remark\n")
        (root / "thing/c.py").write_text(NEW_CALLER)
        before = {path: path.read_text() for path in root.rglob("*.py")}
        with pytest.raises(EditRefused, match="1 use that the server would not rename"):
            _renamed(service)
        assert {path: path.read_text() for path in root.rglob("*.py")} == before
        answer = _renamed(service, sites="both")
        assert answer.result.edited.edits == 6
        assert not [path for path in root.rglob("*.py") if "first" in path.read_text()]
    finally:
        service.close()


def test_nothing_is_renamed_where_the_index_could_not_be_brought_up_to_date(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    service = Service(root)
    _counting(monkeypatch, Locked("somebody is at it"))
    try:
        (root / "thing/c.py").write_text(NEW_CALLER)
        for sites in ("ask", "both"):
            with pytest.raises(EditRefused, match="changed since the index was made"):
                _renamed(service, sites=sites)
        with (root / "thing/a.py").open("a") as file:
            file.write("# a remark\n")
        for sites in ("ask", "both"):
            with pytest.raises(EditRefused, match="nothing was written"):
                _renamed(service, sites=sites)
        assert "first" in (root / "thing/c.py").read_text()
        assert _renamed(service, sites="server").result.edited.applied
    finally:
        service.close()


def test_nothing_is_renamed_without_consent_where_uses_may_be_unknown(root: Path) -> None:
    service = Service(root)
    try:
        (root / "thing/c.py").write_text(
            "def look(x):\n    return x.first()\n\n\ndef other(module):\n    return getattr(module, 'first')\n"
        )
        (root / "thing/a.py").write_text(FILES["thing/a.py"].replace('__all__ = ["first"]\n\n\n', ""))
        with pytest.raises(EditRefused, match="uses may be left that are not known"):
            _renamed(service)
        assert _renamed(service, sites="both").result.edited.edits == 3
    finally:
        service.close()


def test_strictly_nothing_is_written_that_is_not_complete_whatever_is_allowed(root: Path) -> None:
    service = Service(root)
    try:
        (root / "thing/c.py").write_text("def other(module):\n    return getattr(module, 'first')\n")
        with pytest.raises(EditRefused, match="strict"):
            service.ask("rename_symbol", {"symbol": "thing.a.first", "new_name": "primary", "apply": True, "sites": "both"}, strict=True)
        assert "first" in (root / "thing/a.py").read_text()
    finally:
        service.close()


# ---- before anybody asks


@pytest.fixture
def asked_often(root: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Service]:
    """A service that has been asked often enough for the system to tell it of changes, on whatever file system the tests run."""
    monkeypatch.setattr("query.facts.watching._are_local", lambda folders: True)
    service = Service(root, keeps_fresh=True)
    for _ in range(4):
        _callers(service)
    yield service
    service.close()


def _until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60.0
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_an_edit_is_in_the_index_before_anybody_asks(asked_often: Service, root: Path) -> None:
    before = asked_often.index().generation
    (root / "thing/c.py").write_text(NEW_CALLER)
    _until(lambda: asked_often.index().generation != before)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(asked_often, "catch_up", lambda *_: None)
        assert _callers(asked_often) == (["thing.b.second", "thing.c.fourth"], "complete", [])


def test_an_edit_during_a_refresh_is_in_the_next_one(asked_often: Service, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real, edits = services.recrawl, [FILES["thing/c.py"], NEW_CALLER.replace("fourth", "fifth")]

    def edited_after(*arguments: Any, **settings: Any) -> None:
        real(*arguments, **settings)
        if edits:
            (root / "thing/c.py").write_text(edits.pop())
            asked_often.is_stale_now = bool(services.drift(asked_often.index()).paths)  # type: ignore[attr-defined]  # takes the event away

    monkeypatch.setattr(services, "recrawl", edited_after)
    (root / "thing/c.py").write_text(NEW_CALLER)
    _until(lambda: not edits and not services.drift(asked_often.index()).paths)
    assert _callers(asked_often) == (["thing.b.second"], "complete", [])


def test_what_failed_is_not_tried_again_before_other_files_change(
    asked_often: Service, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = _counting(monkeypatch, ServerError("no server"))
    (root / "thing/c.py").write_text(NEW_CALLER)
    _until(lambda: bool(calls))
    time.sleep(2.5)
    assert len(calls) == 1
    (root / "thing/b.py").write_text(NEW_CALLER)
    _until(lambda: len(calls) == 2)


def test_nothing_is_made_while_files_still_change() -> None:
    still = iter([True] * 5)
    looks: list[int] = []
    made: list[int] = []

    def changed() -> list[str]:
        looks.append(1)
        return ["a.py"]

    ahead = Ahead(lambda most_s: next(still, False) or bool(time.sleep(0.01)), changed, lambda _: made.append(len(looks)), lambda: 0.1)
    ahead.asked()
    _until(lambda: bool(made))
    ahead.close()
    assert made == [5]


def test_nothing_is_made_ahead_where_the_user_wants_none(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("query.facts.watching._are_local", lambda folders: True)
    monkeypatch.setenv("LSPIDX_REFRESH_PAUSE_S", "0")
    service = Service(root, keeps_fresh=True)
    calls = _counting(monkeypatch, ServerError("no server"))
    for _ in range(4):
        _callers(service)
    (root / "thing/c.py").write_text(NEW_CALLER)
    time.sleep(2.5)
    assert not calls
    assert not [thread for thread in threading.enumerate() if thread.name == "ahead"]
    service.close()


def test_a_service_that_is_closed_leaves_no_thread(asked_often: Service) -> None:
    _until(lambda: any(thread.name == "ahead" for thread in threading.enumerate()))
    asked_often.close()
    _until(lambda: not any(thread.name == "ahead" for thread in threading.enumerate()))


def test_nothing_is_made_ahead_long_after_the_last_question(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("query.upkeep.ahead.ASKED_S", 0.0)
    stirred: list[float] = []
    ahead = Ahead(lambda most_s: bool(stirred.append(most_s)), list, lambda _: None, lambda: 1.0)
    ahead.asked()
    _until(lambda: not any(thread.name == "ahead" for thread in threading.enumerate()))
    assert not stirred


def test_an_edit_by_a_command_says_that_the_index_is_from_before_it(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where nobody keeps the index fresh: of a process that does, the next question is answered of the tree as it is."""
    monkeypatch.chdir(root)
    ask = {"file_path": "thing/c.py", "symbol_path": "third", "code": "\n\nlast = 0\n", "apply": True}
    telling = Service(root)
    assert not telling.ask("insert_after_symbol", ask | {"apply": False}).beside
    written = telling.ask("insert_after_symbol", ask)
    assert written.beside == ["the index is from before this edit of 1 file; to bring it up to date: lspidx index"]
    telling.close()
    following = Service(root, follows_edits=True)
    assert not following.ask("rename_symbol", {"symbol": "thing.c.third", "new_name": "fourth", "apply": True, "sites": "both"}).beside
    assert following.ask("find_symbol", {"query": "thing.c.fourth"}).total
    following.close()
    keeping = Service(root, keeps_fresh=True)
    assert not keeping.ask("insert_after_symbol", ask | {"symbol_path": "fourth"}).beside
    keeping.close()

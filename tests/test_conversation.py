"""What a conversation with a server is held by: texts and their versions, published diagnostics, how long a signal is waited for."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import msgspec
import pytest

from indexer.drive import published as published_module
from indexer.drive.published import FIRST_WAIT_S, Published
from indexer.drive.readiness import LOADS_AT_MOST, Patience, Readiness, Wait
from indexer.drive.texts import Texts
from indexer.lsp import decode
from indexer.lsp.session import Notification
from indexer.lsp.uri import path_to_uri


class Told(list[tuple[str, dict[str, Any]]]):
    """What a server was told."""

    def __call__(self, method: bytes, params: bytes) -> None:
        self.append((method.decode(), msgspec.json.decode(params)))


def _published(texts: Texts) -> Published[decode.Diagnostic]:
    found = Published(decode.diagnostics)
    found.begin(texts)
    return found


def _says(path: str, *messages: str, **more: Any) -> Notification:
    place = {"start": {"line": 0, "character": 0}, "end": {"line": 0, "character": 1}}
    items = [{"range": place, "message": message} for message in messages]
    params = {"uri": path_to_uri(path), "diagnostics": items, **more}
    return Notification("textDocument/publishDiagnostics", msgspec.Raw(msgspec.json.encode(params)))


def test_no_two_texts_have_one_version():
    told = Told()
    texts = Texts(told)
    versions = [texts.open("/a", "python", "x"), texts.change("/a", "y"), texts.open("/b", "python", "x")]
    assert texts.close("/a")
    assert not texts.close("/a")
    versions.append(texts.open("/a", "python", "x"))
    assert versions == sorted(set(versions))
    assert [method.rpartition("/")[2] for method, _ in told] == ["didOpen", "didChange", "didOpen", "didClose", "didOpen"]
    assert "/a" in texts


def test_only_a_change_that_says_so_makes_clangd_build_the_same_text_again():
    told = Told()
    texts = Texts(told)
    texts.open("/a", "cpp", "x")
    texts.change("/a", "x")
    texts.change("/a", "x", rebuild=True)
    assert [params.get("forceRebuild") for _, params in told] == [None, None, True]


def test_published_diagnostics_count_for_open_texts_and_by_version():
    texts = Texts(Told())
    version = texts.open("/a", "python", "x")
    found = _published(texts)
    found.take(_says("/b", "of a text that nobody has opened"))
    assert found.of("/b") is None
    found.take(_says("/a", "old", version=version))
    later = texts.change("/a", "y")
    assert found.of("/a", later) is None
    assert [item.message for item in found.of("/a") or ()] == ["old"]
    found.take(_says("/a", "new", version="no number"))
    assert [item.message for item in found.of("/a", later) or ()] == ["new"]
    found.take(Notification("x", msgspec.Raw(b'{"uri": "file:///a", "diagnostics": [{}]}')))
    assert [item.message for item in found.of("/a", later) or ()] == ["new"], "what cannot be read is no diagnostics"
    found.forget("/a")
    assert found.of("/a") is None


def test_a_server_that_keeps_no_appointment_is_waited_for_less_and_then_not_at_all():
    texts = Texts(Told())
    texts.open("/a", "python", "x")
    found = _published(texts)
    waits = [found.wait_s()]
    for _ in range(3):
        found.missed()
        waits.append(found.wait_s())
    assert waits[0] == FIRST_WAIT_S > waits[1] == waits[2] > waits[3] == 0
    found.begin(texts)
    assert found.wait_s() == 0, "its successor is no better"
    found.take(_says("/a"))
    assert found.wait_s() == FIRST_WAIT_S


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    now = SimpleNamespace(s=100.0)
    monkeypatch.setattr(published_module.time, "monotonic", lambda: now.s)
    return now


def test_a_server_is_reminded_after_longer_and_longer_times(clock: SimpleNamespace):
    texts = Texts(Told())
    version = texts.open("/a", "python", "x")
    found = _published(texts)
    reminded: list[float] = []

    def hear(seconds: float) -> None:
        clock.s += seconds

    def remind(path: str) -> None:
        reminded.append(round(clock.s - 100))
        if len(reminded) == 3:  # of the version that was first wanted: the text is the same
            found.take(_says("/a", "late", version=version))

    found.await_all({"/a": version}, 30.0, hear=hear, remind=remind)
    assert reminded == [2, 3, 6]
    assert clock.s < 107
    found.forget("/a")
    found.await_all({"/a": version}, 5.0, hear=hear, remind=reminded.append)
    assert found.of("/a") is None


def test_a_server_that_names_no_versions_has_said_all_when_it_is_quiet(clock: SimpleNamespace):
    texts = Texts(Told())
    version = texts.open("/a", "python", "x")
    found = _published(texts)
    steps = iter([("first",), (), ("second",)])

    def hear(seconds: float) -> None:
        clock.s += seconds
        if messages := next(steps, None):
            found.take(_says("/a", *messages))

    found.await_all({"/a": version}, 30.0, hear=hear, remind=lambda path: None, quiet_s=0.3)
    assert [item.message for item in found.of("/a") or ()] == ["second"]


def _progress(kind: str, **value: Any) -> Notification:
    return Notification("$/progress", msgspec.Raw(msgspec.json.encode({"token": 1, "value": {"kind": kind, **value}})))


def test_a_signal_is_waited_for_from_the_last_sign_of_progress():
    readiness = Readiness("progress", "Load", "", {})
    waits = Patience(readiness, 0.0, silence_s=10.0, most_s=LOADS_AT_MOST * 10.0)
    readiness.notified(_progress("begin", title="Load"))
    assert waits.look(5.0) is Wait.GO_ON
    assert waits.look(14.0) is Wait.GO_ON
    readiness.notified(_progress("report", percentage=1))
    assert waits.look(15.0) is Wait.GO_ON
    assert waits.look(24.0) is Wait.GO_ON
    assert waits.look(25.5) is Wait.OVERDUE
    readiness.notified(_progress("end"))
    assert waits.look(26.0) is Wait.READY


def test_a_signal_is_not_waited_for_without_end_or_without_a_sign():
    silent = Readiness("progress", "Load", "", {})
    waits = Patience(silent, 0.0, silence_s=60.0, most_s=900.0)
    assert [waits.look(now) for now in (1.0, 9.0, 11.0)] == [Wait.GO_ON, Wait.GO_ON, Wait.NO_SIGN]
    assert Patience(silent, 0.0, silence_s=4.0, most_s=60.0).look(2.5) is Wait.NO_SIGN
    talks = Readiness("progress", "Load", "", {})
    talks.notified(_progress("begin", title="Load"))
    waits = Patience(talks, 0.0, silence_s=60.0, most_s=100.0)
    for now in range(0, 100, 10):
        talks.notified(_progress("report", percentage=now))
        assert waits.look(float(now)) is Wait.GO_ON
    assert waits.look(101.0) is Wait.OVERDUE


def test_a_server_without_a_signal_is_ready_at_once():
    assert Patience(Readiness("initialized", "", "", {}), 0.0, silence_s=1.0, most_s=1.0).look(0.0) is Wait.READY

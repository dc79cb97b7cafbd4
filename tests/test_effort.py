"""What a wait for a server counts for: its own work, where it works."""

from __future__ import annotations

from pathlib import Path

import pytest
from connection_support import FakeConnection, connected
from hypothesis import given
from hypothesis import strategies as st

from indexer.drive import client as client_module
from indexer.drive.effort import FIRST_LOOK_S, MOST_CLOCK, Effort, counted_s
from indexer.errors import ServerTimeout

TIMES = st.floats(min_value=0, max_value=1e6)


@pytest.mark.parametrize(
    ("clock_s", "processor_s", "counted"),
    [
        pytest.param(100, 0, 100, id="waits for something that never comes"),
        pytest.param(100, 1, 100, id="its timers run"),
        pytest.param(100, 100, 100, id="works on a machine of its own"),
        pytest.param(100, 190, 100, id="works on two processors"),
        pytest.param(100, 40, 40, id="works, and gets less than half of a processor"),
        pytest.param(100, 5, 25, id="gets hardly anything"),
    ],
)
def test_a_server_that_works_is_measured_by_its_work(clock_s: float, processor_s: float, counted: float):
    assert counted_s(clock_s, processor_s) == counted


@given(TIMES, TIMES)
def test_every_limit_ends_after_a_few_times_its_seconds(clock_s: float, processor_s: float):
    assert clock_s / MOST_CLOCK <= counted_s(clock_s, processor_s) <= clock_s


def test_what_a_server_took_before_the_wait_is_none_of_it():
    effort = Effort(1_000.0, lambda: 50.0)
    assert effort.counted_s(1_000.0 + FIRST_LOOK_S) == FIRST_LOOK_S
    assert effort.counted_s(1_030.0) == 30.0


class Clock:
    """Each look at it is half a second after the one before."""

    def __init__(self) -> None:
        self.now = 0.0

    def monotonic(self) -> float:
        self.now += 0.5
        return self.now


@pytest.mark.parametrize(("share", "least", "most"), [(0.0, 10, 14), (0.5, 18, 26), (0.05, 36, 46)])
def test_a_silent_server_is_waited_for_by_what_it_does(
    share: float, least: float, most: float, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """A limit of ten seconds, by a clock of the test's own."""
    clock = Clock()

    class Works(FakeConnection):
        def processor_s(self) -> float:
            return share * clock.now

    client = connected(Works(), tmp_path, timeout_s=10.0)
    monkeypatch.setattr(client_module, "time", clock)
    begun = clock.now
    with pytest.raises(ServerTimeout, match="silent"):
        client.wait()
    assert least <= clock.now - begun <= most
    assert client.waited_s >= 10.0

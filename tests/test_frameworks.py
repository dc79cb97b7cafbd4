"""What frameworks of Python do with functions that they are given: FastAPI's dependencies, Celery's tasks (ADR 0123)."""

from __future__ import annotations

import pytest
from support import crawl_with_ty, installed, rows, write_tree

FILES: dict[str, str | bytes] = {
    **installed(
        {
            "fastapi/__init__.py": "from fastapi.param_functions import Depends\n",
            "fastapi/param_functions.py": "def Depends(dependency=None): ...\n",
            "celery/__init__.py": "from celery.app import shared_task\nfrom celery.app.base import Celery\n",
            "celery/app/__init__.py": "def shared_task(*args, **kwargs): ...\n",
            "celery/app/base.py": "class Celery:\n    def task(self, *args, **options): ...\n",
        }
    ),
    "pyproject.toml": "[project]\nname = 'app'\nversion = '1'\n",
    "app.py": """
from celery import Celery, shared_task
from fastapi import Depends

celery = Celery()


class Service:
    def given(self): ...
    def yielded(self): ...


def get():
    return Service()


def opened():
    yield Service()


def route(one=Depends(get), other=Depends(opened)):
    one.given()
    other.yielded()


@celery.task
def plain(service): ...


@shared_task
def shared(service):
    service.given()


@celery.task(bind=True)
def bound(self, service):
    service.yielded()


def send():
    plain.delay(1)
    shared.apply_async((Service(),))
    bound.delay(Service())
    plain.other()
""",
}


@pytest.fixture(scope="module")
def calls(tmp_path_factory: pytest.TempPathFactory) -> dict[str, set[str]]:
    done = crawl_with_ty(write_tree(tmp_path_factory.mktemp("frameworks") / "clone", FILES), jobs=1)
    sql = """
        SELECT a.name, s.name FROM calls c JOIN symbols a ON a.symbol = c.caller JOIN symbols s ON s.symbol = c.callee
        WHERE NOT s.is_external
    """
    found: dict[str, set[str]] = {}
    for caller, called in rows(done.generation, sql):
        found.setdefault(caller, set()).add(called)
    return found


def test_a_parameter_is_what_its_dependency_gives_or_yields(calls: dict[str, set[str]]) -> None:
    """FastAPI calls the dependency; the function that says so does not."""
    assert calls["route"] == {"given", "yielded"}


def test_a_task_is_called_by_who_sends_it(calls: dict[str, set[str]]) -> None:
    """With its arguments, also where they come as one, and where the task itself comes before them."""
    assert calls["send"] == {"plain", "shared", "bound", "Service"}
    assert (calls["shared"], calls["bound"]) == ({"given"}, {"yielded"})

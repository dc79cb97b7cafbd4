"""What Django makes of models (ADR 0123): managers, sets of records, fields that hold other records, words that look them up.

The library here is a small one with Django's own module names; what lspidx knows of Django goes by those.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from support import crawl_with_ty, installed, rows, write_tree

from query import api, open_index
from query.facts.index import Index

_QUERYSET = """
class QuerySet:
    name = None
    def as_manager(cls): ...
    as_manager = classmethod(as_manager)
    def filter(self, *args, **kwargs): ...
    def order_by(self, *names): ...
    def get(self, *args, **kwargs): ...
"""
_MANAGER = """
class BaseManager:
    @classmethod
    def from_queryset(cls, queryset_class, class_name=None): ...


class Manager(BaseManager): ...
"""
_RELATED = """
from django.db.models.fields import Field


class RelatedField(Field):
    def __init__(self, to, related_name=None, **kwargs):
        self.opts = None


class ForeignKey(RelatedField): ...
class OneToOneField(RelatedField): ...
class ManyToManyField(RelatedField): ...
"""
_MODELS = """
from django.db.models.base import Model
from django.db.models.fields import CharField
from django.db.models.fields.related import ForeignKey, ManyToManyField, OneToOneField
from django.db.models.manager import Manager
from django.db.models.query import QuerySet
"""
_FIELDS = """
class Field:
    def __init__(self, **kwargs):
        self.name = None
    def clean(self, value): ...


class CharField(Field): ...
"""
FILES: dict[str, str | bytes] = {
    **installed(
        {
            "django/__init__.py": "",
            "django/shortcuts.py": "def get_object_or_404(klass, *args, **kwargs): ...\n",
            "django/contrib/__init__.py": "",
            "django/contrib/auth/__init__.py": "def get_user_model(): ...\n",
            "django/contrib/auth/models.py": "class AbstractUser: ...\n",
            "django/views/__init__.py": "",
            "django/views/generic/__init__.py": "from django.views.generic.detail import DetailView\n",
            "django/views/generic/detail.py": "class DetailView:\n    def get_object(self, queryset=None): ...\n",
            "django/db/__init__.py": "",
            "django/db/models/__init__.py": _MODELS,
            "django/db/models/base.py": "class Model:\n    def __init__(self, *args, **kwargs): ...\n",
            "django/db/models/fields/__init__.py": _FIELDS,
            "django/db/models/fields/related.py": _RELATED,
            "django/db/models/manager.py": _MANAGER,
            "django/db/models/query.py": _QUERYSET,
            "Django-5.2.dist-info/RECORD": "django/__init__.py,,\n",
        }
    ),
    ".gitignore": ".venv\n",
    "pyproject.toml": "[project]\nname = 'shop'\nversion = '1'\n",
    "other/__init__.py": "",
    "other/models.py": "from django.db import models\n\n\nclass Tag(models.Model):\n    def not_me(self): ...\n",
    "shop/__init__.py": "",
    "shop/models.py": """
from django.contrib.auth.models import AbstractUser
from django.db import models


class SiteSet(models.QuerySet):
    def active(self):
        return self.filter(is_active=True)

    def named(self, name):
        return self.active().filter(name=name)


class StoreManager(models.Manager):
    def get_queryset(self):
        return StoreSet(self.model)

    def cheap(self):
        return super().get_queryset().filter(title="cheap")


class StoreSet(models.QuerySet):
    def open_now(self):
        return self


class Named(models.Model):
    name = models.CharField()

    objects = SiteSet.as_manager()

    def shown(self):
        return self.name


class Site(Named):
    is_active = models.CharField()
    parent = models.ForeignKey("self")

    def root(self):
        return self.parent.root()


class Depot(Named):
    def empty(self): ...


class Tag(models.Model):
    word = models.CharField()

    def shout(self): ...


class Store(models.Model):
    title = models.CharField()
    site = models.ForeignKey(to="shop.Site", related_name="stores")
    tags = models.ManyToManyField("shop.Tag")
    card = models.OneToOneField("Card")

    objects = StoreManager()

    def label(self):
        return self.site.name


class Card(models.Model):
    objects = models.Manager.from_queryset(StoreSet)()

    def number(self): ...


class Form(models.Model):
    listed = models.CharField()
    displayed = models.CharField()
    subscripted = models.CharField()
    keyed = models.CharField()


class Person(AbstractUser):
    def greet(self): ...


cleaned = models.CharField.clean


def by_variable(field):
    return cleaned(field, 1)


class Upper(models.CharField):
    def clean(self, value):
        return super().clean(value) + self.name
""",
    "shop/forms.py": """
class FormOfForms:
    class Meta:
        fields = ["pk", "listed"]


class Admin:
    list_display = (
        "displayed",
    )


NUMBERS = {"pk": 1, "keyed": 2}
ONE = NUMBERS["subscripted"]
""",
    "shop/views.py": """
from django.contrib.auth import get_user_model
from django.shortcuts import get_object_or_404
from django.views.generic import DetailView

from shop.models import Card, Depot, Site, Store, Tag


def by_manager():
    Store.objects.cheap()
    Store.objects.filter(title="x").open_now()
    Site.objects.order_by("-is_active").named("x").active()
    Card.objects.open_now()


def by_record():
    for store in Store.objects.cheap().order_by("title"):
        store.label()
    Site.objects.get(name="x").shown()
    return [tag.shout() for tag in Tag.objects.filter(word="x")[:3]]


def one_manager_of_two():
    Site.objects.active().get().root()
    for depot in Depot.objects.active():
        depot.empty()
    for place in Site.objects.active():
        place.empty()


def made():
    site, is_new = Site.objects.get_or_create(name="x")
    site.root()
    Store(title="y", site=site).label()


def by_field(store, site):
    Store.objects.get().tags.filter(word="x")[0].shout()
    Store.objects.get().site.root()
    Store.objects.get().card.number()
    Card.objects.get().store.label()


def back():
    for store in Site.objects.get().stores.filter(site__parent__is_active=True):
        store.label()
    Tag.objects.get().store_set.get().label()


def shortcut():
    get_object_or_404(Site, name="x").root()
    get_object_or_404(Store.objects.cheap(), title="x").label()
    get_user_model().objects.get().greet()


class StoreView(DetailView):
    model = Store

    def shown(self):
        return self.get_object().label(), self.object.site.root()


class SiteView(DetailView):
    queryset = Site.objects.active()

    def shown(self):
        return self.get_queryset().active()
""",
}


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    root = write_tree(tmp_path_factory.mktemp("models") / "clone", FILES)
    crawl_with_ty(root, jobs=1)
    with open_index(root) as made:
        yield made


@pytest.fixture(scope="module")
def calls(index: Index) -> dict[str, set[str]]:
    """By caller what it calls in shop/models.py."""
    sql = """
        SELECT a.qualified_name, s.qualified_name FROM calls c JOIN symbols a ON a.symbol = c.caller JOIN symbols s ON s.symbol = c.callee
        WHERE c.path = 'shop/views.py' AND s.path IN ('shop/models.py', 'other/models.py')
    """
    found: dict[str, set[str]] = {}
    for caller, called in rows(index.generation, sql):
        found.setdefault(caller.removeprefix("shop.views."), set()).add(called.removeprefix("shop.models."))
    return found


@pytest.mark.parametrize(
    ("caller", "called"),
    [
        ("by_manager", {"StoreManager.cheap", "StoreManager.get_queryset", "StoreSet.open_now", "SiteSet.named", "SiteSet.active"}),
        ("by_record", {"StoreManager.cheap", "Store.label", "Named.shown", "Tag.shout"}),
        ("one_manager_of_two", {"SiteSet.active", "Site.root", "Depot.empty"}),
        ("made", {"Site.root", "Store", "Store.label"}),
        ("by_field", {"Tag.shout", "Site.root", "Card.number", "Store.label"}),
        ("back", {"Store.label", "StoreManager.get_queryset"}),
        ("shortcut", {"Site.root", "Store.label", "StoreManager.cheap", "Person.greet"}),
        ("StoreView.shown", {"Store.label", "Site.root"}),
        ("SiteView.shown", {"SiteSet.active"}),
    ],
)
def test_calls_by_way_of_models(calls: dict[str, set[str]], caller: str, called: set[str]) -> None:
    """All of them, and no others: a field leads to the model of its application, a manager's records are of the model that names it."""
    assert calls[caller] == called


def test_a_manager_of_several_models_gives_the_records_of_the_one_that_is_asked(index: Index) -> None:
    """`depot.empty()` for depots; `place.empty()` for a site is what nobody has."""
    found = [site.text.strip() for use in api.find_callers(index, "Depot.empty").result for site in use.sites]
    assert found == ["depot.empty()"]


def test_what_a_field_holds_has_the_members_of_its_model(index: Index) -> None:
    """The server says that `self.site.name` is the name of the field. Not so in a class of fields."""
    sql = "SELECT line, target_path FROM occurrences WHERE path = 'shop/models.py' AND name = 'name' AND 'read' IN (SELECT unnest(roles))"
    lines = str(FILES["shop/models.py"]).split("\n")
    found = {lines[line].strip(): path for line, path in rows(index.generation, sql)}
    assert found["return self.site.name"] == "shop/models.py"
    assert found["return self.name"] == "shop/models.py"
    assert found["return super().clean(value) + self.name"] is None  # outside
    clean = "SELECT symbol FROM occurrences WHERE path = 'shop/models.py' AND name = 'clean' AND NOT 'definition' IN (SELECT unnest(roles))"
    assert [str(symbol).endswith("Field#clean().") for (symbol,) in rows(index.generation, clean)] == [True, True]
    assert [use.line for use in api.find_references(index, "shop.models.cleaned").result]


def test_keywords_of_queries_are_fields(index: Index) -> None:
    """Of a method that looks records up, of a model that is made; a keyword that leads to another record is none."""
    found = api.find_references(index, "Store.title")
    assert {(use.path, use.text.strip()) for use in found.result} == {
        ("shop/models.py", 'return super().get_queryset().filter(title="cheap")'),
        ("shop/views.py", 'Store.objects.filter(title="x").open_now()'),
        ("shop/views.py", 'Store(title="y", site=site).label()'),
        ("shop/views.py", 'get_object_or_404(Store.objects.cheap(), title="x").label()'),
    }


@pytest.mark.parametrize(
    ("field", "code", "line"),
    [
        ("Site.is_active", "string_member", 'order_by("-is_active")'),
        ("Site.parent", "string_member", "site__parent__is_active=True"),
        ("Store.title", "string_exact", 'order_by("title")'),
    ],
)
def test_words_that_queries_look_fields_up_by_are_reasons(index: Index, field: str, code: str, line: str) -> None:
    """No identifier stands for the field there, so its list of uses is not complete."""
    said = api.find_references(index, field).completeness
    at = next(number for number, text in enumerate(str(FILES["shop/views.py"]).split("\n"), 1) if line in text)
    assert said.status == "partial"
    assert any(reason.code == code and f"shop/views.py:{at}" in reason.detail for reason in said.reasons)


@pytest.mark.parametrize("field", ["listed", "displayed"])
def test_lists_of_names_elsewhere_are_reasons(index: Index, field: str) -> None:
    """What a form, a serializer or an admin class shows: `fields = ["listed"]`."""
    said = api.find_references(index, f"Form.{field}").completeness
    assert [reason.code for reason in said.reasons] == ["string_exact"]


@pytest.mark.parametrize("field", ["subscripted", "keyed"])
def test_keys_of_dictionaries_are_none(index: Index, field: str) -> None:
    assert api.find_references(index, f"Form.{field}").completeness.status == "complete"


def test_other_members_have_no_such_reasons(index: Index) -> None:
    """A method is not looked up by a query, nor is a name that has no part in any."""
    assert {reason.code for reason in api.find_references(index, "Card.number").completeness.reasons}.isdisjoint(
        {"string_member", "string_exact"}
    )
    assert "string_member" not in {reason.code for reason in api.find_references(index, "Named.name").completeness.reasons}

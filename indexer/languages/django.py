"""What classes of Django, and of what is made like it, are called that workspaces inherit from."""

from __future__ import annotations

import re

_MODEL = "django.db.models.base.Model"
_OF_MODELS = re.compile(r"(^|\.)models\.")
_NO_MODELS = ("django.db.models.", "django.forms.", "django.core.")
"""What else Django has in modules of that name: fields, querysets, forms."""


def is_model(name: str) -> bool:
    """Whether a class outside of the workspace, by its dotted name, is a model: Django's own, or one in a module of a library's models."""
    return name == _MODEL or (_OF_MODELS.search(name) is not None and not name.startswith(_NO_MODELS))

"""Orders of work that a client can offer: before an edit, at a review, and each of the skills."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from query.mcp import skill_prompts
from query.mcp.protocol import INVALID_PARAMS, Refused, Result, text_of_ours

_REVIEW = """Review the changes {what} with the tools of lspidx, in this order:
1. detect_changes ({arguments}): the changed symbols with their risk, deleted and renamed ones too.
2. For each symbol of high or medium risk: find_callers (direction "incoming", tests "exclude"), and find_references where its type or \
signature changed; type_hierarchy for a member that others override.
3. blast_radius of the changed files: what else depends on them.
4. get_tests_for_file of each changed file: which tests to run, and what no test reaches.
Then say, per symbol: what changed, who is affected (path:line), which tests cover it, what is missing. \
Where `completeness` is not `complete`, say what that leaves open. Do not report a caller that no tool has shown."""

_EDIT = """Before you edit {target}, ask lspidx, in this order:
1. {first}
2. blast_radius: who depends on it, in which packages, with which risk.
3. find_callers (direction "incoming") of each symbol whose signature or behaviour you change; type_hierarchy of a method, \
for what it overrides and what overrides it.
4. get_tests_for_file: the tests to run afterwards.
Where `completeness` is `partial`, look at its reasons before you rely on an empty list; if files are stale, repeat the call \
with "fresh": true. Then make the smallest edit that does it, and update every caller that step 3 has shown."""

_SYMBOL = {"name": "symbol", "description": "name of the symbol to be edited", "required": False}
_FILE = {"name": "file", "description": "path of the file to be edited", "required": False}
_BASE = {"name": "base", "description": "branch or commit that the change starts from, e.g. main", "required": False}
_SCOPE = {"name": "scope", "description": "without base: unstaged (default), staged or committed", "required": False}


def _review(given: Mapping[str, str]) -> str:
    base, scope = given.get("base", ""), given.get("scope", "")
    arguments = ", ".join(filter(None, [f'base "{base}"' if base else "", f'scope "{scope}"' if scope else ""])) or "no arguments"
    what = " ".join(filter(None, [f"since {base}" if base else "of the work tree" if not scope else "", f"({scope})" if scope else ""]))
    return _REVIEW.format(what=what, arguments=arguments)


def _edit(given: Mapping[str, str]) -> str:
    symbol, file = given.get("symbol", ""), given.get("file", "")
    if symbol and not file:
        return _EDIT.format(target=f"`{symbol}`", first=f'explore_symbol (symbol "{symbol}"): its source, callers, callees, tests.')
    if not file:
        raise Refused(INVALID_PARAMS, "before_edit: give the argument 'symbol' or 'file'")
    first = f'get_editing_context (file_path "{file}"): its symbols with their callers in and outside tests.'
    return _EDIT.format(target=f"`{symbol}` in `{file}`" if symbol else f"`{file}`", first=first)


PROMPTS: Mapping[str, tuple[str, list[Result], Callable[[Mapping[str, str]], str]]] = {
    "review_changes": ("Review a change: what it touches and who depends on it.", [_BASE, _SCOPE], _review),
    "before_edit": ("What to find out before a symbol or file is edited.", [_SYMBOL, _FILE], _edit),
}
"""Description, arguments, and what makes the text."""


def listed() -> list[Result]:
    own = [{"name": name, "description": description, "arguments": arguments} for name, (description, arguments, _) in PROMPTS.items()]
    return [*own, *skill_prompts.listed()]


def is_known(name: str) -> bool:
    return any(prompt["name"] == name for prompt in listed())


def get(name: str, given: Mapping[str, str]) -> Result:
    """Raises Refused for a prompt that does not exist."""
    known = {prompt["name"]: prompt["description"] for prompt in listed()}
    if name not in known:
        raise Refused(INVALID_PARAMS, f"there is no prompt '{name}'; known: {', '.join(known)}")
    text = PROMPTS[name][2](given) if name in PROMPTS else skill_prompts.text(name, given)
    message = {"role": "user", "content": text_of_ours(text)}
    return {"description": known[name], "messages": [message]}

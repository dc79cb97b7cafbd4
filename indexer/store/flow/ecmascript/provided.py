"""What the language, and Node, provide under a name."""

from __future__ import annotations

from indexer.store.flow.values.value import Sort

_METHODS = (
    *("ACL", "BIND", "CHECKOUT", "CONNECT", "COPY", "DELETE", "GET", "HEAD", "LINK", "LOCK", "M-SEARCH", "MERGE", "MKACTIVITY"),
    *("MKCALENDAR", "MKCOL", "MOVE", "NOTIFY", "OPTIONS", "PATCH", "POST", "PROPFIND", "PROPPATCH", "PURGE", "PUT", "QUERY", "REBIND"),
    *("REPORT", "SEARCH", "SOURCE", "SUBSCRIBE", "TRACE", "UNBIND", "UNLINK", "UNLOCK", "UNSUBSCRIBE"),
)
LISTS = {("require(http)", "METHODS"): _METHODS}
"""Arrays of names that Node has, by what has them and their own name."""

PROMISE = "(promise)"
WHOLE = "globalThis"
WHOLES = frozenset((WHOLE, "global", "self", "window"))
"""Names of the object whose properties are seen as names everywhere."""

EMITTERS = frozenset(("require(events)", "require(events).EventEmitter", "require(events).default"))
"""Node's class of what emits events, by the names that it is imported under."""

LISTENING = frozenset(("on", "once", "addListener", "prependListener", "prependOnceListener"))
OF_EVENTS = LISTENING | {"emit"}

FUNCTIONS = frozenset((Sort.FUNCTION, Sort.LAMBDA, Sort.BOUND, Sort.PARTIAL))
"""Sorts of values that are functions."""

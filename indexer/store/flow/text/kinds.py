"""Numbers of `indexer.model.Flow`, plain: to find a member of an enum and to compare it takes ten times as long as to compare numbers."""

from __future__ import annotations

from indexer.model import Flow


class Kind:
    """What a row is, see there."""

    ENTER = int(Flow.ENTER)
    NAME = int(Flow.NAME)
    ATTRIBUTE = int(Flow.ATTRIBUTE)
    CALL = int(Flow.CALL)
    ITEM = int(Flow.ITEM)
    BIND = int(Flow.BIND)
    SET_ATTRIBUTE = int(Flow.SET_ATTRIBUTE)
    SET_ITEM = int(Flow.SET_ITEM)
    DEFINE = int(Flow.DEFINE)
    PARAMETER = int(Flow.PARAMETER)
    LAMBDA = int(Flow.LAMBDA)
    COLLECTION = int(Flow.COLLECTION)
    ITERATE = int(Flow.ITERATE)
    ENTER_CONTEXT = int(Flow.ENTER_CONTEXT)
    RETURN = int(Flow.RETURN)
    YIELD = int(Flow.YIELD)
    YIELD_FROM = int(Flow.YIELD_FROM)
    CAUGHT = int(Flow.CAUGHT)
    HOLD = int(Flow.HOLD)
    EXTEND = int(Flow.EXTEND)
    COMBINE = int(Flow.COMBINE)
    CONSTANT = int(Flow.CONSTANT)
    CUT = int(Flow.CUT)
    MAPPING = int(Flow.MAPPING)
    THIS = int(Flow.THIS)
    MODULE = int(Flow.MODULE)
    EXPORT = int(Flow.EXPORT)
    RECORD = int(Flow.RECORD)
    GLOBAL = int(Flow.GLOBAL)
    REQUIRED = int(Flow.REQUIRED)
    SUPER = int(Flow.SUPER)
    NARROW = int(Flow.NARROW)
    KEY = int(Flow.KEY)
    THROW = int(Flow.THROW)
    CATCH = int(Flow.CATCH)

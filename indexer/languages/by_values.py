"""What a text reads and runs by names that are values, as patterns over the text: what no server tells of languages that look names up."""

from __future__ import annotations

import msgspec


class ByValues(msgspec.Struct, frozen=True, kw_only=True):
    """Regular expressions; an empty one: the language has no such thing. NAME stands for the name that is asked about, TYPE for its type's.

    own_members: reads a field of the value itself by a name that is made; its group `start` is what the name begins with.
    values: reads a field of a value beside it by a name that is a value alone.
    members: reads a field of any value so, or looks one up.
    all_fields: reads every field of the value that it is given.
    constants: looks constants up; defined: makes one of the name that a string has.
    cases: reaches constants of an enum by their values, or all of them.
    variables: reads variables of the function around it by their names, or hands all of them on.
    listed: reads variables by strings that stand there; listed_made: by what is no string.
    shared: reads a variable of the program in a function.
    includes: runs a file where it stands, which shares the variables there.
    told: a comment that tells of a member, which something else may hand on.
    runs_text: runs a text as code.
    calls: calls what no name at that place tells.
    runs: what runs members of these names without naming them.
    """

    own_members: str = ""
    values: str = ""
    members: str = ""
    all_fields: str = ""
    constants: str = ""
    defined: str = ""
    cases: str = ""
    variables: str = ""
    listed: str = ""
    listed_made: str = ""
    shared: str = ""
    includes: str = ""
    told: str = ""
    runs_text: str = ""
    calls: str = ""
    runs: tuple[tuple[str, tuple[str, ...]], ...] = ()


PHP_BY_VALUES = ByValues(
    own_members=r"(?:\$this\s*\??->|\b(?:static|self)\s*::)\s*(?:\$+\w+|\{\s*(?:['\"](?P<start>\w+)['\"]\s*\.)?[^{}]*\})(?!\s*\()",
    values=r"\$(?!this\b)\w+\s*\??->\s*(?:\$+\w+|\{\s*\$[^{}]*\})(?!\s*\()",
    members=r"(?:->|::)\s*(?:\$+\w+|\{[^{}]*\})(?!\s*\()|\bproperty_exists\b|\bReflectionProperty\b|\bgetProperty\b",
    all_fields=(
        r"\bget_(?:object|class|mangled_object)_vars\b|\(array\)\s*[$(\w]|\bforeach\s*\(\s*\$this\s+as\b"
        r"|\b(?:json_encode|serialize|unserialize|var_export|http_build_query|array_walk|fetchObject|FETCH_CLASS|FETCH_INTO)\b"
    ),
    constants=r"\bconstant\s*\(|\bdefined\s*\(|::\s*\{|\bReflection(?:Class)?Constant\b|\bgetConstant\b",
    defined=r"\bdefine\s*\(\s*['\"]NAME['\"]",
    cases=r"\b(?:TYPE|self|static)\s*::\s*(?:from|tryFrom|cases)\s*\(",
    variables=r"\$\$|\$\{\s*(?!\w+\})|\bextract\s*\(|\bget_defined_vars\b|\bparse_str\s*\(|\b(?:include|require)(?:_once)?\b|\beval\s*\(",
    listed=r"\bcompact\s*\(",
    listed_made=r"\bcompact\s*\(\s*[^'\")\s]",
    shared=r"\bglobal\s[^;]*\$NAME\b|\$GLOBALS\s*\[\s*['\"]NAME['\"]",
    includes=r"\b(?:include|require)(?:_once)?\b",
    told=r"@(?:method|property(?:-read|-write)?)\b[^\n]{0,300}?\bNAME\b",
    runs_text=r"\b(?:eval|create_function|assert)\s*\(",
    calls=(
        r"(?:->|::)\s*\{[^{}]*\}\s*\(|\bcall_user_func(?:_array)?\b|\bforward_static_call\w*|\b(?:include|require)(?:_once)?\b"
        r"|\)\s*\(|\]\s*\(|\bReflection(?:Method|Function|Class)\b|\bnew\s*\("
    ),
    runs=(
        (r"\bforeach\s*\(|\byield\s+from\b|\.\.\.\s*\$|\biterator_\w+", ("getIterator", "current", "key", "next", "rewind", "valid")),
        (
            r'"(?:[^"\\]|\\.)*\$(?:[^"\\]|\\.)*"|<<<|\.=?\s*[$\w\\(]|[\w)\]]\s*\.(?!\d)|\becho\b|\bprint\b|<\?=|\(string\)|\bstrval\b|\bs?printf\b',
            ("__toString",),
        ),
        (r"[\w)\]]\s*\[", ("offsetGet", "offsetSet", "offsetExists", "offsetUnset")),
        (r"\bcount\s*\(|\bsizeof\s*\(", ("count",)),
        (r"\bclone\b", ("__clone",)),
        (r"\bjson_encode\b", ("jsonSerialize",)),
        (r"\bunserialize\b", ("__wakeup", "__unserialize", "unserialize")),
        (r"\bserialize\b", ("__sleep", "__serialize", "serialize")),
        (r"\bvar_export\b", ("__set_state",)),
        (r"\bvar_dump\b", ("__debugInfo",)),
        (r"\bisset\s*\(|\bempty\s*\(|\?\?", ("__isset",)),
        (r"\bunset\s*\(", ("__unset",)),
    ),
)

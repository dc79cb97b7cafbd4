"""Java and its neighbours: Kotlin, Scala; C#, which declares as Java does."""

from __future__ import annotations

from indexer.languages.bridges import CSHARP_BRIDGES, JAVA_BRIDGES, KOTLIN_BRIDGES, SCALA_BRIDGES
from indexer.languages.handing import JAVA_HANDS, JAVA_KEEPS_NONE
from indexer.languages.hooks import JVM_HOOKS
from indexer.languages.outlines import outline
from indexer.languages.record import Grammar, Language, Locks, Lookup
from indexer.model import NameUse

_NAMING_ANNOTATIONS = tuple(
    "@" + name
    for name in (
        *("MethodSource", "FieldSource", "Qualifier", "Named", "EnabledIf", "DisabledIf", "Test", "DataProvider", "Bean", "Factory"),
        *("ParameterizedTest", "Parameters", "Resource", "JsonCreator", "JsonAnySetter", "AfterMapping", "Mapping", "EventListener"),
    )
)
_NAMING_CALLS = (
    *("findMethod", "findField", "invokeMethod", "invokeStaticMethod", "invokeExactMethod", "invokeGetterMethod", "invokeSetterMethod"),
    *("findVirtual", "findStatic", "findSpecial", "findGetter", "findSetter", "findStaticGetter", "findStaticSetter", "findVarHandle"),
    *("newUpdater", "getInternalState", "setInternalState", "ReflectionTestUtils.setField", "ReflectionTestUtils.getField"),
    *("FieldUtils.readField", "FieldUtils.writeField", "PropertyDescriptor", "getMethodIfAvailable", "hasMethod", "getAccessibleMethod"),
)
"""Each of their strings may be the name of a member: what has another meaning there seldom has a member's name."""

JAVA = Language(
    names=("java",),
    family="java",
    grammar=Grammar(
        source=("tree_sitter_java", "language"),
        definitions=("java.definitions",),
        uses=("java.uses", "java.operations"),
        signs="own",
        exports="public",
        namespaces="kinds",
        class_named_constructors=True,
        inherits=True,
        overloads=True,
    ),
    type_before_name=True,
    looks_up_by=frozenset({"getMethod", "getDeclaredMethod", "getField", "getDeclaredField"}),
    lookups=(
        *(Lookup(call=call, use=NameUse.OBJECT) for call in ("forName", "loadClass")),
        *(Lookup(call=call, use=NameUse.MEMBER) for call in ("getMethod", "getDeclaredMethod", "getField", "getDeclaredField", "getBean")),
        *(Lookup(call=call, use=NameUse.MEMBER, argument=-1) for call in (*_NAMING_ANNOTATIONS, *_NAMING_CALLS)),
    ),
    operations=(("text", (("toString",),)), ("iterate", (("iterator",), ("hasNext",), ("next",))), ("close", (("close",),))),
    runtime_members=frozenset(
        {
            *("toString", "equals", "hashCode", "compareTo", "compare", "close", "iterator", "hasNext", "next", "finalize", "clone"),
            *("readObject", "writeObject", "readResolve", "writeReplace", "readObjectNoData"),
        }
    ),
    imports_folders=True,
    dotted_types=True,
    named_by_package=r"\bpackage\s+([\w.\s]+?)\s*;",
    runner="junit",
    runs_by_name=frozenset({"premain", "agentmain"}),
    manager="maven",
    project_files=("pom.xml", "build.gradle", "build.gradle.kts", "settings.gradle", "settings.gradle.kts"),
    hooks=JVM_HOOKS,
    bridges=JAVA_BRIDGES,
    tells_private=True,
    leaves_unsaid=True,
    keeps_fields=True,
    asked_by_name=r"^(?:find|read|get|query|search|stream|count|exists|delete|remove)(?:[A-Z]\w*)?(?:By|And|Or)NAME(?:[A-Z]|$)",
    makes_annotated=frozenset({"parameters"}),
    accessors=r"(?:get|set|is|has|with|add)[A-Z]",
    hands_objects_to=JAVA_HANDS,
    keeps_no_object=JAVA_KEEPS_NONE,
    read_as_properties=(".kt", ".kts", ".groovy", ".gradle", ".scala"),
    reads_by_getters=True,
    operates_elsewhere=frozenset(
        {
            *("plus", "minus", "times", "multiply", "div", "rem", "mod", "power", "unaryMinus", "unaryPlus", "negative", "positive", "not"),
            *("inc", "dec", "next", "previous", "rangeTo", "rangeUntil", "contains", "isCase", "get", "set", "getAt", "putAt"),
            *("invoke", "call"),
            *("compareTo", "equals", "iterator", "hasNext", "plusAssign", "minusAssign", "timesAssign", "divAssign"),
            *("remAssign", "leftShift"),
            *("rightShift", "and", "or", "xor", "getValue", "setValue", "provideDelegate", "asBoolean", "asType", "apply"),
            *("unapply", "update"),
            *(f"component{number}" for number in range(1, 10)),
        }
    ),
    project_is_outermost=True,
    locks=Locks(
        names=(
            *("Lock", "ReentrantLock", "ReadWriteLock", "ReentrantReadWriteLock", "StampedLock", "Condition", "Semaphore"),
            *("AtomicInteger", "AtomicLong", "AtomicBoolean", "AtomicReference", "AtomicIntegerArray", "AtomicLongArray"),
        )
    ),
)
KOTLIN = Language(
    names=("kotlin",),
    family="kotlin",
    outline=outline("kotlin", namespaces="kinds"),
    named_by_package=r"(?m)^[ \t]*package[ \t]+([\w.]+)",
    imports_folders=True,
    dotted_types=True,
    project_is_outermost=True,
    bridges=KOTLIN_BRIDGES,
)
SCALA = Language(
    names=("scala",),
    family="scala",
    outline=outline("scala", namespaces="kinds"),
    named_by_package=r"(?m)^[ \t]*package[ \t]+([\w.]+)[ \t]*$",
    imports_folders=True,
    dotted_types=True,
    bridges=SCALA_BRIDGES,
)
CSHARP = Language(
    names=("csharp",),
    family="csharp",
    scip="CSharp",
    outline=outline("csharp", module="tree_sitter_c_sharp", exports="public"),
    named_by_package=r"(?m)^[ \t]*namespace[ \t]+([\w.]+)\s*[;{]?",
    type_before_name=True,
    imports_folders=True,
    bridges=CSHARP_BRIDGES,
)

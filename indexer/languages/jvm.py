"""Java and its neighbours: Kotlin, Scala; C#, which declares as Java does."""

from __future__ import annotations

from indexer.languages.bridges import CSHARP_BRIDGES, JAVA_BRIDGES, KOTLIN_BRIDGES, SCALA_BRIDGES
from indexer.languages.hooks import JVM_HOOKS
from indexer.languages.record import Grammar, Language, Locks, Lookup
from indexer.model import NameUse

JAVA = Language(
    names=("java",),
    family="java",
    grammar=Grammar(
        source=("tree_sitter_java", "language"),
        definitions=("java.definitions",),
        uses=("java.uses",),
        exports="public",
        namespaces="kinds",
        class_named_constructors=True,
        inherits=True,
        overloads=True,
    ),
    type_before_name=True,
    lookups=(
        *(Lookup(call=call, use=NameUse.OBJECT) for call in ("forName", "loadClass")),
        *(Lookup(call=call, use=NameUse.MEMBER) for call in ("getMethod", "getDeclaredMethod", "getField", "getDeclaredField", "getBean")),
        *(Lookup(call=call, use=NameUse.MEMBER, argument=-1) for call in ("@MethodSource", "@FieldSource", "@Qualifier", "@Named")),
    ),
    runtime_members=frozenset(
        {
            *("toString", "equals", "hashCode", "compareTo", "compare", "close", "iterator", "hasNext", "next", "finalize", "clone"),
            *("readObject", "writeObject", "readResolve", "writeReplace"),
        }
    ),
    imports_folders=True,
    dotted_types=True,
    manager="maven",
    hooks=JVM_HOOKS,
    bridges=JAVA_BRIDGES,
    reads_by_getters=True,
    project_is_outermost=True,
    locks=Locks(
        names=(
            *("Lock", "ReentrantLock", "ReadWriteLock", "ReentrantReadWriteLock", "StampedLock", "Condition", "Semaphore"),
            *("AtomicInteger", "AtomicLong", "AtomicBoolean", "AtomicReference", "AtomicIntegerArray", "AtomicLongArray"),
        )
    ),
)
KOTLIN = Language(
    names=("kotlin",), family="kotlin", imports_folders=True, dotted_types=True, project_is_outermost=True, bridges=KOTLIN_BRIDGES
)
SCALA = Language(names=("scala",), family="scala", imports_folders=True, dotted_types=True, bridges=SCALA_BRIDGES)
CSHARP = Language(names=("csharp",), family="csharp", scip="CSharp", type_before_name=True, imports_folders=True, bridges=CSHARP_BRIDGES)

"""What is called without being named: hooks of bases, functions under decorators, definitions in files of frameworks.

Data of the language records (`Hooks`). A base is named as the index names it, or by its last name where it comes from a framework whose
modules hand it on; members are globs. A base that is not listed may call every public member.
"""

from __future__ import annotations

import msgspec


class Hooks(msgspec.Struct, frozen=True, kw_only=True):
    """Who calls what, of one language.

    passing: decorators, attributes and annotations of the language and of libraries that keep nothing of what they stand on.
    passing_within: what stands before the name of such (`mark` in `pytest.mark.slow`).
    silent_bases: bases outside the workspace, or all of a module (`module.`), that call no member by its own name.
    bases: a base outside the workspace, and the members that it calls.
    types: globs of names of types of the workspace that a library finds by these names, and whose members it calls.
    constructed: bases outside the workspace; the library runs the constructors of a class that has all of one group.
    runners: globs of bases that a test runner calls tests of, and what prepares them.
    members: names of members that interfaces outside the workspace ask for, which no type has to name.
    members_together: sets of members: one that is in any counts where its type has all of a set.
    members_without_parameters: those of them that are asked for without parameters, so that one with parameters is another.
    files: globs of paths, and what frameworks look up by name in such files; `*`: whatever is exported.
    public_members: a base outside the workspace that is not listed may call any public member of a class below it.
    running: annotations by which a runner of tests calls what they stand on; it is no caller, and what they stand on is used all the same.
    attributes: names of attributes in the head of a function by which a loader, a linker or a processor calls it.
    """

    passing: frozenset[str] = frozenset()
    passing_within: frozenset[str] = frozenset()
    silent_bases: tuple[str, ...] = ()
    bases: tuple[tuple[str, tuple[str, ...]], ...] = ()
    types: tuple[str, ...] = ()
    constructed: tuple[tuple[str, ...], ...] = ()
    runners: tuple[str, ...] = ()
    members: frozenset[str] = frozenset()
    members_together: tuple[frozenset[str], ...] = ()
    members_without_parameters: frozenset[str] = frozenset()
    files: tuple[tuple[str, tuple[str, ...]], ...] = ()
    public_members: bool = False
    running: frozenset[str] = frozenset()
    attributes: frozenset[str] = frozenset()


PYTHON_HOOKS = Hooks(
    runners=("unittest.*", "*TestCase"),
    public_members=True,
    passing=frozenset(
        {
            *("staticmethod", "classmethod", "property", "setter", "getter", "deleter", "override", "final", "overload", "abstractmethod"),
            *("abstractproperty", "cached_property", "lru_cache", "cache", "cachedmethod", "cached"),
            *("contextmanager", "asynccontextmanager"),
            *("wraps", "dataclass", "dataclass_transform", "total_ordering", "deprecated", "singledispatch", "singledispatchmethod"),
            *("runtime_checkable", "no_type_check", "unique", "verify", "coroutine", "attrs", "define", "frozen", "mutable", "s"),
            *("skip", "skipIf", "skipUnless", "skipif", "xfail", "expectedFailure", "patch", "object", "tag", "override_settings"),
            *("modify_settings", "given", "settings", "example", "freeze_time", "njit", "jit", "vectorize", "no_grad", "retry"),
            *("login_required", "permission_required", "user_passes_test", "csrf_exempt", "csrf_protect", "require_http_methods"),
            *("async_unsafe", "html_safe", "classproperty", "require_GET", "require_POST", "require_safe", "never_cache", "cache_page"),
            *("cache_control", "vary_on_headers"),
            *("vary_on_cookie", "atomic", "non_atomic_requests", "sensitive_variables", "sensitive_post_parameters", "method_decorator"),
            *("deconstructible", "keep_lazy", "keep_lazy_text", "pass_context", "pass_obj", "pass_eval_context"),
            *("pass_environment", "option", "argument", "version_option", "help_option", "typechecked", "beartype", "profile"),
        }
    ),
    passing_within=frozenset({"mark", "mock"}),
    silent_bases=(
        *("builtins.", "typing.", "typing_extensions.", "abc.", "collections.", "collections.abc.", "enum.", "dataclasses.", "types."),
        *("_typeshed.", "numbers.", "warnings.", "exceptions.", "contextlib.", "datetime.", "decimal.", "pathlib.", "uuid.", "ipaddress."),
    ),
    bases=(
        ("enum.Enum", ("_generate_next_value_", "_missing_")),
        ("ast.NodeVisitor", ("visit", "visit_*", "generic_visit")),
        ("http.server.BaseHTTPRequestHandler", ("do_*", "handle*", "log_*", "send_*", "version_string", "setup", "finish", "end_headers")),
        ("socketserver.BaseRequestHandler", ("setup", "handle", "finish")),
        ("socketserver.BaseServer", ("get_request", "handle_*", "verify_request", "process_request", "server_*", "service_actions")),
        ("threading.Thread", ("run",)),
        ("multiprocessing.process.BaseProcess", ("run",)),
        ("json.encoder.JSONEncoder", ("default", "encode", "iterencode")),
        ("json.decoder.JSONDecoder", ("decode", "raw_decode")),
        ("logging.Handler", ("emit", "handle", "format", "flush", "close", "handleError", "acquire", "release", "createLock")),
        ("logging.Formatter", ("format*", "usesTime", "converter")),
        ("logging.Filter", ("filter",)),
        ("logging.LoggerAdapter", ("process",)),
        ("html.parser.HTMLParser", ("handle_*", "unknown_decl", "feed", "reset", "close")),
        ("argparse.ArgumentParser", ("error", "exit", "format_*", "print_*", "convert_arg_line_to_args")),
        ("argparse.HelpFormatter", ("_*", "add_*", "format_help")),
        (
            "cmd.Cmd",
            ("do_*", "help_*", "complete_*", "default", "emptyline", "precmd", "postcmd", "preloop", "postloop", "completedefault"),
        ),
        (
            "unittest.case.TestCase",
            ("test*", "setUp*", "tearDown*", "shortDescription", "id", "run", "countTestCases", "defaultTestResult"),
        ),
        ("unittest.case.IsolatedAsyncioTestCase", ("test*", "setUp*", "tearDown*", "asyncSetUp", "asyncTearDown")),
        ("asyncio.protocols.BaseProtocol", ("*_made", "*_received", "*_lost", "*_writing", "buffer_updated", "get_buffer")),
        ("string.Formatter", ("get_*", "check_unused_args", "format_field", "convert_field", "parse", "vformat")),
        ("string.Template", ()),
        ("io.IOBase", ("read*", "write*", "seek*", "tell", "truncate", "close", "flush", "fileno", "isatty", "*able", "detach")),
        ("pickle.Pickler", ("persistent_id", "reducer_override")),
        ("pickle.Unpickler", ("persistent_load", "find_class")),
        ("importlib.abc.Loader", ("create_module", "exec_module", "load_module", "module_repr")),
        ("importlib.abc.MetaPathFinder", ("find_spec", "find_module", "invalidate_caches")),
        ("configparser.RawConfigParser", ("optionxform", "_read")),
    ),
    files=(
        ("*/management/commands/*.py", ("Command",)),
        ("*/migrations/*.py", ("Migration",)),
        ("*conftest.py", ("pytest_*", "collect_ignore*")),
        ("*", ("pytest_*",)),  # of plugins
        ("*docs/conf.py", ("setup",)),
        ("*doc/conf.py", ("setup",)),
        ("*docs/source/conf.py", ("setup",)),
        ("*gunicorn*.py", ("on_*", "pre_*", "post_*", "when_ready", "worker_*", "child_exit", "nworkers_changed")),
        ("*noxfile.py", ("*",)),
        ("*fabfile.py", ("*",)),
    ),
)

GO_HOOKS = Hooks(
    members_together=tuple(
        frozenset(names.split())
        for names in (
            *("Len Less Swap", "Push Pop", "Lock Unlock", "Header Write WriteHeader", "Accept Close Addr", "Network String"),
            *("LocalAddr RemoteAddr SetDeadline", "SetDeadline SetReadDeadline SetWriteDeadline", "Deadline Done Err Value"),
            *("Handle Enabled WithAttrs WithGroup", "Stat Read Close", "Name Size Mode ModTime IsDir Sys", "Name IsDir Type Info"),
            *("String Set", "String Set Get", "String Set Type", "ColorModel Bounds At"),
            *("String", "Write", "Read", "Close", "Value"),  # these are asked for alone, too
        )
    ),
    members_without_parameters=frozenset(
        {
            *("Error", "String", "GoString", "Close", "ReadByte", "ReadRune", "MarshalJSON", "MarshalText", "MarshalBinary", "MarshalYAML"),
            *("GobEncode", "Len", "Pop", "Unwrap", "Lock", "Unlock", "Header", "Flush", "Hijack", "Accept", "Addr", "Network", "LocalAddr"),
            *("RemoteAddr", "Timeout", "Temporary", "Deadline", "Done", "Err", "Stat", "Name", "Size", "Mode", "ModTime", "IsDir", "Sys"),
            *("Info", "Type", "ColorModel"),
        }
    ),
    members=frozenset(
        {
            *("ServeHTTP", "Error", "String", "GoString", "Format", "Scan", "Value", "Read", "Write", "Close", "Seek"),
            *("ReadFrom", "WriteTo"),
            *("ReadAt", "WriteAt", "ReadByte", "ReadRune", "WriteByte", "WriteString", "MarshalJSON", "UnmarshalJSON", "MarshalText"),
            *("UnmarshalText", "MarshalBinary", "UnmarshalBinary", "MarshalYAML", "UnmarshalYAML", "MarshalXML", "UnmarshalXML"),
            *("GobEncode", "GobDecode", "Len", "Less", "Swap", "Push", "Pop", "Unwrap", "Is", "As", "RoundTrip", "Lock"),
            *("Unlock", "Header"),
            *("WriteHeader", "Flush", "Hijack", "Accept", "Addr", "Network", "LocalAddr", "RemoteAddr", "SetDeadline", "SetReadDeadline"),
            *("SetWriteDeadline", "Timeout", "Temporary", "Deadline", "Done", "Err", "Handle", "Enabled", "WithAttrs", "WithGroup", "Open"),
            *("Stat", "ReadDir", "Name", "Size", "Mode", "ModTime", "IsDir", "Sys", "Info", "Type", "Set", "Get", "Visit", "ColorModel"),
        }
    ),
)

ECMASCRIPT_HOOKS = Hooks(
    public_members=True,
    passing=frozenset({"override", "deprecated", "memoize", "autobind", "boundMethod", "readonly", "enumerable", "nonenumerable"}),
    silent_bases=("lib.", "typescript."),
    bases=(
        ("Component", ("render", "component*", "should*", "getSnapshotBeforeUpdate", "getDerived*", "UNSAFE_*", "getChildContext")),
        ("PureComponent", ("render", "component*", "getSnapshotBeforeUpdate", "getDerived*", "UNSAFE_*", "getChildContext")),
        ("HTMLElement", ("*Callback",)),
        ("EventEmitter", ()),
        ("EventTarget", ()),
        ("Error", ("toString", "toJSON")),
        ("Map", ()), ("Set", ()), ("Array", ()), ("WeakMap", ()), ("Promise", ("then",)), ("Event", ()), ("Date", ()), ("URL", ()),
    ),
    files=(
        ("*.config.?s", ("*",)), ("*.config.?js", ("*",)), ("*.config.?ts", ("*",)),
        *((f"*app/*{name}.{ending}", ("*",)) for name in ("page", "layout", "route", "loading", "error", "not-found", "template", "default")
          for ending in ("ts", "tsx", "js", "jsx")),
        ("*pages/*.tsx", ("*",)), ("*pages/*.jsx", ("*",)), ("*pages/api/*.?s", ("*",)),
        ("*routes/*+page*", ("*",)), ("*routes/*+layout*", ("*",)), ("*routes/*+server*", ("*",)), ("*hooks.server.?s", ("*",)),
        ("*middleware.?s", ("middleware", "config")), ("*.stories.*", ("*",)),
    ),
)  # fmt: skip

RUST_HOOKS = Hooks(
    passing=frozenset(
        {
            *("inline", "must_use", "derive", "doc", "allow", "cfg", "warn", "deny", "cold", "non_exhaustive", "expect", "track_caller"),
            *("deprecated", "rustfmt", "clippy", "cfg_attr", "serde", "repr", "default", "automatically_derived", "feature", "instrument"),
            *("async_trait", "target_feature", "ignore", "should_panic", "test", "bench", "rstest", "case", "forbid", "unsafe", "error"),
            *("from", "source", "macro_use", "macro_export", "path", "pin_project", "skip", "too_many_arguments", "dead_code", "builder"),
        }
    )
)

JVM_HOOKS = Hooks(
    public_members=True,
    types=("*MBean", "*MXBean"),
    constructed=(("java.io.Externalizable",), ("java.lang.Record", "java.io.Serializable")),
    silent_bases=(
        *("java.", "jdk.", "javax.swing.J", "javax.swing.Abstract", "javax.swing.Default", "javax.swing.table.", "javax.swing.event."),
        *("javax.crypto.", "javax.tools.", "javax.lang.model.", "javax.annotation.processing."),
        *("javax.net.", "javax.imageio.", "javax.print.", "javax.sound.", "javax.security.auth.", "org.xml.sax.", "org.w3c.dom."),
    ),
    bases=tuple(
        (base, ("*",))
        for base in (
            *("java.rmi.Remote", "java.rmi.server.RemoteObject", "java.rmi.server.RemoteServer", "java.rmi.server.UnicastRemoteObject"),
            *("java.rmi.activation.Activatable", "java.lang.annotation.Annotation", "javax.swing.plaf.ComponentUI"),
        )
    ),
    running=frozenset(
        {
            *("Test", "Before", "After", "BeforeEach", "AfterEach", "BeforeAll", "AfterAll", "ParameterizedTest", "RepeatedTest", "Nested"),
            *("TestFactory", "TestTemplate", "BeforeClass", "AfterClass", "BeforeMethod", "AfterMethod", "BeforeSuite"),
            *("AfterSuite", "Rule"),
            *("ClassRule", "RegisterExtension", "TempDir", "Theory", "DataPoint", "DataPoints", "Property", "Benchmark"),
        }
    ),
    passing=frozenset(
        {
            *("Override", "Deprecated", "SuppressWarnings", "FunctionalInterface", "SafeVarargs", "Nullable", "NotNull"),
            *("NonNull", "Nonnull"),
            *("Getter", "Setter", "Data", "Builder", "ToString", "EqualsAndHashCode", "VisibleForTesting", "CheckReturnValue", "Generated"),
            *("Test", "Before", "After", "BeforeEach", "AfterEach", "BeforeAll", "AfterAll", "ParameterizedTest", "DisplayName", "Ignore"),
            *("MethodSource", "FieldSource", "EnumSource", "ValueSource", "CsvSource", "CsvFileSource", "ArgumentsSource", "NullSource"),
            *("NoArgsConstructor", "AllArgsConstructor", "RequiredArgsConstructor", "Value", "With", "Accessors", "SneakyThrows"),
            *("Slf4j", "Log", "Log4j2", "CommonsLog", "Synchronized", "UtilityClass"),
            *("GuardedBy", "ThreadSafe", "NotThreadSafe", "Immutable", "Contract", "Beta", "Pure", "CheckForNull", "GwtCompatible"),
            *("GwtIncompatible", "CanIgnoreReturnValue", "EnsuresNonNull", "RequiresNonNull", "MonotonicNonNull", "IgnoreJRERequirement"),
            *("ParametersAreNonnullByDefault", "Incubating", "DoNotCall", "InlineMe", "LazyInit", "Unmodifiable", "Untainted"),
            *("EmptySource", "NullAndEmptySource", "RepeatedTest", "TestFactory", "TestTemplate", "Nested", "Tag", "Tags", "Timeout"),
            *("Disabled", "DisabledOnOs", "DisabledOnJre", "EnabledOnOs", "EnabledOnJre", "Order", "BeforeClass"),
            *("AfterClass", "Execution"),
        }
    ),
)

SHELL_HOOKS = Hooks(
    files=(
        ("*", ("command_not_found_handle", "command_not_found_handler", "TRAPINT", "TRAPEXIT", "precmd", "preexec", "chpwd")),
        ("*.bats", ("setup*", "teardown*")), ("*test_helper*", ("setup*", "teardown*")),
        ("*setup_suite.bash", ("setup_suite", "teardown_suite")),
    )
)  # fmt: skip
C_HOOKS = Hooks(attributes=frozenset({"constructor", "destructor", "ifunc", "interrupt", "isr", "section", "signal", "used"}))

PHP_HOOKS = Hooks(
    public_members=True,
    runners=("*TestCase",),
    passing=frozenset(
        {
            *("Attribute", "Override", "ReturnTypeWillChange", "Deprecated", "SensitiveParameter", "AllowDynamicProperties", "NoDiscard"),
            *("Pure", "Immutable", "ArrayShape", "ExpectedValues", "Language", "LanguageLevelTypeAware", "NoReturn", "Internal"),
            *("CoversClass", "CoversNothing", "CoversFunction", "CoversMethod", "CoversTrait", "UsesClass", "UsesFunction", "UsesMethod"),
            *("Group", "Small", "Medium", "Large", "Test", "TestDox", "TestWith", "TestWithJson", "DataProvider", "DataProviderExternal"),
            *("Depends", "Before", "After", "BeforeClass", "AfterClass", "RequiresPhp", "RequiresPhpExtension", "RequiresOperatingSystem"),
            *("RunInSeparateProcess", "RunTestsInSeparateProcesses", "PreserveGlobalState", "BackupGlobals", "IgnoreDeprecations"),
            *("DoesNotPerformAssertions", "Ticket", "WithoutErrorHandler"),
        }
    ),
    running=frozenset(
        {"Test", "TestWith", "TestWithJson", "DataProvider", "DataProviderExternal", "Before", "After", "BeforeClass", "AfterClass"}
    ),
    silent_bases=(
        *("Exception", "ErrorException", "Error", "Throwable", "RuntimeException", "LogicException", "InvalidArgumentException"),
        *("BadMethodCallException", "BadFunctionCallException", "DomainException", "LengthException", "OutOfRangeException"),
        *("OutOfBoundsException", "OverflowException", "RangeException", "UnderflowException", "UnexpectedValueException", "TypeError"),
        *("ValueError", "JsonException", "stdClass", "Traversable", "UnitEnum", "BackedEnum", "Stringable", "TestCase", "PHPUnit."),
    ),
    bases=(
        ("ArrayAccess", ("offset*",)),
        ("IteratorAggregate", ("getIterator",)),
        ("Iterator", ("current", "key", "next", "rewind", "valid")),
        ("SeekableIterator", ("current", "key", "next", "rewind", "valid", "seek")),
        ("RecursiveIterator", ("current", "key", "next", "rewind", "valid", "getChildren", "hasChildren")),
        ("OuterIterator", ("current", "key", "next", "rewind", "valid", "getInnerIterator")),
        ("FilterIterator", ("accept", "current", "key", "next", "rewind", "valid")),
        ("RecursiveFilterIterator", ("accept", "current", "key", "next", "rewind", "valid", "getChildren", "hasChildren")),
        ("IteratorIterator", ("current", "key", "next", "rewind", "valid")),
        ("Countable", ("count",)),
        ("JsonSerializable", ("jsonSerialize",)),
        ("Serializable", ("serialize", "unserialize")),
        ("SessionHandlerInterface", ("open", "close", "read", "write", "destroy", "gc")),
        ("SplObserver", ("update",)),
        ("SplSubject", ("attach", "detach", "notify")),
        ("php_user_filter", ("filter", "onCreate", "onClose")),
    ),
)
"""Bases are called by the last part of their names. `TestCase` calls tests, and what prepares them, which nobody looks for."""

"""What the product knows of a language, as one record: its grammar, its rules, the habits of its projects and of its tests.

A fact that is true of several languages is a field here and never a list of names elsewhere. Which files belong to a language, and which
servers serve it, `indexer/servers/servers.toml` says.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Literal

import msgspec

from indexer.languages.bridges import Bridge, Offer
from indexer.languages.by_values import ByValues
from indexer.languages.hooks import Hooks
from indexer.model import NameUse, Role

Exports = Literal["export", "capital", "pub", "public", "header", "functions", "unless private"]
Namespaces = Literal["one", "types", "kinds"]
FileImports = Literal["", "include", "from"]
PackageOf = Literal["folder", "module", "manifest"]
Signs = Literal["", "none", "own", "all"]
Runner = Literal["pytest", "go", "cargo", "junit", "phpunit", "file"]
"""What runs a test. `file`: the language's runner takes the file (vitest, jest, ctest's sources)."""
Satisfies = Literal["", "unsaid", "shape", "protocol"]
Parameters = Literal["", "keyword", "colon", "name type", "type name", "exact"]


class Grammar(msgspec.Struct, frozen=True, kw_only=True):
    """A tree-sitter grammar and how its trees are read.

    source: the module of the grammar and its function.
    definitions, uses: files in `indexer/syntax/tree/queries/`, read one after the other.
    exports: how a definition becomes visible elsewhere: by "export", a "capital", "pub", "public", or standing in a "header"; "functions":
        all of them, and variables that other programs get; "unless private": everything but what is declared by a word of `private`.
    private: words by which a definition is kept to its file or type.
    namespaces: what may share a name in one scope: nothing ("one"), "types" with the rest, or "kinds": types, callables, variables.
    binds_lower_case: in a pattern, a capital means something that exists (Rust).
    blank: the name that binds nothing.
    class_named_constructors: a method called like its class constructs it.
    inherits: in a class, a name may mean an inherited member before it means what is around the class.
    line_comment, path_separator: as written.
    ordered: a local variable is visible below its declaration only, as everywhere but in JavaScript.
    overloads: several functions of one name with different parameters may live in one scope, each with its body.
    prototypes: a function without a body is declared, not defined.
    rebinds: a second declaration of a local in one scope is the same variable (Go's `:=`, JavaScript's `var`).
    alike: what a name means changes only where the name is defined again, so one answer is that of several tokens
        (`indexer.syntax.tree.alike`).
    repair: the function of `indexer.syntax.tree.repair` to try on a text with errors.
    conditional: a text with errors may be read with fewer of its `#if` branches (`indexer.syntax.tree.conditional`).
    macros: a text has words of a preprocessor, which its parser alone does not see, in a language with classes or without
        (`indexer.syntax.tree.macros`).
    rewrite: the one that makes what the parser gets to see in place of the text, byte for byte.
    signs: at which operators its servers name what runs: at those of types of the program ("own"), or at the language's own too ("all"),
        so that no answer means that nobody knows; at "none"; empty: no operation is looked at.
    flow: who reads where values go, "ecmascript" (`indexer.syntax.ecmascript`); empty: nobody.
    """

    source: tuple[str, str]
    definitions: tuple[str, ...]
    uses: tuple[str, ...]
    exports: Exports
    private: frozenset[str] = frozenset({"private"})
    namespaces: Namespaces = "one"
    binds_lower_case: bool = False
    blank: str = ""
    class_named_constructors: bool = False
    inherits: bool = False
    line_comment: str = "//"
    ordered: bool = True
    overloads: bool = False
    path_separator: str = "."
    prototypes: bool = False
    rebinds: bool = False
    alike: bool = False
    repair: str = ""
    conditional: bool = False
    macros: Literal["", "plain", "classes"] = ""
    rewrite: str = ""
    signs: Signs = ""
    flow: Literal["", "ecmascript"] = ""


class Lookup(msgspec.Struct, frozen=True, kw_only=True):
    """A call that takes a name as a string.

    call: the name of what is called, or its last two names with a dot between them; `=`: what is assigned to a variable of a shell; `{{`:
        names with a dot before them in the braces of a template, wherever it stands; `<` and a name: a type that is given a name; a blank
        and a sign: what stands on its left, looked up in what stands on its right.
    use: how the string is taken.
    argument: the position of the string; -1: each argument is one; -2: it has none. keyword: the name that it may be given by.
    of: the position of what the name is looked up in; -1: what the call is made on, or nothing.
    roles: what happens to what is named, beside that it is named; nothing where it is only asked for, or replaced for a test.
    """

    call: str
    use: NameUse
    argument: int = 0
    keyword: str = ""
    of: int = -1
    roles: Role = Role.READ


class Locks(msgspec.Struct, frozen=True, kw_only=True):
    """Types that keep threads apart: locks, semaphores, conditions, atomics.

    names: as they are written.
    within: starts of the qualified names or packages that they are defined in; empty: anywhere outside the workspace.
    made: types of what their functions return, as a server shows them.
    """

    names: tuple[str, ...]
    within: tuple[str, ...] = ("",)
    made: tuple[str, ...] = ()


ANNOTATED_PLACES = frozenset({"parameters", "results", "models"})


class Language(msgspec.Struct, frozen=True, kw_only=True):
    """One language. What is not said of a language is as the default says, which claims least.

    names: LSP language ids and other names of it; the first is the one that an index has.
    family: the first name of the language whose code its own may name as its own (C and C++, TypeScript and JavaScript); its own name
        where that is the only one.

    Text:
    grammar: how a file is read without a server; None: by its identifiers only, or by an adapter of its own (Python).
    outline: the grammar by which it is read where there is no server and no `grammar`, if it is installed (`indexer.languages.outlines`).
    variants: other grammars, of files with these extensions.
    preprocessed: lines that begin with `#if` and `#endif` say which text counts.
    binds_in_file: a name that is not taken of something means what its own file binds, what a star import brings, or what the language has.
    comments: how lines of comments and attributes above a definition begin.
    decorators_above: a definition begins with the lines of its decorators, before the line that names it.
    is_indented: a block is told by its indentation, and needs a statement.
    keywords: words that are no names.
    binders: a regex of the words before a name that a text defines, where a name that stands alone is else defined by an assignment only.
    fixed_names: names that the language or its loader looks for itself: what has one means another thing under another name.
    lexer: its name in Pygments, where that is none of its own.
    scip: its name in SCIP, where that is not its own with a capital.
    name_marks: what a name may begin with beside letters.
    type_before_name: a declaration has the type before the name.
    has_macros: what is given to a macro is often unresolved.
    lookups: calls that take names as strings.

    calls_strings: a string is called as a function of its name.
    ignores_case: names of functions, members and types are the same in capitals.
    by_values: what a text reads or runs by names that are values, or without a name.
    renames_by_alias: a name that is imported is renamed in its own file, under an alias, where a server is asked at a use of it.
    types_in_comments: comments give values their types, `/** @type {Item} */`.
    page_objects: names of the object whose members are those of the page or the program, `window`.
    run_by_tags: methods that an encoder of the library calls of a field's type, each with the word of a tag that tells it to.
    spreads_mappings: `f(**given)` gives a mapping's values to the parameters that are called like its keys.
    decides_platform: a regex of conditions of which a server takes one side alone; empty: none does.
    makes_own_type: a regex of what makes one more value of the type that a value has: `new static`; empty: no server tells less of it.
    tells_private: a signature has the word `private` where no other type can name a member.
    leaves_unsaid: constructors run others without a word, tools write accessors of fields, classes without a name have members.
    read_as_properties: endings of files of other languages that read `getName` as `name`.
    operates_elsewhere: members that operators and other syntax of the languages beside it call (`read_as_properties`).
    reads_by_getters: a template's `x.name` calls `getName`, `isName` or `hasName`.
    runs_words: commands that run the words which they are given; a language that has some runs what a variable or a text holds.

    Other languages:
    bridges: how its files name what another language defines.
    offers: what shows that a definition is there for another language.
    is_native: what it defines has a symbol in a library by its own name, unless it is kept to its file.

    Files:
    file_imports: statements that name a file and no identifier: "include" or "from".
    is_included: what a file includes becomes part of its own text, so nothing of it is its own affair.
    bodies_elsewhere: a function is declared in one file and has its body in another.
    imports_folders: an import names a folder; imports_files: it names a file.
    dotted_types: a type's full name is that of its folder and its own, with dots: `a.b.Type`.
    named_by_package: what stands at the top of a file is named by the file's package, without the file: `a.b.Type`. A regex of the
        statement that says the package, which is its group; empty: files say none.
    package_of: what belongs together: the files of a "folder", of a "manifest", or of the package that a "module" lies in.
    imports_names: a name that stands alone, and that its file neither defines nor imports, is none of another file's.
    is_module: a file is a module, and its name is a part of qualified names.
    spreads: users of a package do not see which of its files defines something.
    manager: the kind of package whose manifest names the project.
    standard_package: what indexers call the package of its standard library.
    predeclared: descriptors of the names that it has by itself, in files of SCIP (`indexer.scip.predeclared`).
    has_environment: a project runs in an environment of an interpreter and packages, which all projects of a workspace share.
    project_is_outermost: of several project files above each other the highest is the project's; the others are its parts.
    build_files: project files of those who build, where servers go by others.
    declared_only: nothing runs outside functions but what a variable is set to; who names a package does not run all of it.
    refreshes_by_name: its rules are known well enough to say which documents an edit concerns.
    project_files: patterns of names of files that say where imports lead, or what a build takes in (`indexer.project_files`).
    passes_on: a regex over a source that hands on what another file exports, and names none of it; empty: there is no such thing.
    builds_choose_files: several files of a folder may define the same, and a build takes one of them.
    imports_hosts: what is imported may begin with the name of a host, whose dots separate nothing.
    texts: what stands in texts of a source that is no code of its language, and is read for names: "assembler" of C, what "comments" tell a
        generator or a linker, the "script" of a build, "commands" of a shell, the markup of a "component", a "template" in a string.
    calls_c: a regex over a source that has in it what another language defines by names of C, NAME for the name; empty: it has none.
    makes_annotated: where libraries make objects of the types that annotations name (of `ANNOTATED_PLACES`): of the "parameters" or
        "results" of functions that they are registered, of fields of their "models", which are classes that have a base of theirs.
    keeps_fields: a library that has a decorator before a field may find the field by a string.
    asked_by_name: a regex over names of methods that a library writes by what their names ask for, NAME for that of a field.
    accessors: a regex over names of methods by which a library reads and writes what an object has; properties are such everywhere.
    looks_up_names: code finds members and modules by strings, as `getattr` does.
    looks_up_by: functions of its library that find a member by the name which a value is.
    is_compiled: a use that does not fit its declaration is an error before anything runs.

    Types:
    satisfies: how a type fits an interface without naming it: "unsaid" (Go: no type names its interfaces), by its "shape" (TypeScript),
        by a "protocol" (Python); empty: it does not.
    has_types: its programs may define types; where not, nothing is missing that a server does not tell of them.
    bases_are_named: a type's text names all types above it, but for those that it fits by `satisfies`.
    fields_by_assignment: a class gets fields by assignments in its methods (`self.x = …`).
    members_by_assignment: anything gets members by assignment (`x.name = …`), which look like variables.
    merges_declarations: a class or interface may be declared in several parts, one of them in another package.
    points_at_texts: a server's place may be a whole text: that of a module, a constructor, a signature without a name.
    points_at_comments: a server's place may be within a comment, or be that of a string, which defines a constant where it is in one.
    types_are_values: a type's name is a value as others are: who gets it may make instances.
    modules_are_values: a module may be handed over; whoever gets it may call what it defines by name.
    looks_at_modules: calls that ask a module for its text or its names, or replace a member of it for a test: none calls what it defines.
    hands_objects_to: functions and types of the language's library that call members of what they are given by names that stand elsewhere,
        and a regex that the text beside has to have (empty: none); where there is none, no library finds members by their names.
    asked_of_objects: members that functions of the language's own library call of what they are given, whatever its type: `write`.
    keeps_no_object: names of functions of libraries that call no member of what they are given, beside those that the language runs.
    binds_late: a member is looked up by its name when the program runs: a field or a type that a subtype sets anew stands in for it.
    type_finders: functions outside that give any type by its name, by qualified name.
    interfaces_alone_dispatch: a call of a member of a type that is no interface runs that member, whatever has the type in itself.
    takes_members: a type may take the members of another one into itself (traits): what is above it then calls them as its own.
    linearises: the types above a type are searched in one line, where a member of one base stands in for that of a base named later.
    parameters: how a parameter is written, for who reads lists of them (`query.changes.signatures`): "keyword" (Python: callers may name
        it), "colon" (`name: type`), "name type" or "type name"; "exact": any difference counts; empty: they are not read.
    locks: types that keep threads apart.

    Calls without a name:
    operations: by the name of an `indexer.model.Operation`, the members that it runs: one of each group, the first that the type has.
    runtime_members, runtime_starts: members, and how names of members begin, that the language or its library run where nothing names them
        and nothing here follows it: operators, conversions, what formats, compares, copies and ends a value.
    object_members: those of an object that is written out and is no type's: what its library takes them for runs them.
    module_members: functions of a module that the language runs where a name is looked up in it.
    base_hooks: members of a type that run for each type that is defined on it.
    getters: members of a type that run for each attribute that is read of it.
    runs_texts: functions of the language that run a text as code.
    metaclasses: qualified names of types outside whose values are types: what syntax does to a class runs a member of those.
    answered_outside: members that types outside have, which stand in for those that an operation would run else: a regex of qualified
        names of types, and the members of it.
    idle_bases: last names of types outside that run no member of what is derived from them, where others may.
    run_by: members, and names of functions and types of libraries that run them where they are given a value or its type.
    operators_outside: what an operation runs may be a function outside of any type.
    constructs_by_type: a declaration makes a value where it names a type alone, and values are copied and converted unnamed.
    fields_lead_on: a field that is read may be one of what a value stands for (Rust's `Deref`); no type makes fields up.
    says_implementations: the text shows which members implement an interface (flag `implements`); no interface asks for others.
    open_types: a regex of the names of types outside that any value may have: interfaces, what is not known.
    open_files: ends of paths of the standard library's files that define such.
    library_files: a regex of URIs of the library's own files, whose names a file that is no module may take for itself.
    library_names: a regex of monikers of what these files give to every file by its name.
    function_types: a regex of how a type is declared whose values are functions, where a loop over a function calls it.
    closed_values: a regex of what a variable or a function is declared as whose value or result is a number, a text or the like.
    numbers_members: a member of an enum without a value has the number behind that of the one above.
    repeats_values: a regex that opens a list of constants in which one without a value has the expression above it; empty: there is none.
    sets_by_place: an object's fields can be given in the order in which they are declared, without their names.
    fields_stand_first: an object has the fields of its classes itself, so that reading one runs no accessor of a class below.
    reads_by_key: `x[name]` reads any member, accessors too, and `{...x}` all that the object is written with.
    closed_results: a regex of declared results of functions outside of which no value has a type of the workspace.

    Tests and tools:
    runner: what runs a single test; "file": a whole file is run.
    test_names: how the names of functions begin that the runner runs.
    main_of_tests: the function that runs all tests of its folder, where there is one.
    has_suites: tests may be methods of a type that embeds a `Suite`; a function runs one, or a part of itself, by `Run`.
    tests_named_alone: the runner takes a test by the name of its function, without its file.
    tests_have_attributes: a test is told by an attribute, wherever it is defined.
    tests_inside: tests are defined in the file that they test.
    tests_beside: files of tests lie in the folder of what they test.
    runs_by_name, runs_by_start: names, and starts of names, of functions that the language or a tool calls.
    hooks: who calls what nobody names.
    documented_by: the program that prints documentation of a qualified name.
    """

    names: tuple[str, ...]
    family: str

    grammar: Grammar | None = None
    outline: Grammar | None = None
    variants: tuple[tuple[str, Grammar], ...] = ()
    preprocessed: bool = False
    binds_in_file: bool = False
    comments: tuple[str, ...] = ("//", "/*", "*", "*/", "#[", "#![")
    decorators_above: bool = False
    is_indented: bool = False
    keywords: frozenset[str] = frozenset()
    binders: str = ""
    fixed_names: frozenset[str] = frozenset()
    lexer: str = ""
    scip: str = ""
    name_marks: tuple[str, ...] = ()
    type_before_name: bool = False
    has_macros: bool = False
    lookups: tuple[Lookup, ...] = ()

    calls_strings: bool = False
    ignores_case: bool = False
    by_values: ByValues = ByValues()
    renames_by_alias: bool = False
    types_in_comments: bool = False
    page_objects: frozenset[str] = frozenset()
    run_by_tags: tuple[tuple[str, str], ...] = ()
    spreads_mappings: bool = False
    decides_platform: str = ""
    makes_own_type: str = ""
    tells_private: bool = False
    leaves_unsaid: bool = False
    read_as_properties: tuple[str, ...] = ()
    reads_by_getters: bool = False
    operates_elsewhere: frozenset[str] = frozenset()
    runs_words: frozenset[str] = frozenset()

    bridges: tuple[Bridge, ...] = ()
    offers: tuple[Offer, ...] = ()
    is_native: bool = False

    file_imports: FileImports = ""
    is_included: bool = False
    bodies_elsewhere: bool = False
    imports_folders: bool = False
    dotted_types: bool = False
    imports_files: bool = True
    named_by_package: str = ""
    package_of: PackageOf = "folder"
    imports_names: bool = False
    is_module: bool = False
    spreads: bool = False
    manager: str = ""
    has_environment: bool = False
    project_is_outermost: bool = False
    build_files: tuple[str, ...] = ()
    declared_only: bool = False
    refreshes_by_name: bool = False
    project_files: tuple[str, ...] = ()
    passes_on: str = ""
    builds_choose_files: bool = False
    standard_package: str = ""
    predeclared: frozenset[str] = frozenset()
    imports_hosts: bool = False
    texts: tuple[Literal["assembler", "comments", "script", "commands", "component", "template"], ...] = ()
    calls_c: str = ""
    makes_annotated: frozenset[str] = frozenset()
    keeps_fields: bool = False
    asked_by_name: str = ""
    accessors: str = ""
    looks_up_names: bool = False
    looks_up_by: frozenset[str] = frozenset()
    is_compiled: bool = True

    satisfies: Satisfies = ""
    has_types: bool = True
    bases_are_named: bool = False
    fields_by_assignment: bool = False
    members_by_assignment: bool = False
    merges_declarations: bool = False
    points_at_texts: bool = False
    points_at_comments: bool = False
    types_are_values: bool = False
    modules_are_values: bool = False
    looks_at_modules: frozenset[str] = frozenset()
    hands_objects_to: tuple[tuple[str, str], ...] = ()
    asked_of_objects: frozenset[str] = frozenset()
    keeps_no_object: frozenset[str] = frozenset()
    binds_late: bool = False
    interfaces_alone_dispatch: bool = False
    linearises: bool = False
    takes_members: bool = False
    type_finders: frozenset[str] = frozenset()
    parameters: Parameters = ""
    locks: Locks | None = None

    operations: tuple[tuple[str, tuple[tuple[str, ...], ...]], ...] = ()
    runtime_members: frozenset[str] = frozenset()
    runtime_starts: tuple[str, ...] = ()
    object_members: frozenset[str] = frozenset()
    module_members: frozenset[str] = frozenset()
    base_hooks: frozenset[str] = frozenset()
    getters: frozenset[str] = frozenset()
    runs_texts: frozenset[str] = frozenset()
    metaclasses: frozenset[str] = frozenset()
    answered_outside: tuple[tuple[str, tuple[str, ...]], ...] = ()
    idle_bases: frozenset[str] = frozenset()
    run_by: tuple[tuple[tuple[str, ...], tuple[str, ...]], ...] = ()
    operators_outside: bool = False
    constructs_by_type: bool = False
    fields_lead_on: bool = False
    says_implementations: bool = False
    open_types: str = ""
    open_files: tuple[str, ...] = ()
    library_files: str = ""
    library_names: str = ""
    closed_results: str = ""
    closed_values: str = ""
    function_types: str = ""
    reads_by_key: bool = False
    numbers_members: bool = False
    repeats_values: str = ""
    sets_by_place: bool = False
    fields_stand_first: bool = False

    runner: Runner = "file"
    test_names: tuple[str, ...] = ()
    main_of_tests: str = ""
    has_suites: bool = False
    tests_named_alone: bool = False
    tests_have_attributes: bool = False
    tests_inside: bool = False
    tests_beside: bool = False
    runs_by_name: frozenset[str] = frozenset()
    runs_by_start: tuple[str, ...] = ()
    hooks: Hooks = Hooks()
    documented_by: str = ""

    @property
    def name(self) -> str:
        return self.names[0]

    def runs_unnamed(self, name: str) -> bool:
        """Whether a member of this name may run where nothing names it: by an operation, or by the language or its library."""
        return name in self.runtime_members or name.startswith(self.runtime_starts) or self.operates(name)

    def holder(self, module: str) -> str:
        """The dotted name that what stands at the top of a module is named below."""
        return module.rpartition(".")[0] if self.named_by_package else module

    def passes_all_on(self, content: bytes) -> bool:
        """Whether a source hands on what another file exports and names none of it."""
        return bool(self.passes_on) and re.search(self.passes_on, content.decode("utf-8", "replace")) is not None

    def runs(self, name: str) -> bool:
        """Whether the language or its library runs members of this name where nothing names them."""
        return name in self.runtime_members or name.startswith(self.runtime_starts)

    def operates(self, name: str) -> bool:
        """Whether an operation runs members of this name."""
        return name in _operated(self.operations)


@cache
def _operated(operations: tuple[tuple[str, tuple[tuple[str, ...], ...]], ...]) -> frozenset[str]:
    return frozenset(name for _, groups in operations for names in groups for name in names)

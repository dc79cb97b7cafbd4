"""The index's tables and versions. The contract with users is the views of `views.sql`; the tables below may change.

SCHEMA_VERSION: the shape of index and shards; a reader refuses any other.
    1  2026-11-21  first
    2  2026-11-22  several folders, several servers; members written outside their type
    3  2026-11-22  targets inside the workspace are symbols, not places
    4  2026-11-22  words of files that are not read
    5  2026-11-23  strings, operations without a name, what functions give and variables hold, manifests
    6  2026-11-23  times of the last change of a file's status
    7  2026-11-23  where values go: rows by syntax, calls and meanings by flow
    8  2026-11-24  calls of what a variable holds or an expression gives
    9  2026-11-24  bases that the running program makes
   10  2026-11-25  what runs where the text does not name it
   11  2026-11-30  which of several servers of a language was asked about a file
CONTENT_VERSION: what the same source means; a change makes indexes want a rebuild, readers do not care.
    1  2026-11-21  first
    2  2026-11-22  monikers begin with the language
    3  2026-11-22  roles `star` and `path` of names in Python's imports
    4  2026-11-22  packages are named by manifests, never by a folder; imports resolve in the project's environment or none
    5  2026-11-22  files below .lspidx carry a digest and a proof; Go's imports are counted, and misread C++ is not believed
    6  2026-11-23  calls without a name, uses by strings, values that go nowhere (`confined`), notebooks, scripts and components
    7  2026-11-23  operators, constructors and iterators of C++, Rust and TypeScript; names that are made at run time
    8  2026-11-23  Python: calls of functions that are held or handed over, members of values without a declared type
    9  2026-11-24  calls of what an expression gives
   10  2026-11-24  a second member of one name in a local type is a local symbol, as the first
   11  2026-11-24  members that override a variable; values that are raised; flow in JavaScript and TypeScript, more in Python
   12  2026-11-24  Python: overrides on every way up and of bases beside, patterns, iterators, both sides of operators
   13  2026-11-24  JavaScript, TypeScript: calls behind a comma, default values, operators and conversions, what patterns read
    14  2026-11-25  C, C++: what the compiler adds; Go: interfaces outside, loops over functions, embedding; Rust: the texts of macros
   15  2026-11-26  C, C++: what stands beside macros that a grammar does not know; names that a build leaves out
    16  2026-11-26  Python: constants that are handed over and may be names
   17  2026-11-26  Python: names that modules have of themselves, folders that tests add to where imports start, ends of blocks in runs of
                   comments; JavaScript: accessors and copies of objects; C, C++: parameters of prototypes
   18  2026-11-26  names of arguments, keys of objects, lists of names, declared variables; properties that assignments make;
                    C, C++: what the texts of macros name; Python: names in class bodies that are read before they are bound
   19  2026-11-28  what `async with` gives, names in lists of Python, `arguments`, what is thrown and caught, members of `super`; names of
                    the library that a script takes for itself
                    Python: results that are declared as `Self` or `C[…]`; C, C++: macros that stand for statements, calls in prototypes
                    words by which files of one language name what another one defines
                    names in texts that Rust formats, fields in its patterns; made names; what linkers and generators are told
                    Vue, Svelte: markup is code
   20  2026-11-28  names that are made of a word, computed keys, more operators of Python; classes without a name, properties that are
                    copied in loops or described, and names of events of JavaScript
                    Java: calls of `this(…)` and `super(…)`; members of the library that a type overrides, names by package
                    C: attributes, types, members and arguments that macros make
                    PHP: properties without their sign; words that files of settings and commands say to shells, and beside namespaces
                    Python: what is raised and where it is caught, constant names that variables, defaults and tables hold; JavaScript: the
                    same, and computed keys
   21  2026-11-29  TypeScript, JavaScript: tests of types (`x.test-d.ts`) are tests
                    Java: what signs run, members that a class inherits and that implement an interface, bases of local classes, sources by
                    module, names in annotations of packages; words of templates of Mustache and Velocity, of FXML, and of Clojure and
                    scripts that call the JVM
                    files in UTF-16 are read
                    what a second server says; Python: mappings made of pairs, `dataclasses.replace`; JavaScript: classes that look alike
                    PHP: definitions, scopes, roles, imports and types above by its grammar, names by namespaces, packages of Composer
   22  2026-11-30  Python: parameters that `parametrize` fills, operations on what comparisons give, keys that are
                    counted from the end or computed, signs before values, branches for type checkers alone
   23  2026-11-30  Python: types that are written as strings in brackets outside of annotations, what `"%r %d" % (a, b)` runs by its
                    letters; TypeScript: `export type *`, names called `using`, tags with type arguments
   24  2026-11-30  Python: what a class statement gives `__init_subclass__`; shells: names that share one answer; beginnings of
                    names in programs that write C
   25  2026-12-01  identifiers of files that no server was asked about; outlines of languages without a grammar of ours
"""

from __future__ import annotations

from pathlib import Path

SCHEMA_VERSION = 11
CONTENT_VERSION = 25

VIEWS_SQL = Path(__file__).with_name("views.sql")

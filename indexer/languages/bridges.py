"""Interfaces between languages: how a file of one names what another one defines, and what shows that it does (ADR 0086).

Data of the language records. A mark stands for all that is reached in one way: "native" for what has a symbol of its own in a library (C,
and what other languages export as C does), else the first name of a family of languages.
"""

from __future__ import annotations

from typing import Literal

import msgspec

NATIVE = "native"
"""The mark of what a linker or a loader knows by its name."""

Read = Literal["words", "strings", "taken", "calls", "jni"]


class Bridge(msgspec.Struct, frozen=True, kw_only=True):
    """How files of a language name what another language defines.

    to: marks of what they name.
    evidence: a regex; a file in which it finds nothing names nothing.
    within: a regex of the parts of a file that names stand in: its first group, or all of it; empty: the whole file.
    read: which words of those parts: all "words"; those in "strings" without a blank; what is "taken" of something by a dot, an arrow or
        two colons, with all words of strings; "calls": what stands before a parenthesis; "jni": the names that C has for methods which are
        declared `native`.
    is_member: what is named is a member of a type.
    defines: what is named is defined here for the other language, and not used: a change of its name concerns it, a list of callers not.
    hands_on: what the file opens may be given to others of its language, which then name things too.
    """

    to: tuple[str, ...]
    evidence: str = ""
    within: str = ""
    read: Read = "words"
    is_member: bool = False
    defines: bool = False
    hands_on: bool = False


class Offer(msgspec.Struct, frozen=True, kw_only=True):
    """What shows that a definition is there for other languages, whose files then use it by its name.

    head: a regex of the lines of its head and of the attributes and comments above; empty: any.
    around: one of the whole file, for members of types, and where `head` is empty.
    to: names of the languages.
    """

    head: str = ""
    around: str = ""
    to: tuple[str, ...]

    @property
    def is_native(self) -> bool:
        """Whether a library has a symbol of the name."""
        return "c" in self.to


_OPENED = r"\bctypes\b|\bcffi\b|\bdlopen\b|\bnumba\.cfunc\b"
_C_ABI = ("c", "cpp", "go", "rust", "zig", "swift", "objective-c")
_SCRIPTS = ("typescript", "javascript")
_JVM = "java"

PYTHON_BRIDGES = (
    Bridge(to=(NATIVE,), evidence=_OPENED, read="taken", hands_on=True),
    Bridge(to=(NATIVE,), evidence=r"\bwasmtime\b|\bwasmer\b|\bpywasm\b", read="taken"),
    Bridge(to=(_JVM,), evidence=r"\bjpype\b|\bpy4j\b|\bjnius\b|\bJClass\b|\bautoclass\b", read="taken"),
    Bridge(to=("lua",), evidence=r"\blupa\b", read="taken"),
)
ECMASCRIPT_BRIDGES = (
    Bridge(
        to=(NATIVE,),
        evidence=r"\bWebAssembly\s*\.|\.wasm\b|[Ee]mscripten|\bccall\s*\(|\bcwrap\s*\(|\bwasm_?[Ii]nstance\b|\bwasmExports\b",
        read="words",
        hands_on=True,
    ),
    Bridge(
        to=(_JVM,),
        evidence=r"\bJava\.type\s*\(|\bPackages\.\w|\bimport(?:Package|Class)\s*\(|\bJavaImporter\b|\bnew\s+java\.",
        read="words",
    ),
    Bridge(
        to=(NATIVE,), evidence=r"\bkoffi\b|\bffi-napi\b|\bffi-rs\b|\bDeno\.dlopen\b|\bbun:ffi\b|\bnode-ffi\b", read="words", hands_on=True
    ),
)
ECMASCRIPT_OFFERS = (
    Offer(around=r"\bWebAssembly\s*\.\s*(?:instantiate\w*|Instance)\b|\bmergeInto\s*\(|\baddToLibrary\s*\(", to=_C_ABI),
)  # fmt: skip
_GO_LOADS = r"\bpurego\b|\bNewLazyDLL\b|\bNewProc\b|\bGetProcAddress\b|\bDlsym\b|\bwazero\b|\bwasmtime\b"
GO_BRIDGES = (
    Bridge(to=(NATIVE,), evidence=r'import\s*(?:\(\s*)?"C"', within=r"\bC\.(?:struct_|union_|enum_|sizeof_)?(\w+)"),
    Bridge(to=(NATIVE,), evidence=r'import\s*(?:\(\s*)?"C"', within=r"\.(\w+)", is_member=True),
    Bridge(to=(NATIVE,), evidence=r'import\s+"C"', within=r'((?:^//[^\n]*\n)+|/\*(?:[^*]|\*(?!/))*\*/\s*)(?=import\s+"C")'),
    Bridge(to=(NATIVE,), evidence=r'import\s+"C"', within=r"^//export[ \t]+(\w+)", defines=True),
    Bridge(to=(NATIVE,), evidence=_GO_LOADS, read="strings"),
    Bridge(to=_SCRIPTS[:1], evidence=r'"syscall/js"', read="strings"),
)  # fmt: skip
GO_OFFERS = (Offer(head=r"//(?:export|go:wasmexport)[ \t]", to=(*_C_ABI, *_SCRIPTS, "python", "java")),)
_EXTERN_BLOCK = r'\bextern\s*(?:"[^"\n]*"\s*)?\{((?:[^{}"]|"[^"\n]*")*)\}'
_RUST_EXPORTED = r"\b(?:no_mangle|export_name)\b[^;{}]*?\bfn\s+(\w+)"
_RUST_TO_PYTHON = r"\b(?:getattr|setattr|import|import_bound|call_method\w*|eval|run|intern!)\s*\(([^;{}]*)"
RUST_BRIDGES = (
    Bridge(to=(NATIVE,), evidence=r"\bextern\b", within=_EXTERN_BLOCK),
    Bridge(to=(NATIVE,), evidence=r"\blibloading\b|\bdlsym\b|\bdlopen\b|\bwasmtime\b|\bwasmer\b", read="strings"),
    Bridge(to=(NATIVE,), evidence=r"\bbindgen\b", read="strings", hands_on=True),
    Bridge(to=(NATIVE,), evidence=r"\b(?:no_mangle|export_name)\b", within=_RUST_EXPORTED, defines=True),
    Bridge(to=_SCRIPTS[:1], evidence=r"\bwasm_bindgen\b|\bjs_sys\b", within=_EXTERN_BLOCK),
    Bridge(to=_SCRIPTS[:1], evidence=r"\bjs_sys\b|\bweb_sys\b|\bnapi\b", read="strings"),
    Bridge(to=("python",), evidence=r"\bpyo3\b", within=_RUST_TO_PYTHON, read="strings"),
    Bridge(to=(_JVM,), evidence=r"\bjni\b", read="strings"),
)  # fmt: skip
RUST_OFFERS = (
    Offer(head=r"\b(?:no_mangle|export_name)\b|#\[(?:uniffi|cbindgen|ffi_export)", to=(*_C_ABI, *_SCRIPTS, "python", "java", "kotlin")),
    Offer(head=r"#\[(?:pyo3::)?(?:pyfunction|pymodule|pyclass|pymethods|getter|setter|new|staticmethod)\b", to=("python",)),
    Offer(head=r"#\[(?:wasm_bindgen|napi|neon)", around=r"#\[(?:wasm_bindgen|napi)\b[^\]]*\]\s*impl\b", to=_SCRIPTS),
    Offer(head=r"#\[(?:pyo3::)?pymethods\b", around=r"#\[(?:pyo3::)?pymethods\b[^\]]*\]\s*impl\b", to=("python",)),
)
_OF_PYTHON = (
    r"\b(?:PyObject_\w*(?:Attr|Call)\w*|_?PyObject_(?:Call|Get|Lookup)\w*|PyImport_\w+|PyDict_Get\w+|PyMapping_Get\w+|PyRun_\w+"
    r"|PyUnicode_(?:Intern)?FromString|PyEval_\w+|_Py_IDENTIFIER|attr|getattr|call_method|import_?\w*|eval|exec)\s*\(((?:[^;{}\"]|\"(?:[^\"\\\n]|\\.)*\")*)"
)
_HOLDS_PYTHON = r"\bPython\.h\b|\bPyObject\b|\bpybind11\b|\bnanobind\b|\bboost/python"
_RUNS_SCRIPTS = r"\bnode_api\.h\b|\bnapi\.h\b|\bnapi_\w+|\bv8\.h\b|\bv8::|\bduktape\b|\bquickjs\b|\bJSContextRef\b|[Ee]mscripten"
C_BRIDGES = (
    Bridge(to=("python",), evidence=_HOLDS_PYTHON, within=_OF_PYTHON, read="taken"),
    Bridge(to=(_JVM,), evidence=r"\bjni\.h\b|\bJNIEnv\b|\bJNI_\w+", read="strings"),
    Bridge(to=(_JVM,), evidence=r"\bJava_\w+", within=r"\bJava_(\w+)", read="jni", defines=True),
    Bridge(to=_SCRIPTS[:1], evidence=_RUNS_SCRIPTS, read="strings"),
    Bridge(to=_SCRIPTS[:1], evidence=r"\bEM_(?:JS|ASM)\w*", within=r"\bEM_(?:JS|ASM)\w*\s*\(([^;]*)"),
    Bridge(to=("lua",), evidence=r"\blua_State\b|\blauxlib\b", read="strings"),
    Bridge(to=("ruby",), evidence=r"\bruby\.h\b|\brb_\w+\s*\(", read="strings"),
    Bridge(to=("php",), evidence=r"\bphp\.h\b|\bzend_\w+|\bzval\b", read="strings"),
)  # fmt: skip
_JAVA_LOADS = r"\bcom\.sun\.jna\b|\bjnr\.ffi\b|\borg\.bridj\b|\bSymbolLookup\b|\bdowncallHandle\b|\bnativeLinker\b"
JAVA_BRIDGES = (
    Bridge(to=(NATIVE,), evidence=r"\bnative\s+[\w<]", read="jni"),
    Bridge(to=(NATIVE,), evidence=_JAVA_LOADS, read="words"),
)  # fmt: skip
KOTLIN_BRIDGES = (
    Bridge(to=(NATIVE,), evidence=r"\bexternal\s+fun\b", read="jni"),
    Bridge(to=(NATIVE,), evidence=r"\bkotlinx\.cinterop\b|\bcom\.sun\.jna\b|\bSymbolLookup\b", read="words"),
    Bridge(to=(_JVM,), read="words"),
)
SCALA_BRIDGES = (
    Bridge(to=(NATIVE,), evidence=r"@native\b|@extern\b|\bcom\.sun\.jna\b", read="words"),
    Bridge(to=(_JVM,), read="words"),
)
CLOJURE_BRIDGES = (Bridge(to=(_JVM,), evidence=r"\(:?import\b|\(\.\.?[\w\s]|\(\w+\.\s|\(\w[\w.]*/\w", read="words"),)
CSHARP_BRIDGES = (
    Bridge(to=(NATIVE,), evidence=r"\b(?:Dll|Library)Import\b", read="words"),
    Bridge(to=(NATIVE,), evidence=r"\bGetExport\b|\bGetProcAddress\b|\bdelegate\* unmanaged\b", read="strings"),
)
RUBY_BRIDGES = (Bridge(to=(NATIVE,), evidence=r"\bFFI\b|\bFiddle\b|\bDL\b|\bwasmtime\b", read="words", hands_on=True),)
PHP_BRIDGES = (Bridge(to=(NATIVE,), evidence=r"\bFFI\b", read="words", hands_on=True),)
LUA_BRIDGES = (Bridge(to=(NATIVE,), evidence=r"\bffi\b|\bloadlib\b|\balien\b", read="words", hands_on=True),)
SWIFT_BRIDGES = (Bridge(to=(NATIVE,), read="calls"), Bridge(to=(NATIVE,), evidence=r"@_silgen_name|\bdlsym\b", read="strings"))
ZIG_BRIDGES = (
    Bridge(to=(NATIVE,), evidence=r"@cImport|@extern\b|\bextern\s+(?:\"\w+\"\s+)?(?:fn|var|const)\b", read="words", hands_on=True),
)
DART_BRIDGES = (Bridge(to=(NATIVE,), evidence=r"dart:ffi|\bdart:js", read="words", hands_on=True),)
HASKELL_BRIDGES = (Bridge(to=(NATIVE,), evidence=r"\bforeign\s+import\b", within=r"\bforeign\s+import\b([^\n]*(?:\n[ \t]+[^\n]*)*)"),)
OCAML_BRIDGES = (Bridge(to=(NATIVE,), evidence=r"\bexternal\b", within=r"\bexternal\b([^\n]*(?:\n[ \t]+[^\n]*)*)"),)
ELIXIR_BRIDGES = (Bridge(to=(NATIVE,), evidence=r"load_nif", read="words"),)
R_BRIDGES = (
    Bridge(to=(NATIVE,), evidence=r"\.(?:Call|C|External2?|Fortran)\s*\(", within=r"\.(?:Call|C|External2?|Fortran)\s*\(\s*([^,()]*)"),
    Bridge(to=(NATIVE,), evidence=r"\bRcpp\b|\bsourceCpp\b", read="words"),
)
SQL_BRIDGES = (Bridge(to=(NATIVE,), evidence=r"(?i)MODULE_PATHNAME|\bLANGUAGE\s+'?C\b|\bSONAME\b", read="words"),)

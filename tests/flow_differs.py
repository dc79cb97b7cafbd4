"""Where the index and the run of a case of `tests/corpora/flow/programs.txt` or `scripts.cases` differ, and why."""

from __future__ import annotations

from traced import Differs

_AT_RUN_TIME = "a name that is made at run time"
_BY_LANGUAGE = "what the language calls of an object where it is iterated over, or becomes a text, is not told as a call"
_BY_LIBRARY = "what the library calls of a class below one of its own is told by who may call it, not as a call"
_BY_NAME = "the text calls it by its name, which is told as such; what runs in its place is told beside it"
_NO_ATTRIBUTE = "the server finds no attribute of that name"
_FACTORY = "told of the class, which holds it"
_KNOWN = "the server names the function that the getter gives; that the getter runs is not told"
_LATER = "the tracer sees who resumes a generator or a coroutine, and nothing of other threads; the text says who makes them"
_MADE = "a class that a call makes has no symbol"
_MODULES = "modules are no values"
_NOT_RUN = "the runtime calls it, or nothing happened that it is for"
_OPERATION = "an operation on what has no declared type is only possible"
_ORDER = "all that a variable in a loop, or a part of a list, is set to counts"
_ANYWHERE = "all that a variable is set to counts, wherever it is called"
_OVERRIDDEN = (
    "the server names the member of the declared class, which is told as such; that classes below have their own is told by dispatch"
)
_POSSIBLE = "what `__getattr__` gives is told within it all the same"
_SET_NAME = "told of the class, in the statement of which it runs, too"
_THROWN = "what a function that is called raises is not followed to who catches it"
_TRAP = "what handles a proxy is not followed"

_SUM = "what `+` of objects gives is not followed"

PROGRAMS: dict[str, Differs] = {
    "programs_operator_overload_chain": Differs(_SUM, missing={("", "V.done")}),
    "programs_exception_args": Differs(_THROWN, missing={("main", "fallback")}),
    "programs_exception_method_by_call": Differs(
        _OVERRIDDEN, missing={("AppError.to_response", "NotFound.build")}, wrong={("AppError.to_response", "AppError.build")}
    ),
    "programs_type_three_arguments": Differs(_MADE, missing={("hello", "other")}),
    "programs_type_three_arguments_with_base": Differs(_MADE, missing={("Base.run", "step")}),
    "programs_registry_metaclass": Differs(_OVERRIDDEN, missing={("go", "Child.run")}),
    "programs_subclasses_walk": Differs(_OVERRIDDEN, missing={("go", "A.run"), ("go", "B.run")}, wrong={("go", "Base.run")}),
    "programs_descriptor_data": Differs(_SET_NAME, wrong={("User", "Field.__set_name__")}),
    "programs_wraps_decorator_with_state": Differs(_BY_NAME, wrong={("", "job")}),
    "programs_decorator_class_with_call": Differs(_BY_NAME, wrong={("", "work")}),
    "programs_decorator_stacked": Differs(_BY_NAME, wrong={("main", "act")}),
    "programs_decorator_optional_arguments": Differs(_BY_NAME, wrong={("main", "a"), ("main", "b")}),
    "programs_dataclass_field_callable": Differs(_FACTORY, missing={("", "make")}, wrong={("Job", "make")}),
    "programs_namedtuple_class_methods": Differs(_MADE, missing={("", "Point.norm")}),
    "programs_middleware_chain": Differs(
        _ORDER,
        wrong={
            ("", "Auth.__call__"),
            ("", "base"),
            ("Auth.__call__", "Auth.__call__"),
            ("Auth.__call__", "Log.__call__"),
            ("Log.__call__", "Log.__call__"),
            ("Log.__call__", "base"),
        },
    ),
    "programs_template_method": Differs(_OVERRIDDEN, missing={("Base.run", "Impl.main")}, wrong={("Base.run", "Base.main")}),
    "programs_super_multiple_mixin": Differs(_OVERRIDDEN, missing={("A.save", "B.save")}, wrong={("A.save", "Base.save")}),
    "programs_metaclass_call": Differs(_BY_NAME, wrong={("get", "Db.__init__")}),
    "programs_async_gather": Differs(_LATER, missing={("", "a")}, wrong={("main", "a")}),
    "programs_async_create_task": Differs(_LATER, missing={("", "work")}, wrong={("main", "work")}),
    "programs_async_decorator": Differs(_BY_NAME, wrong={("main", "job")}),
    "programs_async_to_thread": Differs(_LATER, wrong={("main", "block")}),
    "programs_executor_submit": Differs(_LATER, wrong={("main", "job")}),
    "programs_generator_pipeline": Differs(_LATER, missing={("keep", "read")}, wrong={("main", "read")}),
    "programs_iterator_protocol": Differs(_OPERATION, missing={("walk", "Tree.__iter__")}),
    "programs_getitem_container": Differs(_OPERATION, missing={("use", "Box.__getitem__")}),
    "programs_list_concat_and_slice": Differs(_ORDER, wrong={("", "a")}),
    "programs_class_attribute_class": Differs(_OVERRIDDEN, missing={("View.get", "Other.dump")}, wrong={("View.get", "Serializer.dump")}),
    "programs_protocol_typed_parameter": Differs(_OVERRIDDEN, missing={("start", "Impl.run")}, wrong={("start", "Runner.run")}),
    "programs_abstract_base": Differs(_OVERRIDDEN, missing={("Store.get", "Mem.load")}, wrong={("Store.get", "Store.load")}),
    "programs_class_decorator_wraps": Differs(_BY_NAME, wrong={("", "Db.__init__")}),
    "programs_monkeypatch_module": Differs(_MODULES, missing={("", "f")}),
    "programs_import_module_name": Differs(_MODULES, missing={("", "f")}),
    "programs_getattr_module": Differs(_MODULES, missing={("", "task_a")}),
    "programs_json_encoder_subclass": Differs(_BY_LIBRARY, missing={("", "Enc.default")}),
    "programs_ast_visitor": Differs(_BY_LIBRARY, missing={("", "V.visit_Name")}),
    "programs_html_parser": Differs(_BY_LIBRARY, missing={("", "P.handle_starttag")}),
    "programs_unittest_case": Differs(_BY_LIBRARY, missing={("", "T.setUp"), ("", "T.test_it")}),
    "programs_logging_handler": Differs(_BY_LIBRARY, missing={("", "H.emit")}),
    "programs_str_format_conversion": Differs(_OPERATION, missing={("show", "A.__str__")}),
    "programs_comparison_and_hash": Differs(_OPERATION, missing={("", "K.__hash__")}),
    "programs_bool_len": Differs(_OPERATION, missing={("run", "A.__bool__")}),
    "programs_lazy_object_new": Differs(_NO_ATTRIBUTE, wrong={("Lazy.__getattr__", "Lazy.__getattr__")}),
    "programs_singledispatchmethod": Differs(_BY_NAME, wrong={("", "A.go")}),
    "programs_raise_class_in_callee": Differs(_THROWN, missing={("g", "E.explain")}),
    "programs_inherited_property_override": Differs(_OVERRIDDEN, missing={("A.show", "B.kind")}, wrong={("A.show", "A.kind")}),
    "programs_getattr_where_attributes_are_set_by_computed_names": Differs(
        _POSSIBLE, wrong={("Machine.__getattr__.later", "Machine.missing")}
    ),
}

SCRIPTS: dict[str, Differs] = {
    "scripts_define_property_getter_on_exports": Differs(_KNOWN, missing={("", "lib.get")}),
    "scripts_proxy_get": Differs(_TRAP, missing={("", "get")}),
    "scripts_reflect_get_apply": Differs(_AT_RUN_TIME, missing={("", "o.go")}),
    "scripts_symbol_iterator_generator": Differs(_BY_LANGUAGE, missing={("walk", "Tree.[Symbol.iterator]")}),
    "scripts_symbol_iterator_by_hand": Differs(
        _BY_LANGUAGE, missing={("", "range.[Symbol.iterator]"), ("", "range.[Symbol.iterator].next")}
    ),
    "scripts_symbol_to_primitive": Differs(_BY_LANGUAGE, missing={("add", "Money.[Symbol.toPrimitive]")}),
    "scripts_promise_chain": Differs(_NOT_RUN, wrong={("main", "fail")}),
    "scripts_reduce_functions": Differs(_ANYWHERE, wrong={("", "end"), ("a", "a"), ("a", "b"), ("a", "end"), ("b", "a"), ("b", "b")}),
    "scripts_commonjs_loop_require": Differs(_AT_RUN_TIME, missing={("", "a.run")}),
    "scripts_dispatch_template_method": Differs(_AT_RUN_TIME, missing={("H.handle", "H.onOpen")}),
    "scripts_redux_middleware": Differs(_ANYWHERE, wrong={("", "base")}),
    "scripts_timers_extra_arguments": Differs(_NOT_RUN, wrong={("", "fire")}),
    "scripts_to_string_template": Differs(_BY_LANGUAGE, missing={("show", "A.toString")}),
    "scripts_throw_handler_property": Differs(_THROWN, missing={("main", "retry")}),
    "scripts_promise_reject_value": Differs(_THROWN, missing={("main", "E.explain")}),
    "scripts_promise_catch_value": Differs(_THROWN, missing={("", "E.explain")}),
    "scripts_stream_pipe": Differs(_BY_LIBRARY, missing={("", "Up._transform")}),
}

"""Where the index and the run of a case of `tests/corpora/flow` differ, and why."""

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
_MODULES = "modules are values only where a name is looked up in them"
_NOT_RUN = "the runtime calls it, or nothing happened that it is for"
_OPERATION = "an operation on what has no declared type, and may be of several, is only possible"
_ORDER = "all that a variable in a loop, or a part of a list, is set to counts"
_ALONE = "what is in a heap is compared with what else is there: here it is alone"
_ANYWHERE = "all that a variable is set to counts, wherever it is called"
_OVERRIDDEN = (
    "the server names the member of the declared class, which is told as such; what objects of classes below have is told beside it"
)
_POSSIBLE = "what `__getattr__` gives is told within it all the same"
_BY_TYPE = "the text of a branch that only type checkers read calls it"
_EQUAL = "which of the elements of a set are compared depends on their numbers"
_KEYS = "of what is a key of a mapping too much is not known: it is not told"
_NUMBERS = "an operation that is not recorded"
_OF_META = "an operation on a class is told where it goes on, as items and elements do"
_OTHERWISE = "what is taken where nothing is found may be taken, too"
_SET_NAME = "told of the class, in the statement of which it runs, too"
_THROWN = "what is set of an object that is thrown is not followed"

_CACHED = "what is kept is not made anew: which of those who read it is the first the run alone knows"
_PUT_IN = "special members that the program puts into a class are not told where nothing names them"
_PATCHED = "a function of a module that another module replaces is told by its name"
_TOGETHER = "of members that meet at one place one that overrides another is only possible"
_ROOT = "the run has no name for what a class runs as it is made, or a constructor that nobody wrote"

_COPIED_ONTO = "what a decorator puts on a class in place of each of its methods is told by the names of these"
_EITHER = "which of two values is there the run alone knows"
_KEYWORDS = "names of arguments that are keys of a mapping which a comprehension makes"
_NAMESPACE = "what a metaclass puts into the mapping that it is given is not followed"
_OTHER_CLASS = "what sets the class of an object makes it no object of that class here"
_PROPERTY_MADE = "a property that a decorator makes of a function is told by the name of the function, where it is read"

_OWN_NAME = "a function that has a name within itself is told by that; what runs is told by the name that holds it"
_COMPUTED = "a method under a name that is computed has no symbol of its own: what calls it is not told"
_BOTH = "a property and the function that it is set to have names of their own, and both are told"
_SUM = "what `+` of objects gives is not followed"

PROGRAMS: dict[str, Differs] = {
    "programs_operator_overload_chain": Differs(_SUM, missing={("", "V.done")}),
    "programs_exception_method_by_call": Differs(_OVERRIDDEN, wrong={("AppError.to_response", "AppError.build")}),
    "programs_registry_metaclass": Differs(_OVERRIDDEN, missing={("go", "Child.run")}),
    "programs_subclasses_walk": Differs(_OVERRIDDEN, missing={("go", "A.run"), ("go", "B.run")}, wrong={("go", "Base.run")}),
    "programs_descriptor_data": Differs(_SET_NAME, wrong={("User", "Field.__set_name__")}),
    "programs_wraps_decorator_with_state": Differs(_BY_NAME, wrong={("", "job")}),
    "programs_decorator_class_with_call": Differs(_BY_NAME, wrong={("", "work")}),
    "programs_decorator_stacked": Differs(_BY_NAME, wrong={("main", "act")}),
    "programs_decorator_optional_arguments": Differs(_BY_NAME, wrong={("main", "a"), ("main", "b")}),
    "programs_dataclass_field_callable": Differs(_FACTORY, missing={("", "make")}, wrong={("Job", "make")}),
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
    "programs_template_method": Differs(_OVERRIDDEN, wrong={("Base.run", "Base.main")}),
    "programs_super_multiple_mixin": Differs(_OVERRIDDEN, wrong={("A.save", "Base.save")}),
    "programs_metaclass_call": Differs(_BY_NAME, wrong={("get", "Db.__init__")}),
    "programs_async_gather": Differs(_LATER, missing={("", "a")}, wrong={("main", "a")}),
    "programs_async_create_task": Differs(_LATER, missing={("", "work")}, wrong={("main", "work")}),
    "programs_async_decorator": Differs(_BY_NAME, wrong={("main", "job")}),
    "programs_async_to_thread": Differs(_LATER, wrong={("main", "block")}),
    "programs_executor_submit": Differs(_LATER, wrong={("main", "job")}),
    "programs_generator_pipeline": Differs(_LATER, missing={("keep", "read")}, wrong={("main", "read")}),
    "programs_list_concat_and_slice": Differs(_ORDER, wrong={("", "a")}),
    "programs_class_attribute_class": Differs(_OVERRIDDEN, missing={("View.get", "Other.dump")}, wrong={("View.get", "Serializer.dump")}),
    "programs_protocol_typed_parameter": Differs(_OVERRIDDEN, missing={("start", "Impl.run")}, wrong={("start", "Runner.run")}),
    "programs_abstract_base": Differs(_OVERRIDDEN, wrong={("Store.get", "Store.load")}),
    "programs_class_decorator_wraps": Differs(_BY_NAME, wrong={("", "Db.__init__")}),
    "programs_monkeypatch_module": Differs(_MODULES, missing={("", "f")}),
    "programs_import_module_name": Differs(_MODULES, missing={("", "f")}),
    "programs_json_encoder_subclass": Differs(_BY_LIBRARY, missing={("", "Enc.default")}),
    "programs_ast_visitor": Differs(_BY_LIBRARY, missing={("", "V.visit_Name")}),
    "programs_html_parser": Differs(_BY_LIBRARY, missing={("", "P.handle_starttag")}),
    "programs_unittest_case": Differs(_BY_LIBRARY, missing={("", "T.setUp"), ("", "T.test_it")}),
    "programs_logging_handler": Differs(_BY_LIBRARY, missing={("", "H.emit")}),
    "idioms_operators_on_what_may_be_of_two_types": Differs(_OPERATION, missing={("shown", "A.__str__"), ("shown", "B.__str__")}),
    "programs_comparison_and_hash": Differs(_OPERATION, missing={("", "K.__hash__")}),
    "programs_lazy_object_new": Differs(_NO_ATTRIBUTE, wrong={("Lazy.__getattr__", "Lazy.__getattr__")}),
    "programs_singledispatchmethod": Differs(_BY_NAME, wrong={("", "A.go")}),
    "programs_inherited_property_override": Differs(_OVERRIDDEN, wrong={("A.show", "A.kind")}),
    "programs_getattr_where_attributes_are_set_by_computed_names": Differs(
        _POSSIBLE, wrong={("Machine.__getattr__.later", "Machine.missing")}
    ),
    "varied_builtins_next_default": Differs(_ORDER, wrong={("run", "fallback")}),
    "varied_classes_type_in_function": Differs(_OVERRIDDEN, missing={("Model.save", "strict")}, wrong={("Model.save", "Model.validate")}),
    "varied_decorators_timer": Differs(_BY_NAME, wrong={("main", "work")}),
    "varied_decorators_retry_with_args": Differs(_BY_NAME, wrong={("main", "fetch")}),
    "varied_decorators_on_method": Differs(_BY_NAME, wrong={("main", "S.run")}),
    "varied_decorators_returned_class_instance": Differs(_BY_NAME, wrong={("main", "square")}),
    "varied_decorators_partial_decorator": Differs(_BY_NAME, wrong={("main", "talk")}),
    "varied_decorators_validator_chain": Differs(_BY_NAME, wrong={("main", "use")}),
    "varied_dynamic_locals": Differs(_AT_RUN_TIME, missing={("run", "f")}),
    "varied_dynamic_eval_name": Differs(_AT_RUN_TIME, missing={("run", "f")}),
    "varied_dynamic_inspect_members": Differs(_AT_RUN_TIME, missing={("run", "A.test_one"), ("run", "A.test_two")}),
    "varied_dynamic_dir_loop": Differs(_AT_RUN_TIME, missing={("run", "A.test_one")}),
    "varied_external_ast_walker": Differs(_BY_LIBRARY, missing={("main", "Names.visit_Name")}),
    "varied_functions_pipe_operator": Differs(_ANYWHERE, wrong={("Pipe.__call__", "dbl"), ("Pipe.__call__", "inc")}),
    "varied_generators_send": Differs(_LATER, missing={("", "worker")}),
    "varied_generators_pipeline": Differs(_LATER, missing={("keep", "read")}, wrong={("main", "read")}),
    "varied_lists_slice": Differs(_ORDER, wrong={("main", "f")}),
    "varied_mro_diamond": Differs(_OVERRIDDEN, wrong={("B.go", "A.go")}),
    "varied_mro_attribute_override": Differs(_OVERRIDDEN, missing={("A.go", "two")}, wrong={("A.go", "one")}),
    "varied_mro_abstract_template": Differs(_OVERRIDDEN, wrong={("T.run", "T.step")}),
    "varied_metaclass_type_call": Differs(_BY_NAME, wrong={("main", "Form.__init__")}),
}

UNSEEN: dict[str, Differs] = {
    "library_deque_and_heap": Differs(_ALONE, wrong={("", "A.__lt__"), ("run", "A.__lt__")}),
    "unseen_kwargs_get": Differs(_OTHERWISE, wrong={("start", "noop")}),
    "unseen_assignments_nonlocal": Differs(_ANYWHERE, wrong={("outer", "f")}),
    "unseen_builtins_hash_dict_key": Differs(_KEYS, missing={("main", "K.__hash__")}),
    "unseen_builtins_hash_in_set": Differs(_EQUAL, missing={("main", "K.__eq__")}),
    "unseen_builtins_hash_set_literal": Differs(_KEYS, missing={("main", "K.__hash__")}),
    "unseen_builtins_int_float_index": Differs(_NUMBERS, missing={("main", "N.__index__")}),
    "unseen_builtins_abs_round_divmod": Differs(_NUMBERS, missing={("main", "N.__divmod__")}),
    "unseen_classes_descriptor_closure": Differs(_BY_NAME, wrong={("main", "A.go")}),
    "unseen_classes_init_calls_hook": Differs(_OVERRIDDEN, wrong={("Base.__init__", "Base.setup")}),
    "unseen_classes_for_type_checkers_alone": Differs(
        _BY_TYPE, wrong={("Env.process", "Process.__init__"), ("Env.timeout", "Timeout.__init__")}
    ),
    "unseen_decorators_plain": Differs(_BY_NAME, wrong={("main", "job")}),
    "unseen_decorators_method_flag": Differs(_AT_RUN_TIME, missing={("W.run", "W.one")}),
    "unseen_decorators_inject_argument": Differs(_BY_NAME, wrong={("", "cmd")}),
    "unseen_dynamic_eval": Differs(_AT_RUN_TIME, missing={("main", "f")}),
    "unseen_dynamic_exec": Differs(_AT_RUN_TIME, missing={("main", "f")}),
    "unseen_dynamic_getattr_default": Differs(_OTHERWISE, wrong={("main", "noop")}),
    "unseen_dynamic_subclasses": Differs(_OVERRIDDEN, missing={("main", "P1.run")}, wrong={("main", "Plugin.run")}),
    "unseen_dynamic_importlib": Differs(_MODULES, missing={("main", "f")}),
    "unseen_exceptions_custom_str": Differs(_OVERRIDDEN, missing={("main", "E.__str__")}),
    "unseen_generators_next_call": Differs(_LATER, missing={("", "gen")}),
    "unseen_async_gather_results": Differs(_LATER, missing={("", "fetch")}, wrong={("main", "fetch")}),
    "unseen_async_callback": Differs(_LATER, missing={("", "done"), ("", "work")}, wrong={("main", "done"), ("main", "work")}),
    "unseen_metaclass_getitem": Differs(_OF_META, missing={("main", "Meta.__len__")}),
}

FRESH: dict[str, Differs] = {
    "fresh_classes_dataclass_post_init_and_field_factory": Differs(
        _FACTORY, missing={("main", "default_tags")}, wrong={("Post", "default_tags")}
    ),
    "fresh_decorators_nested_with_arguments": Differs(_BY_NAME, wrong={("", "job")}),
    "fresh_decorators_class_decorator_adds_method": Differs(_PUT_IN, missing={("", "with_repr.__repr__")}),
    "fresh_decorators_cached_property_and_lru_cache": Differs(_CACHED, wrong={("main", "Doc.words")}),
    "fresh_decorators_method_decorator_of_class": Differs(_BY_NAME, wrong={("main", "Door.open")}),
    "fresh_dicts_keys_are_types": Differs(_ANYWHERE, wrong={("feed_cat", "Dog.speak"), ("feed_dog", "Cat.speak")}),
    "fresh_generators_send_values_that_are_called": Differs(_LATER, missing={("", "consumer")}),
    "fresh_lists_of_objects_by_append_in_method": Differs(_TOGETHER, missing={("Canvas.total", "Circle.area")}),
    "fresh_mro_diamond_with_super": Differs(_OVERRIDDEN, wrong={("Left.setup", "Base.setup")}),
    "fresh_mro_template_hooks": Differs(_OVERRIDDEN, wrong={("Pipeline.run", "Pipeline.after"), ("Pipeline.run", "Pipeline.step")}),
    "fresh_mro_abstract_property": Differs(_OVERRIDDEN, wrong={("Shape.describe", "Shape.area"), ("Shape.describe", "Shape.sides")}),
    "packages_subclass_across_modules": Differs(
        _OVERRIDDEN, wrong={("base.Base.__init__", "base.Base.setup"), ("base.Base.go", "base.Base.step")}
    ),
    "packages_settings_with_dotted_path": Differs(_AT_RUN_TIME, missing={("main", "backends.Local.save")}),
    "packages_patched_function_of_module": Differs(_PATCHED, missing={("client.use", "fake")}, wrong={("client.use", "net.fetch")}),
    "packages_factory_map_across_modules": Differs(_OVERRIDDEN, wrong={("widgets.base.Widget.render", "widgets.base.Widget.draw")}),
}

ODD: dict[str, Differs] = {
    "odd_keywords_dict_built_by_comprehension": Differs(_KEYWORDS, missing={("call", "alpha"), ("call", "beta")}),
    "odd_returns_self_or_other": Differs(_EITHER, wrong={("", "Chain.go")}),
    "odd_dicts_items_filtered": Differs(_EITHER, wrong={("", "drop")}),
    "odd_decorators_class_with_descriptor": Differs(_BY_NAME, wrong={("", "Calc.value")}),
    "odd_decorators_composed_by_reduce": Differs(
        _ANYWHERE,
        wrong={
            *(("", callee) for callee in ("say", "shout.loud")),
            *(("shout.loud", callee) for callee in ("shout", "shout.loud", "twice", "twice.again")),
            *(("twice.again", callee) for callee in ("say", "shout", "twice", "twice.again")),
        },
    ),
    "odd_decorators_on_class_replacing_methods": Differs(
        _COPIED_ONTO,
        missing={("", "wrap.inner"), ("Thing.go", "wrap.inner"), ("wrap.inner", "Thing.go"), ("wrap.inner", "Thing.stop")},
        wrong={("", "Thing.go"), ("Thing.go", "Thing.stop")},
    ),
    "odd_decorators_property_by_factory": Differs(_PROPERTY_MADE, missing={("", "lazy.get")}),
    "odd_decorators_async_and_sync_in_one": Differs(_BY_NAME, wrong={("", "plain")}),
    "odd_generators_chained_filters": Differs(_LATER, missing={("valid", "rows")}, wrong={("", "rows")}),
    "odd_mro_cooperative_three_mixins": Differs(_OVERRIDDEN, wrong={("A.visit", "Root.visit")}),
    "odd_mro_abstract_with_registered_virtual": Differs(_OVERRIDDEN, wrong={("Sink.flush", "Sink.write")}),
    "odd_mro_attribute_class_overridden_below": Differs(_OVERRIDDEN, wrong={("Reader.read", "Parser.parse")}),
    "odd_classes_state_by_dunder_class": Differs(_OTHER_CLASS, missing={("", "Closed.push")}),
    "odd_dynamic_getattr_chain_by_split": Differs(_AT_RUN_TIME, missing={("", "B.run")}),
    "odd_builtins_format_bool_len_int": Differs(_NUMBERS, missing={("", "Temp.__index__")}),
    "odd_external_collections_abc_mixins": Differs(_BY_LIBRARY, missing={("", "Store.__getitem__")}),
    "odd_metaclass_instance_tracking": Differs(_BY_NAME, wrong={("", "Widget.__init__")}),
    "odd_metaclass_fields_collected": Differs(_NAMESPACE, missing={("Form.full_clean", "Field.clean")}),
}

SCRIPTS: dict[str, Differs] = {
    "odd_visitor_by_type_name": Differs(_NOT_RUN, wrong={("Walker.visit", "Walker.other")}),
    "odd_entries_from_entries": Differs(_AT_RUN_TIME, missing={("", "y")}),
    "scripts_define_property_getter_on_exports": Differs(_KNOWN, missing={("", "lib.get")}),
    "scripts_symbol_iterator_by_hand": Differs(
        _BY_LANGUAGE, missing={("", "range.[Symbol.iterator]"), ("", "range.[Symbol.iterator].next")}
    ),
    "scripts_promise_chain": Differs(_NOT_RUN, wrong={("main", "fail")}),
    "scripts_reduce_functions": Differs(_ANYWHERE, wrong={("", "end"), ("a", "a"), ("a", "b"), ("a", "end"), ("b", "a"), ("b", "b")}),
    "scripts_commonjs_loop_require": Differs(_AT_RUN_TIME, missing={("", "a.run")}),
    "scripts_dispatch_template_method": Differs(_AT_RUN_TIME, missing={("H.handle", "H.onOpen")}),
    "scripts_redux_middleware": Differs(_ANYWHERE, wrong={("", "base")}),
    "scripts_timers_extra_arguments": Differs(_NOT_RUN, wrong={("", "fire")}),
    "scripts_throw_handler_property": Differs(_THROWN, missing={("main", "retry")}),
    "scripts_stream_pipe": Differs(_BY_LIBRARY, missing={("", "Up._transform")}),
    "varied_computed_param_constant": Differs(_ANYWHERE, wrong={("run", "o.b")}),
    "varied_computed_class_member": Differs(_COMPUTED, missing={("go", "A")}),
    "varied_class_abstract_template": Differs(_OVERRIDDEN, wrong={("T.run", "T.step")}),
    "varied_class_tostring": Differs(_BY_LANGUAGE, missing={("run", "A.toString")}),
    "varied_module_default_interop": Differs(_BOTH, wrong={("run", "lib.default.main")}),
    "varied_module_require_computed": Differs(_AT_RUN_TIME, missing={("run", "a.go"), ("run", "b.go")}),
    "varied_array_reduce_object": Differs(_AT_RUN_TIME, missing={("run", "a"), ("run", "b")}),
    "varied_array_at_and_last": Differs(_ORDER, wrong={("run", "a")}),
    "varied_proxy_apply_trap": Differs(_BY_NAME, wrong={("run", "target")}),
    "varied_symbol_method": Differs(_COMPUTED, missing={("run", "A")}),
    "unseen_destructuring_swap": Differs(_ANYWHERE, wrong={("", "x")}),
    "unseen_function_borrowed": Differs(_AT_RUN_TIME, missing={("", "f")}),
    "unseen_function_named_expression": Differs(_OWN_NAME, wrong={("", "fac.self"), ("fac", "fac.self")}),
    "unseen_proxy_wrap_methods": Differs(_BY_NAME, wrong={("", "S.run")}),
    "unseen_iterator_manual": Differs(_BY_LANGUAGE, missing={("main", "R.[Symbol.iterator].next")}),
    "unseen_timers_set": Differs(_NOT_RUN, wrong={("main", "tick")}),
    "unseen_symbol_method": Differs(_COMPUTED, missing={("main", "A")}),
    "fresh_class_static_factory_and_block": Differs(_ROOT, missing={("", "Config.load")}, wrong={("Config", "Config.load")}),
    "fresh_callbacks_promises_chain": Differs(_NOT_RUN, wrong={("main", "fail")}),
    "fresh_generators_delegation": Differs(_ORDER, wrong={("main", "b")}),
    "fresh_iterator_object": Differs(_BY_LANGUAGE, missing={("main", "Range.[Symbol.iterator].next")}),
    "fresh_weakmap_private_and_symbols": Differs(_COMPUTED, missing={("Job.start", "Job")}),
    "fresh_recursion_and_named_expressions": Differs(_OWN_NAME, wrong={("", "walk.visit"), ("walk", "walk.visit")}),
    "fresh_error_subclass_handlers": Differs(
        _ROOT, missing={("", "Base.constructor")}, wrong={("Base.constructor", "Base.setup"), ("risky", "Base.constructor")}
    ),
}

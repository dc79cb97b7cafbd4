; What runs a member without naming it.

(binary_expression) @sides.sign @sides.truth
(assignment_expression operator: _ @sign.assigning)
(unary_expression operator: ["-" "+" "~"] @sign.unary)
(update_expression operator: _ @sign.unary)
(pointer_expression operator: "*" @sign.unary)
(field_expression operator: "->" @sign.unary)
(subscript_argument_list "[" @sign.subscript)
(call_expression function: [(identifier) (call_expression) (subscript_expression) (parenthesized_expression)] arguments: (argument_list "(" @sign.call))

(for_range_loop right: (_) @typed.iterate)
(condition_clause value: (_) @typed.truth)
(conditional_expression condition: (_) @typed.truth)
(unary_expression operator: "!" argument: (_) @typed.truth)
(do_statement condition: (_) @typed.truth)
(for_statement condition: (_) @typed.truth)

(template_declaration) @generic

(preproc_function_def value: (preproc_arg) @body_of_macro)
(preproc_def value: (preproc_arg) @body_of_macro)

; Values that a declaration makes of a type, and types that a template gets, which may make some.
(declaration type: (_) @built.construct declarator: [(identifier) (array_declarator) (init_declarator declarator: (identifier))])
(field_declaration type: (_) @built.construct declarator: [(field_identifier) (array_declarator)])
(base_class_clause [(type_identifier) (template_type) (qualified_identifier)] @built.construct)
(template_argument_list (type_descriptor type: (_) @built.hold !declarator))

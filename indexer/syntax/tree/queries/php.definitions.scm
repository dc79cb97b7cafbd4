; PHP. A variable belongs to its function: no block has a scope of its own.

(comment) @comment
(namespace_definition) @package

[(class_declaration) (property_declaration) (const_declaration)] @wrap
(attribute_list) @decorated

; ---- scopes: a closure sees the variables that it names in `use`, an arrow function all that are around it

[(function_definition) (method_declaration) (anonymous_function) (property_hook)] @scope.item
(arrow_function) @scope.function
(anonymous_function body: (_) @body.plain)
(arrow_function body: (_) @body.plain)

; ---- types and their members

(class_declaration name: (name) @name body: (_) @body) @def.class
(trait_declaration name: (name) @name body: (_) @body) @def.class
(interface_declaration name: (name) @name body: (_) @body) @def.interface
(enum_declaration name: (name) @name body: (_) @body) @def.enum
(anonymous_class "class" @name body: (_) @body) @def.anonymous
(enum_case name: (name) @name) @def.member

(method_declaration name: (name) @name) @def.method
((method_declaration name: (name) @name.constructor) (#match? @name.constructor "^__[cC]onstruct$"))
(method_declaration body: (_) @body)
(const_declaration (const_element) @def.constant)
(const_element . (name) @name) @init
(property_declaration (property_element) @def.field)
(property_element name: (variable_name (name) @name))
(property_element default_value: (_)) @init

; ---- functions and constants

(function_definition name: (name) @name body: (_) @body) @def.function
((function_call_expression
  function: (name) @_define
  arguments: (arguments . (argument [(string . (string_content) @name .) (encapsed_string . (string_content) @name .)]))) @def.define @init
  (#eq? @_define "define"))

; ---- parameters

(simple_parameter name: (variable_name (name) @name)) @def.parameter
(variadic_parameter name: (variable_name (name) @name)) @def.parameter
(property_promotion_parameter name: (variable_name (name) @name.parameterfield)) @def.parameter
(property_promotion_parameter name: (by_ref (variable_name (name) @name.parameterfield))) @def.parameter
(formal_parameters (simple_parameter default_value: (_) @default))
(formal_parameters (property_promotion_parameter default_value: (_) @default))

; ---- variables

(assignment_expression left: (variable_name (name) @name) @def.variable @init)
(reference_assignment_expression left: (variable_name (name) @name) @def.variable @init)
(list_literal (variable_name (name) @name) @def.variable @init)
(list_literal (by_ref (variable_name (name) @name) @def.variable @init))
(foreach_statement "as" (variable_name (name) @name) @def.variable @init)
(foreach_statement "as" (by_ref (variable_name (name) @name) @def.variable @init))
(foreach_statement "as" (pair (variable_name (name) @name) @def.variable @init))
(foreach_statement "as" (pair (by_ref (variable_name (name) @name) @def.variable @init)))
(catch_clause name: (variable_name (name) @name) @def.variable @init)
(static_variable_declaration name: (variable_name (name) @name) @def.variable @init)
(anonymous_function_use_clause (variable_name (name) @name) @def.variable @init)
(anonymous_function_use_clause (by_ref (variable_name (name) @name) @def.variable @init))
(global_declaration (variable_name (name) @name) @def.variable @init)
; What nothing but a call sets, as `preg_match` does: the first place that hands it over defines it.
((argument (variable_name (name) @name) @def.given) (#not-match? @name "^(this|GLOBALS|_[A-Z]+|argc|argv)$"))

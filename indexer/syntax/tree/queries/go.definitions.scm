; Go.

(comment) @comment
(package_clause) @package

; ---- scopes: a function's parameters and its body are one

[(function_declaration) (method_declaration) (func_literal)] @scope.function
(function_type) @scope.signature
(method_elem) @scope.function
(func_literal body: (_) @body.plain)
[
  (block) (if_statement) (for_statement) (expression_switch_statement) (type_switch_statement)
  (expression_case) (default_case) (type_case) (communication_case)
] @scope

[(type_declaration) (var_declaration) (const_declaration)] @wrap

; ---- functions and types

(function_declaration name: (identifier) @name) @def.function
(function_declaration body: (_) @body)
(method_declaration name: (field_identifier) @name) @def.method
(method_declaration body: (_) @body)
(method_declaration receiver: (parameter_list (parameter_declaration type: [
  (type_identifier) @owner
  (generic_type type: (type_identifier) @owner)
  (pointer_type [(type_identifier) @owner (generic_type type: (type_identifier) @owner)])
  (parenthesized_type [(type_identifier) @owner (pointer_type (type_identifier) @owner)])
])))
(method_declaration receiver: (parameter_list (parameter_declaration type: [
  (generic_type type_arguments: (type_arguments (type_elem (type_identifier) @def.typeparam @name)))
  (pointer_type (generic_type type_arguments: (type_arguments (type_elem (type_identifier) @def.typeparam @name))))
])))

(type_spec name: (type_identifier) @name) @def.alias
(type_spec name: (type_identifier) @name.struct type: (struct_type (field_declaration_list) @body))
(type_spec name: (type_identifier) @name.interface type: (interface_type) @body)
(type_alias name: (type_identifier) @name) @def.alias

(field_declaration name: (field_identifier) @name) @def.field
(field_declaration type: (struct_type (field_declaration_list) @body))
(field_declaration type: (pointer_type (struct_type (field_declaration_list) @body)))
(field_declaration type: (slice_type (struct_type (field_declaration_list) @body)))
(field_declaration type: (map_type value: (struct_type (field_declaration_list) @body)))
(field_declaration type: (interface_type) @body)
(field_declaration type: (pointer_type (interface_type) @body))
(field_declaration type: (slice_type (interface_type) @body))
(field_declaration type: (array_type (interface_type) @body))
(field_declaration type: (channel_type (interface_type) @body))
(field_declaration type: (map_type value: (interface_type) @body))
(struct_type (field_declaration_list) @scope.object)
(interface_type) @scope.object
(method_elem name: (field_identifier) @name) @def.method

(type_parameter_declaration name: (identifier) @name) @def.typeparam

; ---- variables

(const_spec name: (identifier) @name) @def.constant @init
(var_spec name: (identifier) @name) @def.variable
(var_spec value: (_)) @init
(var_spec type: (struct_type (field_declaration_list) @members))
(short_var_declaration left: (expression_list (identifier) @name)) @def.variable @init
(range_clause left: (expression_list (identifier) @name) ":=") @def.variable @init
(receive_statement left: (expression_list (identifier) @name) ":=") @def.variable @init
(type_switch_statement alias: (expression_list (identifier) @def.variable @name @init))
(type_switch_statement alias: (expression_list (identifier) @poison))

(parameter_declaration name: (identifier) @name) @def.parameter
(variadic_parameter_declaration name: (identifier) @name) @def.parameter

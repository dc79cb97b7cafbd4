; What only TypeScript's grammars have.

[(function_signature) (method_signature) (abstract_method_signature)] @scope.function
[(function_type) (constructor_type) (call_signature) (construct_signature)] @scope.signature
(object_type) @scope.object
(module name: (string) body: (_) @scope.module)
(ambient_declaration "global" (statement_block) @scope.module)
(class name: (type_identifier) @poison)
; A class with a name that is a value where it stands: its name is known within it alone, and whoever gets it may use it.
(arguments (class name: (type_identifier) @name @export body: (_) @body) @def.class)
(array (class name: (type_identifier) @name @export body: (_) @body) @def.class)
(return_statement (class name: (type_identifier) @name @export body: (_) @body) @def.class)
(arrow_function body: (class name: (type_identifier) @name @export body: (_) @body) @def.class)
(pair value: (class name: (type_identifier) @name @export body: (_) @body) @def.class)
(parenthesized_expression (class name: (type_identifier) @name @export body: (_) @body) @def.class)
(new_expression constructor: (class name: (type_identifier) @name @export body: (_) @body) @def.class)
(assignment_expression left: (identifier) right: (class name: (type_identifier) @name @export body: (_) @body) @def.class)
(binary_expression right: (class name: (type_identifier) @name @export body: (_) @body) @def.class)
(ternary_expression (class name: (type_identifier) @name @export body: (_) @body) @def.class)
[
  (class_declaration) (abstract_class_declaration) (class) (interface_declaration) (type_alias_declaration)
] @scope.header

(ambient_declaration) @wrap
(class_body (decorator) @skip)

; ---- types

(class_declaration name: (type_identifier) @name body: (_) @body) @def.class
(abstract_class_declaration name: (type_identifier) @name body: (_) @body) @def.class
(interface_declaration name: (type_identifier) @name body: (_) @body) @def.interface
(type_alias_declaration name: (type_identifier) @name value: (_) @body) @def.alias
(enum_declaration name: (identifier) @name body: (_) @body) @def.enum
(enum_body name: (property_identifier) @def.member @name)
(enum_assignment name: (property_identifier) @name) @def.member

(internal_module name: (identifier) @name) @def.namespace
(internal_module name: (nested_identifier) @_name) @def.namespace
(internal_module body: (_) @body)
(module name: (identifier) @name) @def.namespace
(module name: (nested_identifier) @_name) @def.namespace
(module name: [(identifier) (nested_identifier)] body: (_) @body)
(internal_module name: (nested_identifier object: (identifier) @name property: (_) @name))
(module name: (nested_identifier object: (identifier) @name property: (_) @name))
(type_parameter name: (type_identifier) @name) @def.typeparam

; ---- members

(public_field_definition name: [(property_identifier) (private_property_identifier)] @name) @def.field
(public_field_definition
  name: [(property_identifier) (private_property_identifier)] @name.method
  value: [
    (arrow_function body: (_) @body)
    (function_expression body: (_) @body)
  ])
(property_signature name: [(property_identifier) (private_property_identifier)] @name) @def.field
(property_signature type: (type_annotation (object_type) @members))

[(method_signature) (abstract_method_signature)] @def.method
(method_signature name: [(property_identifier) (private_property_identifier)] @name)
((method_signature name: (computed_property_name (member_expression object: (identifier) @_symbol)) @name)
  (#eq? @_symbol "Symbol"))
(method_signature ["get" "set"] name: [(property_identifier) (private_property_identifier)] @name.property)
(abstract_method_signature name: [(property_identifier) (private_property_identifier)] @name)
(abstract_method_signature ["get" "set"] name: [(property_identifier) (private_property_identifier)] @name.property)
(class_body
  (method_signature name: (property_identifier) @name.constructor)
  (#eq? @name.constructor "constructor"))

(function_signature name: (identifier) @name) @def.function

; ---- variables

(variable_declarator value: (as_expression . (object) @members))
(variable_declarator value: (satisfies_expression . (object) @members))
(variable_declarator value: (satisfies_expression . (as_expression . (object) @members)))
(variable_declarator
  name: (identifier) @name.function
  value: (as_expression . [(arrow_function body: (_) @body) (function_expression body: (_) @body)]))

(required_parameter pattern: (_)) @def.parameter
(optional_parameter pattern: (_)) @def.parameter
(required_parameter pattern: (identifier) @name)
(optional_parameter pattern: (identifier) @name)

(required_parameter pattern: [(object_pattern) (array_pattern)] @default)
(required_parameter value: (_) @default)
(optional_parameter value: (_) @default)

; `constructor(private x: number)`: a field of the class, not only a parameter.
(required_parameter [(accessibility_modifier) (override_modifier) "readonly"] pattern: (identifier) @name.parameterfield)
(optional_parameter [(accessibility_modifier) (override_modifier) "readonly"] pattern: (identifier) @name.parameterfield)

; `[...rest: T[]]` in a tuple type binds nothing.
(tuple_type [(required_parameter name: (_)) (optional_parameter name: (_))] @def.none)

(export_statement
  "default" @name
  value: [
    (array) (await_expression) (binary_expression) (call_expression) (new_expression) (number) (parenthesized_expression) (string)
    (template_string) (ternary_expression) (as_expression) (satisfies_expression)
  ]) @def.constant

; `module.exports = class Application {…}`
(expression_statement
  (assignment_expression
    left: (member_expression object: (identifier) @_module property: (property_identifier) @_exports)
    right: (class name: (type_identifier) @name.class body: (_) @body)) @def.export
  (#eq? @_module "module")
  (#eq? @_exports "exports"))

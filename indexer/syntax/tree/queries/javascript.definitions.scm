; What only JavaScript's grammar has.

(using_declaration) @wrap
(using_declaration (variable_declarator) @def.constant)

(class) @scope.header
(class name: (identifier) @poison)
; A class with a name that is a value where it stands: its name is known within it alone, and whoever gets it may use it.
(arguments (class name: (identifier) @name @export body: (_) @body) @def.class)
(array (class name: (identifier) @name @export body: (_) @body) @def.class)
(return_statement (class name: (identifier) @name @export body: (_) @body) @def.class)
(arrow_function body: (class name: (identifier) @name @export body: (_) @body) @def.class)
(pair value: (class name: (identifier) @name @export body: (_) @body) @def.class)
(parenthesized_expression (class name: (identifier) @name @export body: (_) @body) @def.class)
(new_expression constructor: (class name: (identifier) @name @export body: (_) @body) @def.class)
(assignment_expression left: (identifier) right: (class name: (identifier) @name @export body: (_) @body) @def.class)
(binary_expression right: (class name: (identifier) @name @export body: (_) @body) @def.class)
(ternary_expression (class name: (identifier) @name @export body: (_) @body) @def.class)

(class_declaration name: (identifier) @name body: (_) @body) @def.class

(field_definition property: [(property_identifier) (private_property_identifier)] @name) @def.field
(field_definition
  property: [(property_identifier) (private_property_identifier)] @name.method
  value: [
    (arrow_function body: (_) @body)
    (function_expression body: (_) @body)
  ])

(formal_parameters
  [(identifier) (assignment_pattern) (object_pattern) (array_pattern) (rest_pattern)] @def.parameter)
(formal_parameters (identifier) @name)
(formal_parameters [(object_pattern) (array_pattern) (rest_pattern)] @default)

(export_statement
  "default" @name
  value: [
    (array) (await_expression) (binary_expression) (call_expression) (new_expression) (number) (parenthesized_expression) (string)
    (template_string) (ternary_expression)
  ]) @def.constant

; `module.exports = class Application {…}`
(expression_statement
  (assignment_expression
    left: (member_expression object: (identifier) @_module property: (property_identifier) @_exports)
    right: (class name: (identifier) @name.class body: (_) @body)) @def.export
  (#eq? @_module "module")
  (#eq? @_exports "exports"))

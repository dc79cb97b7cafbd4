; What JavaScript and TypeScript define in the same way.

(comment) @comment

; ---- scopes

[(statement_block) (for_statement) (for_in_statement) (switch_body) (catch_clause)] @scope
[
  (function_declaration) (generator_function_declaration) (function_expression) (generator_function) (arrow_function)
  (method_definition)
] @scope.function
(object) @scope.object
(with_statement) @unsure
(computed_property_name) @unsure

(function_expression body: (_) @body.plain)
(generator_function body: (_) @body.plain)
(arrow_function body: (statement_block) @body.plain)
(class_static_block body: (_) @scope.function)

; A named function expression is visible in itself only. Where nothing else gives its body a name, that is its own.
(function_expression name: (identifier) @inner) @def.closure
(generator_function name: (identifier) @inner) @def.closure

; A default value is made, and what is given is taken apart, when the function runs.
(assignment_pattern left: [(object_pattern) (array_pattern)] @default)
(assignment_pattern right: (_) @default)
(object_assignment_pattern right: (_) @default)

; ---- statements around definitions

[(export_statement) (lexical_declaration) (variable_declaration)] @wrap
(decorator) @decorated

; ---- functions

(function_declaration name: (identifier) @name body: (_) @body) @def.function
(generator_function_declaration name: (identifier) @name body: (_) @body) @def.function

(method_definition) @def.method
(method_definition name: [(property_identifier) (private_property_identifier)] @name)
(method_definition ["get" "set"] name: [(property_identifier) (private_property_identifier)] @name.property)
; `[Symbol.iterator]() {}` runs where nothing names it
((method_definition name: (computed_property_name (member_expression object: (identifier) @_symbol)) @name)
  (#eq? @_symbol "Symbol"))
(method_definition body: (_) @body)
(class_body
  (method_definition name: (property_identifier) @name.constructor)
  (#eq? @name.constructor "constructor"))

(pair
  key: [(property_identifier) (private_property_identifier)] @name
  value: [
    (arrow_function body: (_) @body)
    (function_expression body: (_) @body)
    (generator_function body: (_) @body)
  ]) @def.method

; ---- variables

(lexical_declaration "const" (variable_declarator) @def.constant)
(lexical_declaration "let" (variable_declarator) @def.variable)
(variable_declaration (variable_declarator) @def.var)
(variable_declarator name: (identifier) @name)
(variable_declarator value: (_)) @init

(variable_declarator
  name: (identifier) @name.function
  value: [
    (arrow_function body: (_) @body)
    (function_expression body: (_) @body)
    (generator_function body: (_) @body)
  ])
(variable_declarator
  name: (identifier) @name.class
  value: (class body: (_) @body))
(variable_declarator value: (object) @members)

(for_in_statement kind: ["const" "let"] left: (_) @def.variable @init)
(for_in_statement kind: "var" left: (_) @def.var @init)
(for_in_statement kind: _ left: (identifier) @name)
(for_in_statement !kind left: [(object_pattern) (array_pattern)] @def.assign)
(assignment_expression left: [(object_pattern) (array_pattern)] @def.assign)

(catch_clause parameter: (_) @def.variable)
(catch_clause parameter: (identifier) @name)

; ---- parts of patterns: the definition or assignment around says what they are

(rest_pattern (identifier) @name)
(array_pattern (identifier) @name)
(assignment_pattern left: (identifier) @name)
(object_pattern (shorthand_property_identifier_pattern) @name)
(object_assignment_pattern left: (shorthand_property_identifier_pattern) @name)
(pair_pattern value: (identifier) @name)

(arrow_function parameter: (identifier) @def.parameter @name)

; ---- members that CommonJS exports

(expression_statement
  (assignment_expression
    left: (member_expression object: (identifier) @_exports property: (property_identifier) @name)
    right: [
      (arrow_function body: (_) @body)
      (function_expression body: (_) @body)
      (generator_function body: (_) @body)
    ]) @def.export
  (#eq? @_exports "exports"))
(expression_statement
  (assignment_expression
    left: (member_expression
      object: (member_expression object: (identifier) @_module property: (property_identifier) @_exports)
      property: (property_identifier) @name)
    right: [
      (arrow_function body: (_) @body)
      (function_expression body: (_) @body)
      (generator_function body: (_) @body)
    ]) @def.export
  (#eq? @_module "module")
  (#eq? @_exports "exports"))
(expression_statement
  (assignment_expression
    left: (member_expression
      object: (member_expression object: (identifier) @owner property: (property_identifier) @_prototype)
      property: (property_identifier) @name)
    right: [
      (function_expression body: (_) @body)
      (generator_function body: (_) @body)
    ]) @def.method
  (#eq? @_prototype "prototype"))

; `module.exports = function session() {…}`
(expression_statement
  (assignment_expression
    left: (member_expression object: (identifier) @_module property: (property_identifier) @_exports)
    right: [
      (function_expression name: (identifier) @name body: (_) @body)
      (generator_function name: (identifier) @name body: (_) @body)
    ]) @def.export
  (#eq? @_module "module")
  (#eq? @_exports "exports"))
; `app.render = function () {…}`
((assignment_expression
  left: (member_expression object: (identifier) @owner property: (property_identifier) @name)
  right: [
    (arrow_function body: (_) @body)
    (function_expression body: (_) @body)
    (generator_function body: (_) @body)
  ]) @def.method
  (#not-eq? @owner "exports")
  (#not-eq? @owner "module"))

; `module.exports = function () {…}`, `module.exports = class {…}`
(expression_statement
  (assignment_expression
    left: (member_expression object: (identifier) @_module property: (property_identifier) @name @_exports)
    right: [
      (arrow_function body: (_) @body)
      (function_expression !name body: (_) @body)
      (generator_function !name body: (_) @body)
    ]) @def.export
  (#eq? @_module "module")
  (#eq? @_exports "exports"))
(expression_statement
  (assignment_expression
    left: (member_expression object: (identifier) @_module property: (property_identifier) @name.class @_exports)
    right: (class !name body: (_) @body)) @def.export
  (#eq? @_module "module")
  (#eq? @_exports "exports"))

; `export default () => …`: what has no name is called `default`
(export_statement
  "default" @name
  value: [
    (arrow_function body: (_) @body)
    (function_expression !name body: (_) @body)
    (generator_function !name body: (_) @body)
  ]) @def.function
(export_statement "default" @name value: (class !name body: (_) @body)) @def.class
(export_statement "default" @name value: (object) @members) @def.constant

; ---- names that are exported apart from their definition

(export_statement (export_clause (export_specifier name: (identifier) @export)) !source)
(export_statement value: (identifier) @export)
(expression_statement
  (assignment_expression
    left: (member_expression object: (identifier) @_module property: (property_identifier) @_exports)
    right: [(identifier) @export (object [(shorthand_property_identifier) @export (pair value: (identifier) @export)])])
  (#eq? @_module "module")
  (#eq? @_exports "exports"))
(expression_statement
  (assignment_expression
    left: (member_expression object: (identifier) @_exports)
    right: (identifier) @export)
  (#eq? @_exports "exports"))

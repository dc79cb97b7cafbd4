; What only C++ has.

[(for_range_loop) (catch_clause) (requires_expression)] @scope
(lambda_expression) @scope.function
(lambda_expression body: (_) @body.plain)
(function_declarator declarator: [
  (qualified_identifier) (destructor_name) (operator_name) (template_function)
]) @scope.prototype

(template_declaration) @wrap

; ---- functions

(function_definition (field_initializer_list) @body)
(function_definition [(default_method_clause) (delete_method_clause)] @body)
(function_declarator declarator: [(destructor_name) (operator_name)] @name.function)
(function_declarator declarator: (template_function name: (identifier) @name.function))
(function_declarator declarator: (qualified_identifier
  scope: [(namespace_identifier) @owner (template_type name: (type_identifier) @owner)]
  name: [
    (identifier) @name.function (destructor_name) @name.function (operator_name) @name.function
    (template_function name: (identifier) @name.function)
  ]))
(function_declarator declarator: (qualified_identifier
  scope: [(namespace_identifier) @owner (template_type name: (type_identifier) @owner)]
  name: (qualified_identifier
    scope: [(namespace_identifier) @owner (template_type name: (type_identifier) @owner)]
    name: [
      (identifier) @name.function (destructor_name) @name.function (operator_name) @name.function
      (template_function name: (identifier) @name.function)
    ])))
(function_declarator declarator: (qualified_identifier
  scope: [(namespace_identifier) @owner (template_type name: (type_identifier) @owner)]
  name: (qualified_identifier
    scope: [(namespace_identifier) @owner (template_type name: (type_identifier) @owner)]
    name: (qualified_identifier
      scope: [(namespace_identifier) @owner (template_type name: (type_identifier) @owner)]
      name: [(identifier) @name.function (destructor_name) @name.function (operator_name) @name.function]))))

; `operator bool()`
(operator_cast) @scope.prototype
(function_definition declarator: (operator_cast) @name.function)
(declaration declarator: (operator_cast) @name.function)
(field_declaration declarator: (operator_cast) @name.function)
(function_definition declarator: (qualified_identifier
  scope: [(namespace_identifier) @owner (template_type name: (type_identifier) @owner)]
  name: (operator_cast) @name.function))
(function_definition declarator: (qualified_identifier
  scope: [(namespace_identifier) @owner (template_type name: (type_identifier) @owner)]
  name: (qualified_identifier
    scope: [(namespace_identifier) @owner (template_type name: (type_identifier) @owner)]
    name: (operator_cast) @name.function)))

; `virtual void f() = 0`
(field_declaration declarator: (function_declarator) default_value: (_)) @init
(friend_declaration (declaration) @def.none)

(optional_parameter_declaration) @def.parameter
(variadic_parameter_declaration) @def.parameter
(optional_parameter_declaration declarator: (identifier) @name)
(variadic_declarator (identifier) @name)
(reference_declarator [(identifier) (field_identifier)] @name)

; ---- variables

(for_range_loop declarator: (_) @def.variable @init)
(for_range_loop declarator: (identifier) @name)
(for_range_loop right: (_) @unsure)
(structured_binding_declarator (identifier) @name)
(lambda_capture_initializer left: (identifier) @name) @def.variable @init
(init_declarator declarator: (qualified_identifier
  scope: [(namespace_identifier) @owner (template_type name: (type_identifier) @owner)]
  name: (identifier) @name))
(init_declarator declarator: (qualified_identifier
  scope: [(namespace_identifier) @owner (template_type name: (type_identifier) @owner)]
  name: (qualified_identifier
    scope: [(namespace_identifier) @owner (template_type name: (type_identifier) @owner)]
    name: (identifier) @name)))
(declaration declarator: (qualified_identifier
  scope: [(namespace_identifier) @owner (template_type name: (type_identifier) @owner)]
  name: (identifier) @name)) @init

; ---- types

(class_specifier name: (type_identifier) @name body: (_) @body) @def.class
(class_specifier !name body: (_) @body)
((class_specifier name: (type_identifier) @name !body) @def.forward . ";")
(class_specifier name: (template_type name: (type_identifier) @name) body: (_) @body) @def.class
(struct_specifier name: (template_type name: (type_identifier) @name) body: (_) @body) @def.struct
(class_specifier
  name: (qualified_identifier scope: (namespace_identifier) @owner name: (type_identifier) @name)
  body: (_) @body) @def.class
(struct_specifier
  name: (qualified_identifier scope: (namespace_identifier) @owner name: (type_identifier) @name)
  body: (_) @body) @def.struct

(alias_declaration name: (type_identifier) @name) @def.alias
(concept_definition name: (identifier) @name) @def.interface

(namespace_definition name: (namespace_identifier) @name) @def.namespace
(namespace_definition name: (nested_namespace_specifier (namespace_identifier) @name)) @def.namespace
(namespace_definition name: (nested_namespace_specifier
  (nested_namespace_specifier (namespace_identifier) @name))) @def.namespace
(namespace_definition name: (_) body: (_) @body)
(namespace_alias_definition name: (namespace_identifier) @name) @def.namespace

(type_parameter_declaration (type_identifier) @name) @def.typeparam
(variadic_type_parameter_declaration (type_identifier) @name) @def.typeparam
(optional_type_parameter_declaration name: (type_identifier) @name) @def.typeparam
(template_parameter_list [
  (parameter_declaration) (optional_parameter_declaration) (variadic_parameter_declaration)
] @def.typeparam)

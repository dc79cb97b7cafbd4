; What only C++ has.

[(namespace_identifier) (destructor_name) (operator_name)] @token
(destructor_name (identifier) @drop)
(attribute name: (identifier) @drop)
((call_expression function: (identifier) @drop) (#any-of? @drop "noexcept" "typeid"))
((template_function name: (identifier) @drop)
  (#any-of? @drop "static_cast" "dynamic_cast" "const_cast" "reinterpret_cast"))

(qualified_identifier name: (identifier) @ask)
(qualified_identifier scope: (namespace_identifier) @type name: (type_identifier))
(qualified_identifier scope: (namespace_identifier) @type name: (template_type))

(call_expression function: (template_function name: (identifier) @call))
(call_expression function: (field_expression field: (template_method name: (field_identifier) @call)))
(call_expression function: (qualified_identifier name: [(identifier) @call (template_function name: (identifier) @call)]))
(call_expression function: (qualified_identifier name: (qualified_identifier name: [
  (identifier) @call (template_function name: (identifier) @call)
])))
(call_expression function: (qualified_identifier name: (qualified_identifier name: (qualified_identifier name: [
  (identifier) @call (template_function name: (identifier) @call)
]))))
(new_expression type: [
  (type_identifier) @call
  (template_type name: (type_identifier) @call)
  (qualified_identifier name: [(type_identifier) @call (template_type name: (type_identifier) @call)])
])
(compound_literal_expression type: [
  (type_identifier) @call
  (template_type name: (type_identifier) @call)
  (qualified_identifier name: [(type_identifier) @call (template_type name: (type_identifier) @call)])
])

(base_class_clause [
  (type_identifier) @base
  (template_type name: (type_identifier) @base)
  (qualified_identifier name: [(type_identifier) @base (template_type name: (type_identifier) @base)])
  (qualified_identifier name: (qualified_identifier name: [
    (type_identifier) @base (template_type name: (type_identifier) @base)
  ]))
])

(field_initializer (field_identifier) @write)
(using_declaration (identifier) @import)
(using_declaration (qualified_identifier scope: (_) @import name: (identifier) @import))
(using_declaration (qualified_identifier
  scope: (_) @import name: (qualified_identifier scope: (_) @import name: (identifier) @import)))

(qualified_identifier scope: (namespace_identifier) @confined)
(argument_list (pointer_expression operator: "&" argument: (qualified_identifier name: (identifier) @argument)))

; What only TypeScript's grammars have.

(type_identifier) @token
(type_identifier) @type
(nested_type_identifier module: (identifier) @type @ask)
(nested_type_identifier module: (nested_identifier (_) @type @ask))
(type_query (identifier) @type @confined)
(type_query (member_expression object: (identifier) @type property: (_) @type @confined))
(class name: (type_identifier) @value)
(type_predicate name: (identifier) @type)

(call_expression function: (non_null_expression [(identifier) @call (member_expression property: (_) @call)]))
(call_expression
  function: (parenthesized_expression
    [(as_expression . [(identifier) @call (member_expression property: (_) @call)])
     (non_null_expression [(identifier) @call (member_expression property: (_) @call)])]))
(new_expression
  constructor: (parenthesized_expression (as_expression . [(identifier) @call (member_expression property: (_) @call)])))
(extends_clause value: (identifier) @base)
(extends_clause value: (member_expression property: (_) @base))
(implements_clause [
  (type_identifier) @base
  (nested_type_identifier name: (_) @base)
  (generic_type name: [(type_identifier) @base (nested_type_identifier name: (_) @base)])
])
(extends_type_clause type: [
  (type_identifier) @base
  (nested_type_identifier name: (_) @base)
  (generic_type name: [(type_identifier) @base (nested_type_identifier name: (_) @base)])
])

(import_statement (import_require_clause (identifier) @import @imported source: (string (string_fragment) @source))) @importing
(import_alias . (identifier) @import)

; Names that only say something to the reader.
(index_signature name: (identifier) @ask)
(tuple_type [
  (required_parameter name: [(identifier) @ask (rest_pattern (identifier) @ask)])
  (optional_parameter name: (identifier) @ask)
])
((type_identifier) @drop (#eq? @drop "bigint"))

; Types that are looked up from where they stand outwards, and names that types bind in a way of their own.
(type_identifier) @lexical
(nested_type_identifier module: (identifier) @lexical)
(nested_type_identifier name: (type_identifier) @member)
(class name: (type_identifier) @member)
(infer_type (type_identifier) @bound)
(mapped_type_clause name: (type_identifier) @bound)

(export_statement
  "default" @token
  value: [
    (array) (arrow_function) (await_expression) (binary_expression) (call_expression) (class !name) (function_expression !name)
    (generator_function !name) (new_expression) (number) (object) (parenthesized_expression) (string) (template_string) (ternary_expression) (as_expression) (satisfies_expression)
  ])

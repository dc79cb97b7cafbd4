; What only JavaScript's grammar has.

(class_heritage (identifier) @base)
(class_heritage (member_expression property: (_) @base))
(class name: (identifier) @ask)

(export_statement
  "default" @token
  value: [
    (array) (arrow_function) (await_expression) (binary_expression) (call_expression) (class !name) (function_expression !name)
    (generator_function !name) (new_expression) (number) (object) (parenthesized_expression) (string) (template_string) (ternary_expression)
  ])

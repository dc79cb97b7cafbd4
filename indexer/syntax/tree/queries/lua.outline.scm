; Lua. `function M.f()` is a symbol of the file: which table `M` is, only a run knows.

(comment) @comment

(function_declaration name: [(identifier) @name (dot_index_expression field: (identifier) @name)] body: (_)? @body) @def.function
(function_declaration name: (method_index_expression method: (identifier) @name) body: (_)? @body) @def.method
(assignment_statement
  (variable_list . name: [(identifier) @name (dot_index_expression field: (identifier) @name)] .)
  (expression_list . value: (function_definition body: (_)? @body) .)) @def.function
(chunk (variable_declaration (assignment_statement
  (variable_list . name: (identifier) @name .) (expression_list . value: (table_constructor)))) @def.variable)

; uses
(identifier) @token
(function_call name: (identifier) @call)
(function_call name: (dot_index_expression field: (identifier) @call))
(function_call name: (method_index_expression method: (identifier) @call))

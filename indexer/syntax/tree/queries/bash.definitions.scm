; Bash. A variable is one symbol for the whole file: who assigns it may be called from anywhere.

(comment) @comment
(function_definition name: (word) @name body: (_) @body) @def.function
(variable_assignment name: (variable_name) @name) @def.global @init
(variable_assignment name: (subscript name: (variable_name) @name)) @def.global @init
(for_statement variable: (variable_name) @def.global @name @init)
(declaration_command ["local" "declare" "typeset" "readonly"] (variable_name) @def.global)
(declaration_command ["local" "declare" "typeset" "readonly"] (variable_name) @name)

; Bash. A variable is one symbol for the whole file: who assigns it may be called from anywhere.

(comment) @comment
(function_definition name: (word) @name body: (_) @body) @def.function
(variable_assignment name: (variable_name) @name) @def.global @init
(variable_assignment name: (subscript name: (variable_name) @name)) @def.global @init
(for_statement variable: (variable_name) @def.global @name @init)
(declaration_command ["local" "declare" "typeset" "readonly"] (variable_name) @def.global)
(declaration_command ["local" "declare" "typeset" "readonly"] (variable_name) @name)

; The environment of programs: what is exported or set for one command, and, by its capitals, what the caller may have exported before.
(declaration_command "export" (variable_assignment name: (variable_name) @export))
(declaration_command "export" (variable_name) @export)
((declaration_command ["declare" "typeset"] (word) @_flags (variable_assignment name: (variable_name) @export)) (#match? @_flags "^-[A-Za-z]*x"))
((declaration_command ["declare" "typeset"] (word) @_flags (variable_name) @export) (#match? @_flags "^-[A-Za-z]*x"))
(command (variable_assignment name: (variable_name) @export))
((variable_assignment name: (variable_name) @export) (#match? @export "^[A-Z_][A-Z0-9_]*$"))

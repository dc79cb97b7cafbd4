; C, and what C++ has of it.

(comment) @comment

; ---- scopes

[(compound_statement) (for_statement) (if_statement) (while_statement) (switch_statement) (do_statement)] @scope
(function_definition) @scope.function
(function_declarator declarator: [(identifier) (field_identifier)]) @scope.prototype
(function_declarator declarator: (parenthesized_declarator) parameters: (parameter_list) @scope)

; ---- functions

(function_definition) @def.function
(function_definition body: (_) @body)
(function_declarator declarator: [(identifier) (field_identifier)] @name.function)

(parameter_declaration) @def.parameter
(parameter_declaration declarator: (identifier) @name)

; ---- variables

(declaration) @def.variable
(declaration declarator: (init_declarator)) @init
(declaration declarator: (identifier) @name)
(init_declarator declarator: (identifier) @name)
(pointer_declarator declarator: [(identifier) (field_identifier) (type_identifier)] @name)
(array_declarator declarator: [(identifier) (field_identifier) (type_identifier)] @name)
(parenthesized_declarator [(identifier) (field_identifier) (type_identifier)] @name)

; ---- types

(struct_specifier name: (type_identifier) @name body: (_) @body) @def.struct
(union_specifier name: (type_identifier) @name body: (_) @body) @def.struct
(enum_specifier name: (type_identifier) @name body: (_) @body) @def.enum
(struct_specifier !name body: (_) @body)
(union_specifier !name body: (_) @body)
(enum_specifier !name body: (_) @body)
((struct_specifier name: (type_identifier) @name !body) @def.forward . ";")
((union_specifier name: (type_identifier) @name !body) @def.forward . ";")
(enumerator name: (identifier) @name) @def.member

(field_declaration) @def.field
(field_declaration declarator: (field_identifier) @name)

(type_definition) @def.alias
(type_definition declarator: (type_identifier) @name)
(type_definition type: (struct_specifier !name body: (_)) declarator: (type_identifier) @name.struct)
(type_definition type: (union_specifier !name body: (_)) declarator: (type_identifier) @name.struct)
(type_definition type: (enum_specifier !name body: (_)) declarator: (type_identifier) @name.enum)
(function_declarator declarator: (type_identifier) @name)

; ---- macros

(preproc_def name: (identifier) @name) @def.define
(preproc_function_def name: (identifier) @name) @def.macro

; Kotlin. A function is a member of what it stands in; one with a receiver, `fun P.f()`, of the file.

[(line_comment) (multiline_comment)] @comment

(class_declaration "class" (type_identifier) @name) @def.class
(class_declaration "interface" (type_identifier) @name) @def.interface
(class_declaration (type_identifier) @name (enum_class_body) @body) @def.enum
(class_declaration (class_body) @body)
(object_declaration (type_identifier) @name (class_body)? @body) @def.class
(type_alias (type_identifier) @name) @def.alias
(enum_entry (simple_identifier) @name) @def.member
(class_parameter (binding_pattern_kind) (simple_identifier) @name) @def.component

(function_declaration (simple_identifier) @name) @def.function
(function_declaration (function_body) @body)
(source_file (property_declaration (variable_declaration (simple_identifier) @name)) @def.variable)
(class_body (property_declaration (variable_declaration (simple_identifier) @name)) @def.field)

; uses
[(simple_identifier) (type_identifier)] @token
(call_expression . (simple_identifier) @call)
(call_expression . (navigation_expression (navigation_suffix (simple_identifier) @call) .))
(constructor_invocation (user_type (type_identifier) @call))
(import_header (identifier (simple_identifier) @import))

; C#.

(comment) @comment

(class_declaration name: (identifier) @name body: (_)? @body) @def.class
(record_declaration name: (identifier) @name body: (_)? @body) @def.class
(struct_declaration name: (identifier) @name body: (_)? @body) @def.struct
(interface_declaration name: (identifier) @name body: (_)? @body) @def.interface
(enum_declaration name: (identifier) @name body: (_)? @body) @def.enum
(enum_member_declaration name: (identifier) @name) @def.member
(delegate_declaration name: (identifier) @name) @def.alias

(method_declaration name: (identifier) @name body: (_)? @body) @def.method
(constructor_declaration name: (identifier) @name body: (_)? @body) @def.constructor
(local_function_statement name: (identifier) @name body: (_)? @body) @def.function
(property_declaration name: (identifier) @name) @def.property
(property_declaration accessors: (_) @body)
(event_declaration name: (identifier) @name) @def.field
(field_declaration (variable_declaration (variable_declarator name: (identifier) @name))) @def.field
(event_field_declaration (variable_declaration (variable_declarator name: (identifier) @name))) @def.field

; uses
(identifier) @token
(invocation_expression function: (identifier) @call)
(invocation_expression function: (member_access_expression name: (identifier) @call))
(object_creation_expression type: (identifier) @call)
(using_directive (identifier) @import)

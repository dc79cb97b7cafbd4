; Items that are taken apart, of whose type nobody tells.

(formal_parameters (array_pattern) @unknown.iterate)
(formal_parameters (assignment_pattern left: (array_pattern) @unknown.iterate))
(formal_parameters (object_pattern (rest_pattern)) @unknown.copy)

(using_declaration (variable_declarator value: (_) @typed.enter))

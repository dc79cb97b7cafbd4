; What only JavaScript's grammar has.

(class_heritage (identifier) @base)
(class_heritage (member_expression property: (_) @base))
(class name: (identifier) @ask)

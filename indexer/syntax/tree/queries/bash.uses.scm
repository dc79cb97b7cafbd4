; Bash.

(variable_name) @token
((command_name . (word) @token .) (#match? @token "^[A-Za-z_][A-Za-z0-9_.:-]*$"))
((command_name . (word) @call .) (#match? @call "^[A-Za-z_][A-Za-z0-9_.:-]*$"))
(postfix_expression (variable_name) @update)
(unset_command (variable_name) @delete)

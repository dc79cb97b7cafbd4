; Bash.

(variable_name) @token
((command_name . (word) @token .) (#match? @token "^[A-Za-z_][A-Za-z0-9_.:-]*$"))
((command_name . (word) @call .) (#match? @call "^[A-Za-z_][A-Za-z0-9_.:-]*$"))

; The shell's own commands are no names: nobody defines them, and each question costs the server 4 ms.
((command_name . (word) @drop .)
  (#any-of? @drop "." ":" "[" "alias" "bg" "bind" "break" "builtin" "caller" "cd" "command" "compgen" "complete" "compopt" "continue" "declare" "dirs" "disown" "echo" "enable" "eval" "exec" "exit" "export" "false" "fc" "fg" "getopts" "hash" "help" "history" "jobs" "kill" "let" "local" "logout" "mapfile" "popd" "printf" "pushd" "pwd" "read" "readarray" "readonly" "return" "set" "shift" "shopt" "source" "suspend" "test" "times" "trap" "true" "type" "typeset" "ulimit" "umask" "unalias" "unset" "wait"))
(postfix_expression (variable_name) @update)
(unset_command (variable_name) @delete)

; A function is handed over by its name: to be called on a signal, to complete words.
((command name: (command_name) @_trap . argument: (word) @token @argument) (#eq? @_trap "trap") (#match? @argument "^[A-Za-z_][A-Za-z0-9_.:-]*$"))

; What a variable holds may be run by it.
(variable_assignment value: (string (string_content) @string))
(variable_assignment value: (array (string (string_content) @string)))

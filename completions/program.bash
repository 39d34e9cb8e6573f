# The program and its arguments, as they are completed without us: INDEX WORD
@FUNCTION@_words() {
	if declare -F _command_offset >/dev/null; then
		_command_offset "$1"
	else
		mapfile -t COMPREPLY < <(compgen -f -- "$2")
		compopt -o filenames 2>/dev/null || :
	fi
}

@FUNCTION@_first() {
	mapfile -t COMPREPLY < <(compgen -c -- "$1")
}


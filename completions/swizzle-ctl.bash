# INDEX WORD BEFORE: the argument of a command; 1: processes follow.
_swizzle_ctl_words() {
	case $3 in
	snapshot)
		mapfile -t COMPREPLY < <(compgen -f -- "$2")
		compopt -o filenames 2>/dev/null || :
		;;
	mark) ;;
	*) return 1 ;;
	esac
}

_swizzle_ctl_names() {
	"$1" list 2>/dev/null | awk 'NR > 1 { print $6 }'
}

# WORD, and 1 behind a command.
_swizzle_ctl_first() {
	local words=$_swizzle_ctl_commands
	[[ $2 == 0 ]] || words="all $(swizzle-ctl list 2>/dev/null | awk 'NR > 1 { print $1, $6 }')"
	mapfile -t COMPREPLY < <(compgen -W "$words" -- "$1")
}


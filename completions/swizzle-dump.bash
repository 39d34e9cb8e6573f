# The ids and names of the threads of the profiles in the command line, or of the
# newest profile: PROGRAM WORD...
_swizzle_dump_threads() {
	local program=$1 word
	local -a files=()
	shift
	for word; do
		[[ $word == -* || ! -f $word ]] || files+=("$word")
	done
	"$program" -q -f info "${files[@]}" 2>/dev/null | awk '
		/^ +tid +name/ { at = index($0, "name"); next }
		/^contexts:/ || !NF { at = 0 }
		at {
			print $1
			name = substr($0, at)
			sub(/  .*/, "", name)
			if (name != "" && name != "-" && name !~ / /) print name
		}'
}

# The names and numbers of the processes of the same profiles.
_swizzle_dump_processes() {
	local program=$1 word
	local -a files=()
	shift
	for word; do
		[[ $word == -* || ! -e $word ]] || files+=("$word")
	done
	"$program" -q -f info "${files[@]}" 2>/dev/null | awk '
		/^pid: / { print $2 }
		/^executable: / { sub(/.*\//, ""); if (!/ /) print }'
}

_swizzle_dump_formats() {
	"$1" -f help 2>/dev/null | sed 's/ .*//'
}

_swizzle_dump_keys() {
	echo function module process thread file line cause rank \
		{function,module,file,line},{thread,process,rank} thread,{parts,files}
}

_swizzle_dump_first() {
	mapfile -t COMPREPLY < <(compgen -f -- "$1")
	compopt -o filenames 2>/dev/null
}


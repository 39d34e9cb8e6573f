_swizzle_dump_formats() {
	local -a formats
	formats=(${(f)"$(_call_program formats $words[1] -f help 2>/dev/null |
		sed 's/:/\\:/g; s/  */:/')"})
	_describe -t formats format formats
}

# Of the profiles in the command line, or of the newest profile.
_swizzle_dump_threads() {
	local word
	local -a files threads
	for word in $words[2,-1]; do
		[[ $word == -* || ! -f $word ]] || files+=(${(q)word})
	done
	threads=(${(f)"$(_call_program threads $words[1] -q -f info $files 2>/dev/null |
		awk '/^ +tid +name/ { on = 1; next } /^contexts:/ || !NF { on = 0 }
			on { print $1 ":" $2 }')"})
	_describe -t threads thread threads
}

# The same of processes.
_swizzle_dump_processes() {
	local word
	local -a files processes
	for word in $words[2,-1]; do
		[[ $word == -* || ! -e $word ]] || files+=(${(q)word})
	done
	processes=(${(f)"$(_call_program processes $words[1] -q -f info $files 2>/dev/null |
		awk '/^pid: / { print $2 } /^executable: / { sub(/.*\//, ""); print }')"})
	compadd -a processes
}

_swizzle_dump_keys() {
	local -a keys=(function module process thread file line cause rank)
	compadd - $keys {function,module,file,line},{thread,process,rank} thread,{parts,files}
}


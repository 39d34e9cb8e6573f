# Options and their values; @FUNCTION@_words offers what follows the first word
# that is no option, @FUNCTION@_first that word itself.
@FUNCTION@() {
	local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]}
	local program=${COMP_WORDS[0]} offer='' words='' glued='' takes i

	# up to the first word that is no option
	for ((i = 1; i < COMP_CWORD; i++)); do
		case ${COMP_WORDS[i]} in
		--)
			i=$((i + 1))
			break
			;;
		-*)
			@FUNCTION@_value "${COMP_WORDS[i]}"
			case $? in
			0)
				[[ ${COMP_WORDS[i + 1]} != = ]] || i=$((i + 1))
				i=$((i + 1))
				;;
			2) [[ ${COMP_WORDS[i + 1]} != = ]] || i=$((i + 2)) ;;
			esac
			;;
		*) break ;;
		esac
	done
	COMPREPLY=()
	if declare -F @FUNCTION@_words >/dev/null && ((i < COMP_CWORD)) &&
		@FUNCTION@_words "$i" "$word" "$before"; then
		return
	fi
	# --option=value comes as three words
	if [[ $word == = ]]; then
		word='' glued=yes
	elif [[ $before == = && $COMP_CWORD -gt 1 ]]; then
		before=${COMP_WORDS[COMP_CWORD - 2]} glued=yes
	fi
	@FUNCTION@_value "${before%=}"
	takes=$?
	if [[ $takes == 0 || $takes == 2 && $glued ]]; then
		case $offer in
		'') ;;
		files | directories)
			[[ $offer == files ]] && offer=-f || offer=-d
			mapfile -t COMPREPLY < <(compgen "$offer" -- "$word")
			compopt -o filenames 2>/dev/null
			return
			;;
		pids) words=$(cd /proc && echo [0-9]*) ;;
		*) words=$("@FUNCTION@_$offer" "$program" "${COMP_WORDS[@]:1}") ;;
		esac
	elif [[ $word == -* ]]; then
		words=$@FUNCTION@_options
	else
		@FUNCTION@_first "$word" $((i < COMP_CWORD))
		return
	fi
	mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
}

complete -F @FUNCTION@ @TOOL@

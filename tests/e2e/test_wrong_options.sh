# shellcheck shell=bash
# All options of all tools, as --help names them, given wrongly: each tool says
# the same, names the option as it was written, and ends with status 2.
. "${BASH_SOURCE%/*}/lib.sh"
SWTOP=$BUILD/bin/swizzle-top
SWCTL=$BUILD/bin/swizzle-ctl
need_built "$RUN" "$DUMP" "$SWTOP" "$SWCTL"
export XDG_CONFIG_HOME=$PWD/none

long() { # TOOL REGEX: the long options behind which --help has that
	"$1" --help=all | grep -E "^ +(-[a-zA-Z], )?--[a-z-]+$2" | grep -oE -e '--[a-z-]+' |
		awk '!seen[$0]++'
}

# What it says of wrong usage: one line, and how to get help.
wrong() { # TEXT TOOL ARGUMENT...: all of the first line
	local text=$1
	shift
	capture "$@"
	assert_status 2
	assert_eq "swizzle: $text
Try '${1##*/} --help'." "$(cat "$TMP/err")" "$*"
	assert_empty "$TMP/out"
}

# The same without the last letters, as far as no other option begins so.
cut_short() { # OPTION ALL
	local short=$1
	while [ ${#short} -gt 3 ] && [ "$(grep -c -e "^${short%?}" "$2")" = 1 ]; do
		short=${short%?}
	done
	echo "$short"
}

for tool in "$RUN" "$DUMP" "$SWTOP" "$SWCTL"; do
	name=${tool##*/}
	{
		long "$tool" ''
		[ "$name" != swizzle-dump ] || echo --no-embed # stands in a sentence
	} >all
	long "$tool" '( |=)[A-Z]' >with
	long "$tool" '( |=|\[=)[A-Za-z]' >maybe
	grep -vxF -f maybe all | grep -vxE -e '--(help|version)' >flags
	assert_ge "$(wc -l <flags)" 2 "flags of $name"
	assert_ge "$(wc -l <with)" 4 "options with a value of $name"

	it "$name: no value, an empty one, and one too many"
	while read -r option; do
		[ "$option" = --color ] || wrong "option $option needs a value" "$tool" "$option"
		capture "$tool" "$option="
		assert_status 2
		assert_matches "$TMP/err" "^swizzle: option $option: .*[^ ]"
		assert_contains "$TMP/err" "Try '$name --help'."
	done <with
	while read -r option; do
		wrong "option $option takes no value" "$tool" "$option=x"
	done <flags

	it "$name: misspelt options"
	while read -r option; do
		# the letters behind the dashes in the wrong order
		misspelt=--${option:3:1}${option:2:1}${option:4}
		if [ "$misspelt" = "$option" ] || [ ${#option} -lt 6 ]; then
			continue
		fi
		wrong "unknown option $misspelt; did you mean $option?" "$tool" "$misspelt"
	done <all

	it "$name: abbreviated options are the option"
	while read -r option; do
		[ "$option" != --color ] || continue
		wrong "option $option needs a value" "$tool" "$(cut_short "$option" all)"
	done <with
	while read -r option; do
		wrong "option $option takes no value" "$tool" "$(cut_short "$option" all)=x"
	done <flags


	it "$name: letters"
	wrong 'unknown option -k' "$tool" -k
done

it 'what is given twice'
for option in diff times symfs; do
	wrong "option --$option is given twice: '/' is a second --$option" \
		"$DUMP" --$option . --$option /
done
wrong "command 'st' could be several: status, start, stop" "$SWCTL" st

it 'numbers of any length'
for number in 18446744073709551617 999999999999 99999999999999999999999999; do
	for option in --percent-limit --backtrace-percent --rounds --rate --pid --delay; do
		capture "$SWTOP" -b $option=$number true
		assert_refused 2 "option $option: '$number' is not"
	done
	for option in --rate --depth --recursion --string-bytes --stack-bytes --pid \
		--min-size --max-memory --max-size; do
		capture "$RUN" $option=$number true
		assert_refused 2 "option $option: '$number' is not"
	done
	capture "$SWCTL" list --tree=$number
	assert_refused 2 "option --tree: '$number' is not"
done
for count in +5 ' 5' 0x5 5. ''; do
	wrong "option -n: '$count' is not a number of rows (0: all)" "$DUMP" -n "$count"
done

finish

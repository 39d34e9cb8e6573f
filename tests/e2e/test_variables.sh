# shellcheck shell=bash
# Settings in the environment: a wrong value is refused by swizzle-run as the
# option's would be, and by the library with a line, while the program runs.
. "${BASH_SOURCE%/*}/lib.sh"
need_built "$RUN" "$LIBSWIZZLE"
unset "${!SWIZZLE_@}"

# Those of the manual. "[" is no number, no word, and no pattern.
sed -n '/^\.SH ENVIRONMENT/,/^\.SH NOTES/ s/^\\fB\(SWIZZLE_[A-Z_]*\)\\fR.*/\1/p' \
	"$TOP/man/swizzle-run.1" >variables
assert_ge "$(wc -l <variables)" 38 'variables in the manual'
assert_contains variables SWIZZLE_RATE

it 'the manual has a variable for each option'
"$RUN" --help=all | grep -oE '^ +(-[a-zA-Z], )?--[a-z-]+' | grep -oE -e '--[a-z-]+' |
	grep -vxE -e '--(no-.*|version|help|check|compare|runs|open)' |
	sed 's/^--/SWIZZLE_/; s/-/_/g' | tr a-z A-Z |
	sed 's/_ARGUMENT$/_ARGUMENTS/' | sort >wanted
sort variables >there
assert_same wanted there

it 'swizzle-run refuses a wrong value, and names the variable'
while read -r variable; do
	case $variable in SWIZZLE_OUTPUT | SWIZZLE_REPORT | SWIZZLE_LIVE) continue ;; esac # any text will do
	rm -f started
	capture env "$variable=[" "$RUN" touch started
	assert_refused 2 '['
	[ "$variable" = SWIZZLE_CONFIG ] ||
		assert_matches err "^swizzle: $variable in the environment: "
	assert_missing started
done <variables

it 'it says what is allowed'
says() { # TEXT VARIABLE=VALUE
	capture env "$2" "$RUN" true
	assert_refused 2 "$1"
}
says "SWIZZLE_MODE in the environment: unknown mode 'trcae'; did you mean 'trace'? There are: profile, trace, count, sample, both" \
	SWIZZLE_MODE=trcae
says "SWIZZLE_DEPTH in the environment: '0' is not a number from 1 to 1048576" SWIZZLE_DEPTH=0
says "SWIZZLE_FOLLOW in the environment: 'no' is neither 1 nor 0" SWIZZLE_FOLLOW=no
says "SWIZZLE_QUIET in the environment: 'yes' is neither 1 nor 0" SWIZZLE_QUIET=yes
says "SWIZZLE_OFF in the environment: 'on' is neither 1, 0 nor hooked" SWIZZLE_OFF=on
says 'SWIZZLE_FILTER in the environment: the pattern is empty' SWIZZLE_FILTER=$'a\n'
capture env SWIZZLE_MODE=sample SWIZZLE_ENGINE=pause SWIZZLE_RATE=5000 "$RUN" true
assert_refused 2 "SWIZZLE_RATE in the environment: '5000' is not a number from 1 to 1000 (samples a second) with --engine pause"

it 'an option takes the place of a wrong variable, and an empty one is none'
SWIZZLE_MODE='[' capture "$RUN" -q -m profile -o profile true
assert_status 0
while read -r variable; do
	capture env "$variable=" "$RUN" -o profile true
	assert_status 0
done <variables

it 'the library says it, and the program runs unprofiled'
said=0
while read -r variable; do
	case ${variable#SWIZZLE_} in
	OUTPUT | CONFIG | ARGS | CALLER | LABEL | WALL | RATE | ENGINE | EVENT | STACK_BYTES | PID | FOR | \
		REPORT | LIVE)
		continue # not the library's
		;;
	esac
	rm -rf prof started
	capture env LD_PRELOAD="$LIBSWIZZLE" SWIZZLE_MODE=trace SWIZZLE_OUTPUT=prof/ \
		"$variable=[" touch started
	assert_status 0
	assert_matches err "^swizzle: $variable(:| is) .*: not profiled\$"
	assert_exists started
	[ -z "$(ls prof 2>/dev/null)" ] || fail "$variable=[: there is a profile"
	said=$((said + 1))
done <variables
assert_ge $said 25 'variables of the library'

finish

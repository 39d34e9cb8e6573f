# shellcheck shell=bash
# swizzle-run: options, what they put into the environment, and what reaches
# the program. The program here is sh or env, which show it. (Values of options, and wrong
# ones: tests/unit/test_run_values.c.)
. "${BASH_SOURCE%/*}/lib.sh"
unset SWIZZLE_MODE # as the user has it
need_built "$RUN" "$DUMP"

# A library that does nothing stands in for libswizzle.so: this is about the
# wrapper. It lies beside a copy, as in an installation.
mkdir -p tree/bin tree/lib work
cp "$RUN" tree/bin/swizzle-run
echo 'extern int nothing; int nothing;' | cc -shared -fPIC -o tree/lib/libswizzle.so -x c -
RUN=$TMP/tree/bin/swizzle-run
LIBRARY=$TMP/tree/lib/libswizzle.so
cd work || exit 1
HERE=$(pwd -P)

value_of() { # VARIABLE OPTION...: its value in the program, + before it if set
	local name=$1
	shift
	"$RUN" "$@" /bin/sh -c "printf '%s' \"\${$name++}\$$name\""
}

it 'prints help and version on stdout'
capture "$RUN" --help
assert_status 0
assert_contains "$TMP/out" 'Usage: swizzle-run'
capture "$RUN" --version
assert_matches "$TMP/out" '^swizzle-run [0-9]+\.[0-9]+'
for option in --help --version; do
	capture bash -c '"$0" "$1" >/dev/full' "$RUN" $option
	assert_refused 1 'standard output: No space left on device'
done

it 'help is short, and has examples'
for tool in run dump top; do
	capture "$BUILD/bin/swizzle-$tool" --help
	assert_status 0
	[ $tool = top ] || assert_le "$(grep -cE '^  (-[a-zA-Z]|    --)' "$TMP/out")" 16 'options'
	assert_ge "$(grep -cE "^  swizzle-$tool " "$TMP/out")" 3 'examples'
	assert_contains "$TMP/out" "'man swizzle-$tool' explains each."
	awk 'length > 80' "$TMP/out" >"$TMP/long"
	assert_empty "$TMP/long"
	capture "$BUILD/bin/swizzle-$tool" --help=most
	assert_refused 2 "option --help: unknown kind of help 'most'. There are: all"
done
capture "$RUN" --help
assert_matches "$TMP/out" '^swizzle-run --help=all has [0-9]+ more, in groups[.]$'
capture "$RUN" --help=all
assert_ge "$(grep -cE '^[A-Z][a-z ]+:$' "$TMP/out")" 8 'groups'

it 'preloads the library that lies beside it'
assert_eq "+$LIBRARY" "$(value_of LD_PRELOAD)"
ln -s "$RUN" "$TMP/link"
assert_eq "$LIBRARY" "$("$TMP/link" /bin/sh -c 'echo "$LD_PRELOAD"')"
assert_eq "$LIBRARY" "$(PATH=$TMP/tree/bin:$PATH swizzle-run /bin/sh -c 'echo "$LD_PRELOAD"')"
assert_eq "$LIBRARY" "$(cd ../tree && bin/swizzle-run /bin/sh -c 'echo "$LD_PRELOAD"')"

it 'keeps what is preloaded already, and itself only once'
assert_eq "$LIBRARY:libm.so.6" "$(LD_PRELOAD=libm.so.6 "$RUN" /bin/sh -c 'echo "$LD_PRELOAD"')"
assert_eq "$LIBRARY" "$("$RUN" "$RUN" /bin/sh -c 'echo "$LD_PRELOAD"')"

it 'passes no setting that was not asked for'
assert_eq 'SWIZZLE_FRESH SWIZZLE_MODE SWIZZLE_OUTPUT SWIZZLE_TREE' \
	"$(env -u SWIZZLE_SUMMARY -u SWIZZLE_ADVICE "$RUN" env | grep -a '^SWIZZLE' | cut -d= -f1 | sort | xargs)"

it 'chooses the mode by what else is asked for, and says so'
for options in '-t 1us' --ring --switches --prints '-t 1us -F main'; do
	capture "$RUN" -o chosen $options true
	assert_status 0
	assert_matches "$TMP/err" '^swizzle: option .* needs each call.s moment: recording with --mode trace$'
done
for options in '-F main' '-D 3' --imports '--timing sampled'; do
	capture "$RUN" -o chosen $options true
	assert_status 0
	assert_matches "$TMP/err" '^swizzle: option .* needs each call.s end, or what is above it: recording with --mode profile$'
	assert_eq '' "$(value_of SWIZZLE_MODE $options 2>/dev/null)" # the library's own
done
for options in '' '-M true' '-r 100 -m sample' '-m profile -F main'; do
	capture "$RUN" -o chosen $options true
	assert_not_contains "$TMP/err" 'recording with'
done
SWIZZLE_IMPORTS=0 capture "$RUN" -o chosen true
assert_not_contains "$TMP/err" 'recording with'

assert_eq +count "$(value_of SWIZZLE_MODE)" # the library's part of both
SWIZZLE_FLOWS=1 capture "$RUN" -o chosen true
assert_contains "$TMP/err" 'SWIZZLE_FLOWS in the environment needs each call'
capture "$RUN" -q -o chosen -t 1us true
assert_empty "$TMP/err"
# what was asked for cannot be had of the mode that was asked for
for options in '-m count -F main' '-m both -D 3' '-m profile -t 1us' '-m sample -H main'; do
	capture "$RUN" -o chosen $options true
	assert_status 2
done
SWIZZLE_FILTER=main capture "$RUN" -o chosen -m count true
assert_status 2
assert_contains "$TMP/err" 'SWIZZLE_FILTER in the environment needs a call'
printf '[func@main]\nshow = no_calls\n' >rules
capture "$RUN" -o chosen -m both --config rules true
assert_status 2
assert_contains "$TMP/err" 'the configuration file needs a call'

it 'makes the output absolute'
assert_eq "+$HERE/swizzle.out.%p" "$(value_of SWIZZLE_OUTPUT)"
assert_eq "+$HERE/x" "$(value_of SWIZZLE_OUTPUT -o x)"
assert_eq "+$HERE/x.%p" "$(value_of SWIZZLE_OUTPUT -ox.%p)"
assert_eq "+$HERE/x y" "$(value_of SWIZZLE_OUTPUT --output='x y')"
assert_eq "+$TMP/none" "$(value_of SWIZZLE_OUTPUT --output "$TMP/none")"
assert_eq "+/tmp/" "$(value_of SWIZZLE_OUTPUT -o /tmp)"

it 'makes the directory of -o DIR/'
assert_eq "+$HERE/new/deep/" "$(value_of SWIZZLE_OUTPUT -o new/deep/)"
assert_exists new/deep
capture "$RUN" -o nowhere/file /bin/true
assert_refused 126 'there is no directory'

it 'keeps what the environment says where no option is given'
assert_eq "+$TMP/none" "$(SWIZZLE_OUTPUT=$TMP/none value_of SWIZZLE_OUTPUT)"
assert_eq "+$HERE/y" "$(SWIZZLE_OUTPUT=y value_of SWIZZLE_OUTPUT)"
assert_eq "+$TMP/other" \
	"$(SWIZZLE_OUTPUT=$TMP/none value_of SWIZZLE_OUTPUT -o "$TMP/other")"
assert_eq "+a" "$(SWIZZLE_FILTER=a value_of SWIZZLE_FILTER)"
assert_eq "+b" "$(SWIZZLE_FILTER=a value_of SWIZZLE_FILTER -F b)"
assert_eq "+0" "$(SWIZZLE_FOLLOW=0 value_of SWIZZLE_FOLLOW)"
assert_eq "+1" "$(SWIZZLE_FOLLOW=0 value_of SWIZZLE_FOLLOW --follow)"
assert_eq +1 "$(SWIZZLE_CACHE=0 value_of SWIZZLE_CACHE --cache)"
assert_eq +0 "$(SWIZZLE_SUMMARY=1 value_of SWIZZLE_SUMMARY --no-summary)"

it 'both tools say the same of wrong options'
for wrong in --ouptut=x --no --quiet=1 --hid= -k -qkV -F; do
	capture "$RUN" "$wrong"
	assert_status 2
	mv "$TMP/err" run.err
	capture "$DUMP" "$wrong"
	assert_status 2
	# (--no is different options)
	sed -e 's/swizzle-run/swizzle-dump/' -e 's/several: .*/several/' run.err >expected
	sed -e 's/several: .*/several/' "$TMP/err" >said
	assert_same expected said
	assert_ge "$(wc -l <said)" 2 'lines'
done

it 'a variable that is no setting is said once'
SWIZZLE_FITLER=x SWIZZLE_TEST_WORKERS=1 capture "$RUN" /bin/sh -c '/bin/true'
assert_status 0
assert_eq 'swizzle: SWIZZLE_FITLER in the environment is no setting; did you mean SWIZZLE_FILTER?' \
	"$(cat "$TMP/err")"
SWIZZLE_FITLER=x capture "$RUN" -q /bin/true
assert_empty "$TMP/err"
SWIZZLE_FITLER=x SWIZZLE_QUIET=1 capture "$RUN" /bin/true
assert_empty "$TMP/err"
SWIZZLE_SOMETHING=x capture "$RUN" /bin/true
assert_eq "swizzle: SWIZZLE_SOMETHING in the environment is no setting; 'man swizzle-run' has all" "$(cat "$TMP/err")"
SWIZZLE_PAGER=cat SWIZZLE_CACHE=1 SWIZZLES=1 capture "$RUN" /bin/true
assert_empty "$TMP/err"
# those of the manuals are right
variables=$(grep -ohE 'SWIZZLE_[A-Z_]+[A-Z]' "$TOP"/man/*.1 | sort -u)
assert_ge "$(wc -w <<<"$variables")" 20 'variables in the manual'
for variable in $variables; do
	capture env "$variable=" "$RUN" --no-summary /bin/true
	assert_not_contains "$TMP/err" 'is no setting'
done

it 'ends its options at the program, or at --'
assert_eq '-v -o x' "$("$RUN" /bin/echo -v -o x)"
assert_eq '-- -v' "$("$RUN" -- /bin/echo -- -v)"
cp /bin/echo ./-odd
assert_eq 'x' "$(PATH=$HERE:$PATH "$RUN" -- -odd x)"

it 'hands the arguments over as they are'
assert_eq $'<a b><><*><$x><new\nline>' \
	"$("$RUN" /usr/bin/printf '<%s>' 'a b' '' '*' '$x' $'new\nline')"

it 'keeps argv[0] and the process'
assert_eq sh "$("$RUN" sh -c 'cat /proc/$$/cmdline | tr "\0" "\n" | head -n 1')"
"$RUN" /bin/sh -c 'echo $$' >pid &
wait $!
assert_eq $! "$(cat pid)"

it 'runs the program, not a builtin of the shell'
assert_eq x "$("$RUN" echo x)"
capture "$RUN" test a = b
assert_status 1
assert_empty "$TMP/err"

it 'gives the exit status of the program'
capture "$RUN" /bin/sh -c 'exit 3'
assert_status 3
for signal in KILL SEGV TERM; do
	capture "$RUN" /bin/sh -c "kill -$signal \$\$"
	assert_status $((128 + $(kill -l $signal)))
done

it 'leaves stdin to the program'
assert_eq 'in
put' "$(printf 'in\nput\n' | "$RUN" cat)"

it 'leaves the rest of the environment alone'
check_environment() { # VARIABLE...: env -i VARIABLE... shows the same
	env -i PATH="$PATH" "$@" env -0 | sort -z >native
	env -i PATH="$PATH" "$@" "$RUN" env -0 |
		grep -zav -e '^SWIZZLE_' -e '^LD_PRELOAD=' | sort -z >ours
	cmp -s native ours || fail "the environment changed: $* became
$(tr '\0' '\n' <ours)"
}
check_environment
check_environment PWD="$HERE"
check_environment PWD=/somewhere/else
check_environment swz=1 file=a status=b value=c name=d
check_environment 'BASH_FUNC_f%%=() { echo "a  b";
 echo *; }'
check_environment 'a.b=1' 'c d=$x' '1=e' IFS=, PWD=/x 'quote=a'\''b"c'
capture env 'a.b=1' "$RUN" /bin/sh -c 'exit 5'
assert_status 5

it 'carries a user preload along with odd variables'
assert_eq "$LIBRARY:libm.so.6" "$(env 'a.b=1' LD_PRELOAD=libm.so.6 "$RUN" /bin/sh -c 'echo "$LD_PRELOAD"')"

it 'runs scripts, with and without an interpreter line'
printf '#!/bin/sh -e\necho "$LD_PRELOAD"\n' >script
printf '#!%s/script\n' "$HERE" >nested
printf '#!/usr/bin/env sh\necho "$LD_PRELOAD"\n' >by-env
printf '#!/usr/bin/env -S sh -e\necho "$LD_PRELOAD"\n' >by-env-s
printf 'echo "$LD_PRELOAD"\n' >plain
chmod +x script nested by-env by-env-s plain
for file in script nested by-env by-env-s plain; do
	assert_eq "$LIBRARY" "$("$RUN" ./$file)" "$file"
done
assert_eq "$LIBRARY" "$(PATH=.:$PATH "$RUN" script)"
printf 'tr "\\0" " " </proc/$$/cmdline' >named
chmod +x named
assert_eq "$(env ./named a)" "$("$RUN" -q ./named a)" 'how the shell is called'

it 'finds the program as execvp does'
mkdir first second
printf 'x' >first/prog
cp /bin/echo second/prog
mkdir first/dir
assert_eq hello "$(PATH=$HERE/first:$HERE/second:$PATH "$RUN" prog hello)"
cp /bin/echo here
assert_eq hello "$(PATH=:$PATH "$RUN" here hello)"

it 'refuses a library path that LD_PRELOAD cannot hold'
for name in 'a b' a:b 'a$LIB'; do
	mkdir -p "$TMP/$name"
	cp -r "$TMP/tree/." "$TMP/$name"
	capture "$TMP/$name/bin/swizzle-run" /bin/true
	assert_refused 126 'LD_PRELOAD cannot'
done

it 'says so when its library is missing'
mkdir -p "$TMP/alone/bin"
cp "$RUN" "$TMP/alone/bin"
capture "$TMP/alone/bin/swizzle-run" /bin/true
assert_refused 126 'libswizzle.so was not found'

finish

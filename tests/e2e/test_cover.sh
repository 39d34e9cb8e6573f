# shellcheck shell=bash
# -m cover: each function's first call is recorded, and no other; what swizzle-dump
# says of functions that ran and that did not; labels.
. "${BASH_SOURCE%/*}/lib.sh"
. "$TOP/tests/e2e/profiles.sh"
need perl gcov
need_targets fib siblings exceptions longjmp tailcalls threads fibers \
	return_addresses late liblate.so
RUN_OPTIONS=(-m cover)

# "FUNCTION MODULE" of all that was called.
ran_in() { # PROFILE
	"$DUMP" -q -f csv "$1" | awk -F, '
		NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
		$at["calls"] > 0 { print $at["function"], $at["module"] }' | sort
}

for program in 'fib 4' siblings 'exceptions rethrow' 'longjmp frames' tailcalls \
	threads fibers return_addresses; do
	it "the functions that -m count counts: $program"
	# shellcheck disable=SC2086 # words
	assert_same_as_native "$TARGETS/"$program
	assert_complete profile
	ran_in profile >covered
	# shellcheck disable=SC2086 # words
	"$RUN" -q -m count -o counts -- "$TARGETS/"$program >out 2>err </dev/null
	ran_in counts >counted
	[ -s counted ] || fail 'nothing was called'
	assert_same counted covered
done

it 'the same with plans of earlier starts, of this mode and of another'
export XDG_CACHE_HOME=$TMP/cache
for mode in count cover cover count; do
	"$RUN" -q -m $mode -o $mode.profile "$TARGETS/siblings" >out
	ran_in $mode.profile >$mode.ran
done
assert_same count.ran cover.ran
[ -s cover.ran ] || fail 'nothing was called'
unset XDG_CACHE_HOME

it 'a library that comes late'
assert_same_as_native "$TARGETS/late" once
ran_in profile >covered
assert_matches covered ' liblate\.so$'

it 'registers and flags are as they were'
program flags.c >flags.c
"${CC:-gcc}" -O1 -o flags flags.c || abort 'flags.c is not built'
assert_same_as_native ./flags
assert_calls profile callee 1 other 1 probe 1
assert_eq 104 "$(./flags)"

it 'a forked child has the functions that ran in it'
program forks.c >forks.c
"${CC:-gcc}" -O1 -o forks forks.c || abort 'forks.c is not built'
rm -rf d
"$RUN" -q -m cover --label test=forks --label 'color=a b' -o d/ ./forks
for file in d/*; do
	ran_in "$file" | awk '$2 == "forks" { printf "%s ", $1 } END { print "" }'
done | sort >ran
printf '%s\n' 'after both ' 'before both main ' >expected
assert_same expected ran

it 'no table says how often a function was called'
for format in text brief tree; do
	"$DUMP" -q -f $format d/* >shown 2>err
	assert_matches shown 'both'
	assert_eq 0 "$(grep -c '[0-9] calls\|  calls' shown)" $format
done
assert_matches shown '^# 5 first calls in 2 threads; later ones are not counted \(-m cover\)$'
"$DUMP" -q -f text d/* >shown
assert_matches shown '^ +runs .* function  module$'
assert_matches shown '^ +2 .*  both  forks$' # in two profiles

it 'labels are in the profiles, and those of the environment'
for file in d/*; do
	"$DUMP" -f info "$file" >info
	assert_matches info '^test: forks$'
	assert_matches info '^color: a b$'
done
SWIZZLE_LABEL=test=of_environment "$RUN" -q -m count -o labelled ./forks
"$DUMP" -f info labelled >info
assert_matches info '^test: of_environment$'
capture "$RUN" --label wrong ./forks
assert_refused 2 NAME=VALUE

it 'a process that runs, and native code when recording is stopped'
program works.c >works.c
"${CC:-gcc}" -O1 -pthread -o works works.c || abort 'works.c is not built'
mkfifo to_works
./works <to_works >works.out &
pid=$!
exec 9>to_works
wait_until grep -q ready works.out
for i in 1 2; do
	capture "$RUN" -q -m cover -o attached.$i -p $pid --for 300ms
	assert_status 0
	assert_calls attached.$i last 0
	assert_eq 0 "$("$DUMP" --ran step attached.$i >/dev/null; echo $?)"
	assert_eq 1 "$("$DUMP" --ran last attached.$i >/dev/null; echo $?)"
done
echo >&9
exec 9>&-
wait $pid
assert_eq 0 $? 'exit status'
assert_contains works.out good

# ------------------------------------------------------------------ the answers

it 'the functions that ran are those of gcov, at -O0'
program one.c >one.c
program two.cc >two.cc
for source in one.c two.cc; do
	program=${source%.*}
	compiler=${CC:-gcc}
	[ $source = one.c ] || compiler=${CXX:-g++}
	"$compiler" -O0 -g -o $program $source &&
		"$compiler" -O0 -g --coverage -o $program.gcov $source ||
		abort "$source is not built"
	./$program.gcov
	"$RUN" -q -m cover -o $program.prof ./$program
	# "CALLED NAME"; constructors and destructors have several names
	gcov -t -j $program.gcov-$source | perl -ne '
		while (/"name": "(\w+)".*?"execution_count": (\d+)/g) {
			print $2 ? 1 : 0, " $1\n" }' | sort -u >by_gcov
	"$DUMP" -q --demangle no -f lcov $program.prof |
		sed -n 's/@.*//; s/C1E/C2E/; s/D1E/D2E/; s/^FNDA:\([01]\),/\1 /p' |
		sort -u >by_us
	assert_ge "$(wc -l <by_gcov)" 6 "functions of $source"
	# (which leaves out what the compiler has made itself)
	sed 's/^[01] //' by_gcov >known
	grep -w -F -f known by_us >of_source
	assert_same by_gcov of_source
done

it 'a table of what ran and what did not'
"$DUMP" -f cover one.prof >table
assert_matches table '^ +[0-9]+ +[0-9]+ +[0-9]+ +[0-9]+ +[0-9.]+ %  one$'
assert_matches table "^ +6 +4 +2 +0 +66\\.7 %    .*/one\\.c\$"

it 'functions that never ran, the largest first'
"$DUMP" --never -F 'never' -F unused one.prof >never
assert_matches never '^# 2 functions never ran, [1-9][0-9]* bytes$'
assert_sorted <(awk '/^ *[0-9]/ { print $1 }' never) -rn
assert_matches never '^ +[0-9]+  unused  one  .*/one\.c:5$'

it 'answers for scripts'
for ask in 'leaf 0' 'never 1' 'nosuch 2' 'l* 0'; do
	capture "$DUMP" --ran "${ask% *}" one.prof
	assert_status "${ask#* }"
done
"$DUMP" --ran leaf one.prof >answer
assert_matches answer '^leaf in one: ran$'

it 'lcov takes it'
"$DUMP" -q -f lcov -o one.info one.prof
for key in FNF:6 FNH:4; do
	assert_contains one.info $key
done
if have 'genhtml' genhtml; then
	genhtml -q -o html one.info >genhtml.out 2>&1 || fail "$(cat genhtml.out)"
	assert_exists html/index.html
fi

it 'profiles of other modes say the same, but samples do not'
for mode in count profile trace; do
	rm -f other
	"$RUN" -q -m $mode -o other ./one
	assert_eq 0 "$("$DUMP" -q --ran leaf other; echo $?)" $mode
	assert_eq 1 "$("$DUMP" -q --ran never other; echo $?)" $mode
done
rm -f both both.samples
"$RUN" -q -o both ./one
assert_eq 1 "$("$DUMP" -q --ran never both; echo $?)"
"$RUN" -q -m profile -D 1 -o other ./one
capture "$DUMP" -f cover other
assert_status 1
assert_contains err 'left calls out'

it 'a sum has the functions that never ran, too'
rm -f sum
"$RUN" -q -m cover -o more ./one 1 2 3
"$DUMP" -q --merge-into sum one.prof more
"$DUMP" -q -f lcov sum | grep ^FNDA | sort >of_sum
"$DUMP" -q -f lcov one.prof more | grep ^FNDA | sort >of_both
assert_eq 0 "$("$DUMP" -q --ran unused sum; echo $?)"
assert_same of_both of_sum
assert_eq 0 "$(grep -cv ':[01],' of_sum)" # not how often
rm -f sum
"$DUMP" -q --merge-into sum one.prof
assert_eq 1 "$("$DUMP" -q --ran unused sum; echo $?)"
rm -f sum other
"$RUN" -q -m profile -o other ./one
"$DUMP" -q --merge-into sum other
capture "$DUMP" -f cover sum
assert_status 1
assert_contains err 'only the functions that were called'

it 'the tests that reach a function'
rm -rf tests && mkdir tests
"$RUN" -q -m cover --label test=few -o tests/1 ./one
"$RUN" -q -m cover --label test=many -o tests/2 ./one 1 2 3
"$RUN" -q -m cover --label test=many -o tests/3 ./one 1 2 3 4
assert_eq 'few many' "$("$DUMP" --tests-of main tests | xargs)"
assert_eq many "$("$DUMP" --tests-of unused tests)"
assert_eq few "$("$DUMP" --tests-of maybe tests)"
capture "$DUMP" --tests-of nosuch tests
assert_status 2

it 'tests that reach a function whose code has changed, of a program built anew'
rm -rf builds && mkdir -p builds/old builds/new builds/runs
program build.c >build.c
"${CC:-gcc}" -O2 -g -o builds/old/app build.c &&
	"${CC:-gcc}" -O2 -g -DNEW -o builds/new/app build.c ||
	abort 'build.c is not built'
while read -r name arguments; do
	# shellcheck disable=SC2086 # words
	"$RUN" -q -m cover --label test=$name -o builds/runs/$name builds/old/app \
		$arguments >out
	# shellcheck disable=SC2086 # words
	(exec builds/new/app $arguments) >out 2>&1 || echo $name
done >fails <<'TESTS'
one first
two second
three last first
four last second
five
TESTS
capture "$DUMP" --affected builds/old/app builds/new/app builds/runs
assert_status 0
assert_eq 'four two' "$(xargs <out)"
assert_same <(sort fails) out
assert_contains err 'other code in 1 function: second'
capture "$DUMP" --affected builds/old/app builds/old/app builds/runs
assert_status 0
assert_eq '' "$(cat out err)"
capture "$DUMP" --affected builds/new/app builds/old/app builds/runs
assert_refused 2 'no profile is of builds/new/app'
capture "$DUMP" --affected builds/old/app builds/new/app
assert_refused 2 'profiles of the old one are missing'
capture "$DUMP" --affected builds/old/app build.c builds/runs
assert_refused 2 'build.c'

it 'what ran in the old build ran in the new one, if its code is the same'
mv builds/old/app builds/old/kept # as it is where the new one took its place
for ask in 'first 0' 'last 0' 'unused 1' 'second 2' 'added 2'; do
	capture "$DUMP" -q --rebuilt builds/old/kept builds/new/app \
		--ran "${ask% *}" builds/runs
	assert_status "${ask#* }" "$ask"
done
"$DUMP" -q --rebuilt builds/old/kept builds/new/app -f lcov builds/runs >carried
assert_matches carried '^FNDA:1,first$'
assert_matches carried '^FN:9,first$' # where the new build has it
capture "$DUMP" --rebuilt builds/old/kept builds/new/app -f table builds/runs
assert_refused 2 --rebuilt
# with what the new one has run
"$RUN" -q -m cover -o builds/runs/new builds/new/app second >out 2>err || :
capture "$DUMP" -q --rebuilt builds/old/kept builds/new/app --ran second builds/runs
assert_status 0
capture "$DUMP" -q --rebuilt builds/old/kept builds/new/app --ran last builds/runs
assert_status 0

it 'the order of first calls, as linkers take it'
"$DUMP" -f order -F main -F compare -F maybe -F leaf one.prof >order
printf '%s\n' main compare maybe leaf >expected
assert_same expected order
"$DUMP" -f sections -F main -F leaf one.prof >sections
printf '.text.%s\n' main leaf >expected
assert_same expected sections
# what both runs call comes first
"$DUMP" -f order -F unused -F main -F never -F leaf one.prof more >order
assert_eq main "$(head -n 1 order)"
assert_eq 4 "$(wc -l <order)"
"$RUN" -q -m count -o other ./one
capture "$DUMP" -f order other
assert_status 1
assert_contains err '-m cover'
for linker in ld.lld ld.gold; do
	have "order files of $linker" $linker || continue
	list=--symbol-ordering-file=order
	[ $linker = ld.lld ] || list=--section-ordering-file=sections
	"$DUMP" -f order one.prof >order
	"$DUMP" -f sections one.prof >sections
	"${CC:-gcc}" -O0 -ffunction-sections -fuse-ld=${linker#ld.} -Wl,$list \
		-o ordered one.c 2>linked || fail "$(cat linked)"
	nm -n ordered | awk '/ [tT] (main|compare|maybe|leaf)$/ { print $3 }' >placed
	printf '%s\n' main compare maybe leaf >expected
	assert_same expected placed
done

finish

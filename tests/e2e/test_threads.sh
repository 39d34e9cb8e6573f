# shellcheck shell=bash
# Threads that come and go: counts exact, memory given back, names kept.
#   THREADS   how many short ones, a multiple of 40 [10000]
. "${BASH_SOURCE%/*}/lib.sh"
. "$TOP/tests/e2e/profiles.sh"
need_targets threads
THREADS=${THREADS:-10000}

it "$THREADS short threads"
assert_same_as_native "$TARGETS/threads" short "$THREADS"
assert_not_contains out 'memory grew'
assert_contains out 'code did not grow'
assert_complete profile
# thread i nests i % 20 deep: 10.5 calls on the average
assert_calls profile short_thread "$THREADS" work "$THREADS" \
	nest $((THREADS * 21 / 2)) main 1
assert_eq $((THREADS + 1)) "$("$DUMP" -f text --by thread,parts profile |
	grep -c '^# thread')" 'threads in the profile'

it 'detached threads'
assert_same_as_native "$TARGETS/threads" detached 1000
assert_readable profile
assert_calls profile detached_thread 1000 nest 4000 work 1000

it 'threads that are there together, and others in their place'
assert_same_as_native "$TARGETS/threads" together 1000
assert_contains out 'code did not grow'
assert_complete profile
assert_calls profile waiting_thread 5000 nest 20000 work 5000
if have 'no new one asks for all of them' strace; then
	capture timeout 240 strace -f -q -o log -e trace=tgkill \
		"$RUN" -q -o profile "$TARGETS/threads" together 400
	assert_status 0
	assert_le "$(grep -c 'tgkill(' log)" $((2000 * 40)) 'questions'
fi

it 'destructors of thread-specific data that call hooked functions'
assert_same_as_native "$TARGETS/threads" keys 300
assert_complete profile
destroyed=$(cat out)
assert_calls profile keyed_thread 300 destroy "$destroyed" \
	work $((destroyed + 300))
assert_eq 301 "$("$DUMP" -f text --by thread,parts profile |
	grep -c '^# thread')" 'threads in the profile'

it 'a first thread that ends before the others'
program first.c >first.c
gcc -O1 -pthread -o first first.c || abort 'no program'
RUN_OPTIONS=(-m trace -A nap@arg1/s)
assert_same_as_native ./first
RUN_OPTIONS=()
assert_complete profile
"$DUMP" -f csv --by thread profile >threads.csv
python3 - <<'END' >wrong
import csv
a, b = sorted(int(r["wall_ns"]) for r in csv.DictReader(open("threads.csv")))
if not 100e6 <= a <= b - 300e6: # 100 ms and 500
    print("walls", a, b)
END
assert_empty wrong
"$DUMP" -f calls profile >calls
assert_eq 5 "$(grep -c 'nap(arg1 = "word")' calls)" 'strings that were read'

it 'names the threads'
assert_same_as_native "$TARGETS/threads" names
assert_calls profile named_thread 4 work 12
"$DUMP" -f info profile >info
for n in 0 1 2 3; do
	assert_matches info "^ *[0-9]+ +worker-$n "
done

if have 'memcheck knows stacks of ours from those of threads' valgrind; then
	capture timeout 240 "$RUN" -q -o memcheck.profile \
		valgrind -q --error-exitcode=99 "$TARGETS/threads" names
	assert_status 0
	assert_empty err
fi

if have 'DRD, which knows one stack of a thread, comes to its end' valgrind; then
	capture timeout 240 "$RUN" -q -o drd.profile \
		valgrind -q --tool=drd "$TARGETS/threads" names
	assert_status 0
	assert_not_contains err Assertion
fi

finish

# shellcheck shell=bash
# -m sample -p: of a process that runs already all threads are sampled, be they
# thousands, and the processes below it, those that are there and those to come,
# by both engines alike.
# run: alone
. "${BASH_SOURCE%/*}/lib.sh"
. "$TOP/tests/e2e/profiles.sh"
unset SWIZZLE_MODE
TOP_TOOL=$BUILD/bin/swizzle-top

program tree.c >tree.c
gcc -O1 -pthread -o tree tree.c || fail 'cannot compile'

program many.c >many.c
gcc -O1 -pthread -o many many.c || fail 'cannot compile'

program first_ends.c >first_ends.c
gcc -O1 -pthread -o first_ends first_ends.c || fail 'cannot compile'

engines=
for engine in perf pause; do
	if "$RUN" -q -m sample --engine $engine -o try true 2>err; then
		engines="$engines $engine"
	else
		echo "not tested: --engine $engine: $(cat err)"
	fi
done
[ -n "$engines" ] || skip 'cannot sample here'

# Starts a program that waits for a line: $pid; `go` sends it.
begin() { # PROGRAM [ARG...]
	exec 7>&-
	rm -f input said
	mkfifo input
	: >said
	"$@" <input >said &
	pid=$!
	exec 7<>input
	wait_until grep -q ready said
}

go() {
	echo >&7
}

row() { # FUNCTION PROFILE: inclusive ns
	"$DUMP" -q -f csv -o - "$2" | awk -F , -v name="$1" '$7 == name { ns += $3 } END { printf "%.0f", ns }'
}

attached() { # PID: its sampler has begun
	[ -n "$(ls profiles 2>/dev/null)" ]
}

for engine in $engines; do
	it "$engine: the processes below it, there already or to come"
	rm -rf profiles
	begin ./tree
	"$RUN" -q -m sample --engine $engine -r 500 -p $pid -o profiles/ 2>err &
	sampler=$!
	wait_until attached
	sleep 0.3
	go
	wait $pid
	wait $sampler || fail "exit status $?: $(cat err)"
	# (a pause is missed where the sampler has to wait for a processor)
	least=700000000
	[ $engine = perf ] || least=600000000
	for name in in_child in_grandchild in_thread in_later_child; do
		ns=$(row $name profiles)
		assert_ge "$ns" $least "$name"
		assert_le "$ns" 1100000000 "$name"
	done

	it "$engine: what they did before is not counted"
	assert_le "$("$DUMP" -q -f csv -o - profiles | awk -F , 'NR > 1 { ns += $2 } END { printf "%.0f", ns }')" \
		4600000000 'ns of all'
	assert_eq 4 "$(find profiles -type f | wc -l)" 'profiles'

	it "$engine --no-follow: the process alone"
	rm -rf profiles
	begin ./tree
	"$RUN" -q -m sample --engine $engine --no-follow -p $pid -o profiles/ 2>err &
	sampler=$!
	wait_until attached
	sleep 0.3
	go
	wait $pid
	wait $sampler || fail "exit status $?: $(cat err)"
	assert_eq 1 "$(find profiles -type f | wc -l)" 'profiles'
	assert_eq 0 "$(row in_child profiles)" 'ns of in_child'

	it "$engine: a process of 3,000 threads, of which two work"
	begin ./many 3000
	# a look at all takes the longer the more others want the processors
	for seconds in 2 8 30; do
		rm -rf threads
		"$RUN" -q -m sample --engine $engine -p $pid --for ${seconds}s -o threads 2>err ||
			fail "exit status $?: $(cat err)"
		work=$(row work threads)
		[ "${work:-0}" -lt 100000000 ] || break
	done
	go
	wait $pid
	all=$("$DUMP" -q -f csv -o - threads | awk -F , 'NR > 1 { ns += $2 } END { printf "%.0f", ns }')
	assert_ge "$work" 100000000 'ns of work'
	assert_ge $((work * 10)) $((all * 7)) 'work is most of it'
	"$DUMP" -f info threads >info
	assert_eq 3001 "$(grep -c ' many  ' info)" 'threads'
done

for engine in $engines; do
	it "$engine: a process whose first thread ends"
	rm -rf profiles
	begin ./first_ends
	"$RUN" -q -m sample --engine $engine -p $pid --for 2s -o profiles/ 2>err &
	sampler=$!
	wait_until attached
	go
	wait $sampler || fail "exit status $?: $(cat err)"
	kill $pid
	wait $pid 2>/dev/null
	work=$(row work profiles)
	assert_ge "$work" 20000000 'ns of work'
	assert_ge $(($(row keep_working profiles) * 10)) $((work * 8)) 'work is called by keep_working'
done

it 'a process whose first thread has ended before'
begin ./first_ends
go
wait_until grep -q '^State:.Z' /proc/$pid/status
capture "$RUN" -m sample -p $pid --for 1s -o refused
assert_status 126
assert_matches err "^swizzle: -p $pid: the first thread of the process has ended"
capture "$TOP_TOOL" -b --rounds 1 -p $pid
assert_status 126
kill $pid
wait $pid 2>/dev/null

it 'swizzle-top -p shows them, too'
begin ./many 3000
"$TOP_TOOL" -b -d 1 --rounds 1 -p $pid >out 2>err || fail "exit status $?: $(cat err)"
go
wait $pid
assert_matches out ' work'
begin ./tree
"$TOP_TOOL" -b -d 0.5 -p $pid >out 2>err &
sampler=$!
sleep 0.5
go
wait $pid
wait $sampler
for name in in_child in_grandchild in_thread in_later_child; do
	assert_matches out " $name"
done

# shellcheck shell=bash
# -m sample: shares and totals are those of the program's own clock, all formats
# say the same, the program notices nothing, and what cannot be sampled is
# refused.
# run: alone
. "${BASH_SOURCE%/*}/lib.sh"
. "$TOP/tests/e2e/profiles.sh"
need python3
need_targets shares patient refused
unset SWIZZLE_MODE

# Where the kernel lets nobody take samples, pauses are all there is.
ENGINES=(pause)
if "$RUN" -q -m sample --engine perf -o try true 2>/dev/null; then
	ENGINES=(perf pause)
else
	echo 'not tested: --engine perf, which is not permitted here'
fi

# So many ns of self time are within PERMILLE of the total from MS.
assert_near() { # WHAT NS MS PERMILLE TOTAL_MS
	awk -v ns="$2" -v ms="$3" -v permille="$4" -v total="$5" 'BEGIN {
		off = ns / 1e6 - ms
		if (off < 0) off = -off
		exit !(off <= total * permille / 1000) }' </dev/null ||
		fail "$1: $2 ns, not about $3 ms of $5"
}

column() { # PROFILE FUNCTION COLUMN: of the table as csv
	"$DUMP" -q -f csv -o - "$1" |
		awk -F , -v name="$2" -v column="$3" '$7 == name { print $column }'
}

own() { # NAME: what the program says of itself, ms
	awk -v name="$1" '$1 == name { print $2 }' "$TMP/printed"
}

total_ns() { # PROFILE
	"$DUMP" -q -f csv -o - "$1" | awk -F , 'NR > 1 { sum += $2 } END { print sum }'
}

# Pauses are few: a thousandth of samples is off by more. What a process does
# after the last look at it nobody knows: a pause, and on a busy machine a turn
# of the scheduler.
permille() { # ENGINE OF_PERF OF_PAUSES
	if [ "$1" = perf ]; then echo "$2"; else echo "$3"; fi
}

for engine in "${ENGINES[@]}"; do
	it "$engine: shares and the total"
	"$RUN" -m sample --engine "$engine" -o profile "$TARGETS/shares" >printed 2>err ||
		fail "exit status $?"
	assert_empty err
	process=$(own process)
	for function in a b c; do
		assert_near "$function" "$(column profile $function 3)" \
			"$(own $function)" "$(permille $engine 30 120)" "$process"
	done
	# (the process's clock also has what it did before it executed the program: 12 ms
	# on a slow machine)
	assert_near total "$(total_ns profile)" "$process" \
		"$(permille $engine 30 60)" "$process"
	assert_ge "$(column profile main 3)" "$(($(total_ns profile) * 95 / 100))" \
		'time below main'
	"$DUMP" -f info profile >info
	assert_matches info "^engine: $engine$"
	assert_matches info '^flags: ended samples$'

	it "$engine: three threads of equal work"
	"$RUN" -q -m sample --engine "$engine" -o profile "$TARGETS/shares" threads >printed
	for function in a b c; do
		assert_near "$function" "$(column profile $function 3)" \
			"$(own $function)" "$(permille $engine 40 150)" "$(own process)"
	done
	assert_near total "$(total_ns profile)" "$(own process)" \
		"$(permille $engine 30 60)" "$(own process)"
	"$DUMP" -q --by thread -f csv -o - profile >threads
	assert_eq 5 "$(wc -l <threads)" 'lines of four threads and a heading'

	it "$engine: what waits most of the time, on a machine with much to do"
	burners=()
	for ((i = 0; i < 2 * $(nproc); i++)); do
		sh -c 'while :; do :; done' &
		burners+=($!)
	done
	"$RUN" -q -m sample --engine "$engine" -o profile "$TARGETS/shares" waits 100 >printed
	kill "${burners[@]}"
	wait "${burners[@]}" 2>/dev/null
	process=$(own process)
	assert_near 'a and b' "$(($(column profile a 3) + $(column profile b 3)))" \
		"$process" 200 "$process"
	assert_le "$(($(column profile rest 3) + 0))" "$(($(total_ns profile) / 5))" \
		'time where it only waits'

	it "$engine: nothing is interrupted"
	"$RUN" -q -m sample --engine "$engine" -r 1000 --wall -o profile \
		"$TARGETS/patient" 1500 >printed 2>err
	assert_empty err
	assert_matches printed '^waits [0-9]{2,} interrupted 0 early 0$'
	assert_ge "$(column profile work 1)" 20 'samples of the thread that works'

	it "$engine: exit status, a signal, and what the program finds"
	for status in 0 7; do
		"$RUN" -q -m sample --engine "$engine" -o profile "$TARGETS/shares" exit $status >/dev/null
		assert_eq $status $? 'exit status'
	done
	("$RUN" -q -m sample --engine "$engine" -o profile sh -c 'kill -TERM $$') 2>/dev/null
	assert_eq 143 $? 'exit status of a program that was killed'
	env -i PATH="$PATH" env >native
	env -i PATH="$PATH" "$RUN" -q -m sample --engine "$engine" -o profile env >found
	assert_same native found
	sh -c 'ls /proc/self/fd | wc -l' >native
	"$RUN" -q -m sample --engine "$engine" -o profile sh -c 'ls /proc/self/fd | wc -l' >found
	assert_same native found
	"$RUN" -q -m sample --engine "$engine" -o profile python3 -c '
import os
try:
    os.waitpid(-1, os.WNOHANG)
except ChildProcessError:
    print("no child")' >found
	assert_eq 'no child' "$(cat found)" 'children'

	it "$engine: children have profiles of their own"
	rm -rf tree
	"$RUN" -q -m sample --engine "$engine" -o tree/ sh -c \
		"'$TARGETS/shares' >one; '$TARGETS/shares' threads >two; exec '$TARGETS/shares' >three"
	"$DUMP" -q --by process -f csv -o - tree >processes
	assert_eq 3 "$(grep -v 'sh -c' processes | grep -c 'test/targets/shares')" \
		'profiles of shares'
	cat one two three >printed
	sum=$(awk '$1 == "process" { sum += $2 } END { print sum }' printed)
	assert_near 'total of the tree' "$(total_ns tree)" "$sum" \
		"$(permille $engine 20 60)" "$sum"

	it "$engine: a process that runs already"
	"$TARGETS/shares" threads >printed &
	pid=$!
	"$RUN" -q -m sample --engine "$engine" -p $pid -o profile
	assert_eq 0 $? 'exit status'
	wait $pid
	assert_ge "$(column profile b 1)" 5 'samples'
	sleep 100 &
	pid=$!
	"$RUN" -q -m sample --engine "$engine" -p $pid --for 100ms -o profile
	assert_eq 0 $? 'exit status'
	kill -0 $pid || fail 'the process has ended'
	kill $pid
	wait $pid 2>/dev/null
	assert_matches <("$DUMP" -f info profile) '^end: in order$'
done

it 'a program with many short system calls is not found in them'
program calls.c >many_calls.c
gcc -O1 -o many_calls many_calls.c
for engine in "${ENGINES[@]}"; do
	"$RUN" -q -m sample --engine "$engine" -r 500 -o profile ./many_calls >printed
	assert_near "$engine: work" "$(column profile work 2)" "$(own work)" 120 "$(own process)"
done

it 'many short threads take nothing away from the one that starts them'
if [ "${ENGINES[0]}" = perf ]; then
	"$RUN" -q -m sample -o profile "$TARGETS/shares" short 100 >printed
	assert_near a "$(column profile a 3)" "$(own a)" 60 "$(own process)"
	# (the end of a thread is not all in what the kernel counts, the less the
	# more processes there are that wait for a processor)
	assert_near total "$(total_ns profile)" "$(own process)" 60 "$(own process)"
fi

it 'the sampler of the run before has its profile for a moment longer'
"$RUN" -q -m sample -o older true
"$DUMP" -q -f csv -o older.csv older
# Holds the lock until another process has had the file open for ten looks in turn (or 20 s).
program holder.py >holder.py
python3 holder.py older >holder.out &
holder=$!
wait_until grep -q held holder.out
"$RUN" -q -m sample -o older true
wait $holder
assert_eq 0 $? 'the sampler came while the lock was held'
assert_eq older "$(echo older older.[0-9]* | sed 's/ older.\[0-9\]\*$//')" 'profiles'

it 'thousands of threads that are shorter than a period'
if [ "${ENGINES[0]}" = perf ]; then
	cat >brief.c <<-'END'
		#define _GNU_SOURCE
		#include <pthread.h>
		#include <stdio.h>
		#include <time.h>
		static long used;
		static long now(void)
		{
			struct timespec t;
			clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
			return t.tv_sec * 1000000000 + t.tv_nsec;
		}
		__attribute__((noipa)) void work(long end)
		{
			while (now() < end)
				;
		}
		static void *run(void *p)
		{
			work(300000);
			used += now();
			return p;
		}
		int main(void)
		{
			for (int i = 0; i < 3000; i++) {
				pthread_t t;
				pthread_create(&t, NULL, run, NULL);
				pthread_join(t, NULL);
			}
			printf("threads %ld.%06ld\n", (used + now()) / 1000000, (used + now()) % 1000000);
			return 0;
		}
	END
	gcc -O1 -pthread -o brief brief.c
	SWIZZLE_SUMMARY=1 "$RUN" -m sample -o profile ./brief >printed 2>err
	wait_until grep -q 'ended before' err
	assert_matches err '^swizzle: [0-9]+% of the time is in threads that ended before their first sample\. To see into them: -r 1[0-9]000$'
	# (what the kernel takes to start and end a thread is only in part its time)
	assert_near 'all threads' "$(total_ns profile)" "$(own threads)" 60 "$(own threads)"
	assert_near '[not sampled]' "$(column profile '[not sampled]' 3)" 900 100 "$(own threads)"
	"$RUN" -q -m sample -r 14000 -o often ./brief >printed
	# (the rest is where samples were lost to other work of the machine)
	assert_ge "$(column often work 3)" 150000000 'ns below work at 14 kHz'
fi

cat >deep.c <<-'END'
	#include <time.h>
	__attribute__((noipa)) long work(void)
	{
		struct timespec t;
		do
			clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
		while (t.tv_nsec < 300000000 && !t.tv_sec);
		return t.tv_nsec;
	}
	__attribute__((noipa)) long nest(int n)
	{
		volatile char room[1000];
		room[0] = 1;
		return n ? nest(n - 1) + room[0] : work();
	}
	int main(void) { return nest(40) == 0; }
END
cut_stacks() { # PROFILE
	"$DUMP" -f info "$1" | sed -n 's/^cut stacks: \([0-9]*\) .*/\1/p'
}
# Segments share pages of the file where lld or mold have linked a program.
for linker in '' -fuse-ld=lld -fuse-ld=mold; do
	it "stacks have a root $linker"
	# shellcheck disable=SC2086
	if ! gcc -O1 $linker -o deep deep.c 2>/dev/null; then
		echo "not tested: $linker"
		continue
	fi
	"$RUN" -q -m sample -o profile ./deep
	assert_ge "$(column profile main 3)" 200000000 'ns below main'
	assert_ge 10 "$(cut_stacks profile)" 'stacks that are cut'
done

cat >buffer.c <<-'END'
	long work(char *room);
	__attribute__((noipa)) long with_buffer(void) { char room[1000000]; return work(room); }
	int main(void) { return with_buffer() == 0; }
END
sed 's/work(void)/work(char *room)/; s/return t.tv_nsec/& + (long)room/; /nest/,$d' deep.c >work.c
gcc -O1 -o buffer work.c buffer.c || abort 'cannot compile'
for engine in "${ENGINES[@]}"; do
	it "$engine: stacks with a buffer that was never written to have a root"
	"$RUN" -q -m sample --engine "$engine" -o profile ./buffer
	"$DUMP" -q -f csv profile >table.csv
	assert_ge "$(column profile main 3)" $(("$(total_ns profile)" * 9 / 10)) 'ns below main'
done

# The end of a thread writes over what lies beyond the copies of its last samples.
cat >ended.c <<-'END'
	#include <pthread.h>
	long work(char *room);
	__attribute__((noipa)) void *run(void *p) { char room[400000]; return (void *)(work(room) + (long)p); }
	int main(void) {
		for (int i = 0; i < 40; i++) {
			pthread_t t;
			pthread_create(&t, 0, run, 0);
			pthread_join(t, 0);
		}
		return 0;
	}
END
cat >short.c <<-'END'
	#include <time.h>
	long work(char *room) {
		struct timespec t;
		do
			clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
		while (t.tv_nsec < 5000000);
		return t.tv_nsec + (long)room;
	}
END
gcc -O1 -pthread -o ended short.c ended.c || abort 'cannot compile'
for engine in "${ENGINES[@]}"; do
	it "$engine: stacks of threads that have ended are theirs"
	"$RUN" -q -m sample --engine "$engine" -o profile ./ended
	"$DUMP" -q -f folded profile >stacks
	assert_matches stacks ';run;work'
	grep ';work' stacks | grep -v ';run;work' >wrong
	assert_empty wrong
done

it 'deep stacks have a root'
if [ "${ENGINES[0]}" = perf ]; then
	gcc -O1 -o deep deep.c
	"$RUN" -q -m sample --stack-bytes 16384 -o profile ./deep
	# what lies beyond the copy is read from the process
	assert_ge 10 "$(cut_stacks profile)" 'stacks that are cut at 16 KB'
	# smaller copies where less memory may be locked, or more samples are taken
	"$RUN" -q -m sample -r 20000 -o profile ./deep
	bytes=$("$DUMP" -f info profile | sed -n 's/^cut stacks: .*(copies of up to \([0-9]*\) .*/\1/p')
	assert_ge "$bytes" 16384 'bytes of stack at 20 kHz'
	assert_ge 65527 "$bytes" 'bytes of stack at 20 kHz'
fi

for engine in "${ENGINES[@]}"; do
	it "$engine: stacks of a program that is hooked meanwhile have a root"
	rm -rf hooked
	"$RUN" -q -m sample --engine "$engine" -o hooked/ \
		"$RUN" -q -m profile -o calls "$TARGETS/shares" threads >printed
	assert_eq 3 "$(column calls run 1)" 'calls of run'
	total=$(total_ns hooked)
	assert_ge "$(column hooked run 3)" $((total * 8 / 10)) 'ns below run'
	assert_ge "$(column hooked start_thread 3)" $((total * 8 / 10)) 'ns below start_thread'
	"$DUMP" -f info hooked >info
	assert_ge "$(sed -n 's/^samples: \([0-9]*\).*/\1/p' info | awk '{ n += $1 } END { print int(n / 10) }')" \
		"$(sed -n 's/^cut stacks: .*, \([0-9]*\) by .*/\1/p' info | awk '{ n += $1 } END { print n }')" \
		'stacks that nothing explains'
done

it 'all formats say the same'
"$RUN" -q -m sample --no-wall -o plain "$TARGETS/shares" threads >/dev/null
"$DUMP" -q -f text plain >all.text
assert_matches all.text '^ *samples +self +incl +function  module$'
"$RUN" -q -m sample -o profile "$TARGETS/shares" threads >/dev/null
for format in text tree; do
	"$DUMP" -q -f $format -s waiting -o all.$format profile || fail "$format"
done
for format in csv callgrind json pprof folded speedscope; do
	"$DUMP" -q -f $format -o all.$format profile || fail "$format"
done
"$DUMP" -q -f dot --percent-limit 0 -o all.dot profile
"$DUMP" -q -f folded -s calls -o all.folded-calls profile
assert_matches all.text '^ *samples +self +incl +self-wait +incl-wait +function  module$'
assert_not_contains all.csv calls
assert_matches all.callgrind '^events: ns Wait samples$'
capture python3 "$TOP/tests/e2e/read_format.py" all.text tree,all.tree csv,all.csv \
	callgrind,all.callgrind json,all.json pprof,all.pprof \
	dot,all.dot,no-self folded,all.folded,names,no-calls \
	folded-calls,all.folded-calls,names,no-self \
	speedscope,all.speedscope,names,no-calls
assert_status 0
assert_empty out
"$DUMP" -q --by module -f csv -o - profile >modules
assert_matches modules '^samples,self_ns,'

it 'lines: what was hit in them, and the stacks that they are in'
# Multiplications that wait for each other: how fast a loop of additions to memory is
# depends on where the loop lies.
cat >lines.c <<-'END'
	#define SLOW __asm__ volatile("imul %0, %0\n\timul %0, %0\n\timul %0, %0" : "+r"(sink))
	static inline __attribute__((always_inline)) void spin(long n, unsigned long sink)
	{
		for (long i = 0; i < n; i++) SLOW;
	}
	__attribute__((noipa)) void work(unsigned long sink)
	{
		for (long i = 0; i < 100000; i++) SLOW;
		spin(200000, sink);
		for (long i = 0; i < 300000; i++) SLOW;
	}
	__attribute__((noipa)) int nest(int n)
	{
		if (!n)
			work(3);
		return n && nest(n - 1);
	}
	int main(void)
	{
		for (int i = 0; i < 120; i++) {
			work(3);
			nest(3);
			nest(5);
		}
		return 0;
	}
END
gcc -g -O1 -o lines lines.c
# 2,500 samples: half of these are half by chance to within one in a hundred
"$RUN" -q -m sample -r 5000 -o profile ./lines
line() { # COLUMN LINE
	awk -F , -v column="$1" -v line="$2" '$6 ~ /lines.c$/ && $7 == line {
		print $column }' by_line.csv
}
"$DUMP" -q --by line -f csv -o by_line.csv profile
assert_matches by_line.csv '^samples,self_ns,incl_ns,.*,file,line'
total=$(total_ns profile)
ms=$((total / 1000000))
own=$((ms * 95 / 100)) # (the rest is the kernel's)
assert_near 'self of line 8' "$(line 2 8)" $((own / 6)) 40 $ms
assert_near 'self of line 4, inlined' "$(line 2 4)" $((own / 3)) 40 $ms
assert_near 'self of line 10' "$(line 2 10)" $((own / 2)) 40 $ms
assert_near 'below line 21' "$(line 3 21)" $((ms / 3)) 40 $ms
assert_near 'below line 22' "$(line 3 22)" $((ms / 3)) 40 $ms
assert_near 'below line 16, recursive' "$(line 3 16)" $((ms * 2 / 3)) 40 $ms
assert_near 'below line 15' "$(line 3 15)" $((ms * 2 / 3)) 40 $ms
assert_eq "$total" "$(awk -F , 'NR > 1 { sum += $2 } END { print sum }' by_line.csv)" 'sum of lines'
"$DUMP" -q --by file -f csv -o - profile >by_file.csv
assert_eq "$total" "$(awk -F , 'NR > 1 { sum += $2 } END { print sum }' by_file.csv)" 'sum of files'
assert_ge "$(awk -F , '$6 ~ /lines.c$/ { print $3 }' by_file.csv)" $((total * 9 / 10)) 'below the file'
# callgrind has an inlined line where it was inlined
"$DUMP" -q -f callgrind -o callgrind.out profile
assert_contains callgrind.out '# in spin, inlined at line 9'
for at in 8 10; do
	assert_matches callgrind.out "^$at $(line 2 $at) $(line 4 $at) $(line 1 $at)$"
done
cp profile embedded
"$DUMP" -q --embed embedded
"$DUMP" -q --by line -f csv -o with_file.csv embedded
assert_same with_file.csv by_line.csv
mv lines elsewhere
"$DUMP" -q --by line -f csv -o by_line.csv embedded
assert_same with_file.csv by_line.csv

it 'programs that cannot have a library loaded'
echo 'int main(void) { for (volatile long i = 0; i < 200000000; i++); return 4; }' >static.c
if gcc -O1 -static -o static static.c 2>/dev/null; then
	"$RUN" -q -m sample -o profile ./static
	assert_eq 4 $? 'exit status of a static program'
	assert_ge "$(column profile main 1)" 5 'samples of main'
	strip static
	"$RUN" -q -m sample -o profile ./static
	assert_eq 4 $? 'exit status of a stripped program'
	assert_ge "$("$DUMP" -q -f csv -o - profile | awk -F , 'NR > 1 { n += $1 } END { print n }')" \
		5 'samples of a stripped program'
fi
if have 'musl' musl-gcc; then
	musl-gcc -O1 -o musl static.c
	"$RUN" -q -m sample -o profile ./musl
	assert_eq 4 $? 'exit status with musl'
	assert_ge "$(column profile main 1)" 5 'samples of main'
	assert_ge 2 "$("$DUMP" -f info profile | sed -n 's/^cut stacks: .*, \([0-9]*\) by .*/\1/p')" \
		'stacks without a root'
fi

if have 'Go' go; then
	cat >recursive.go <<-'END'
		package main

		import "os"

		//go:noinline
		func fib(n int) int {
			if n < 2 {
				return n
			}
			return fib(n-1) + fib(n-2)
		}

		func main() {
			c := make(chan int)
			for i := 0; i < 3; i++ {
				go func() { c <- fib(36) }()
			}
			os.Exit((<-c + <-c + <-c) % 7)
		}
	END
	GOCACHE=$PWD/cache GO111MODULE=off go build -o recursive recursive.go
	./recursive
	status=$?
	"$RUN" -q -m sample -o profile ./recursive
	assert_eq $status $? 'exit status of a Go program'
	assert_ge "$(column profile main.fib 3)" $(("$(total_ns profile)" * 8 / 10)) 'ns below fib'
	strip recursive
	"$RUN" -q -m sample -o profile ./recursive
	assert_eq $status $? 'exit status of a stripped Go program'
fi

it 'an event that the machine does not have'
# (whether it has it, perf_event_open says, also in virtual machines)
capture "$RUN" -q -m sample --event cycles -o profile "$TARGETS/shares"
if [ "$status" -eq 126 ]; then
	assert_contains err 'swizzle: cannot sample: --engine perf --event cycles: '
	assert_empty out
else
	assert_status 0
	assert_ge "$(total_ns profile)" 500000000 'ns by cycles'
fi

it 'a program that gains privileges'
if [ "$(id -u)" -eq 0 ] && nobody_executes "$RUN" "$TARGETS/shares"; then
	chmod 777 .
	cp "$TARGETS/shares" gains
	chmod 4755 gains
	capture setpriv --reuid 65534 --regid 65534 --clear-groups "$RUN" -m sample ./gains
	assert_refused 126 'setuid'
else
	echo 'not tested: setuid'
fi

it 'an ordinary user'
if [ "$(id -u)" -eq 0 ] && nobody_executes "$RUN" "$TARGETS/shares" && [ "${ENGINES[0]}" = perf ]; then
	chmod 777 .
	for engine in "${ENGINES[@]}"; do
		setpriv --reuid 65534 --regid 65534 --clear-groups "$RUN" -q -m sample \
			--engine $engine -o by_nobody.$engine "$TARGETS/shares" >printed
		assert_near a "$(column by_nobody.$engine a 3)" "$(own a)" \
			"$(permille $engine 40 120)" "$(own process)"
		assert_near total "$(total_ns by_nobody.$engine)" "$(own process)" \
			"$(permille $engine 30 60)" "$(own process)"
	done
	sleep 100 &
	pid=$!
	capture setpriv --reuid 65534 --regid 65534 --clear-groups "$RUN" -m sample -p $pid
	assert_status 126
	assert_contains err "swizzle: -p $pid: the process belongs to another user"
	kill $pid
	wait $pid 2>/dev/null
else
	echo 'not tested: another user'
fi

refuses() { # STATUS TEXT ARGUMENT...
	local status=$1 text=$2
	shift 2
	rm -f started
	capture "$RUN" "$@"
	assert_refused "$status" "$text"
	assert_missing started
}

it 'wrong usage'
for rate in 0 20001 1e9 -1 x 99999999999999; do
	refuses 2 'is not a number from 1 to 20000' -m sample -r "$rate" touch started
done
refuses 2 'unknown engine' -m sample --engine fast touch started
refuses 2 'unknown event' -m sample --event branches touch started
refuses 2 'is not a number from 512 to 65528' -m sample --stack-bytes 5 touch started
refuses 2 'option -F is not for --mode sample' -m sample -F main touch started
refuses 2 'option -r is for --mode sample and both only' -m profile -r 5 touch started
refuses 2 'option --for is for -p only' -m sample --for 1s touch started
refuses 2 'option --for is for -p only' --for 1s touch started
for wrong in soon 0 1.2.3s . 5x -1s 2y 40000h; do
	refuses 2 'is not a time' -m sample -p $$ --for=$wrong
done
refuses 2 'either a process or a program' -m sample -p $$ touch started
refuses 126 'there is no such process' -m sample -p 4194303
python3 -c '
import os, time
child = os.fork()
if not child:
    os._exit(0)
print(child, flush=True)
time.sleep(100)' >zombie &
pid=$!
is_zombie() { grep -qs '^State:.Z' "/proc/$(cat zombie 2>/dev/null)/status"; }
wait_until is_zombie || fail 'it is no zombie'
refuses 126 'the process has ended' -m sample -p "$(cat zombie)"
kill $pid
refuses 2 'no program given' -m sample
cp "$TARGETS/shares" ./i386
printf '\001' | dd of=i386 bs=1 seek=4 conv=notrunc 2>/dev/null
refuses 126 '32-bit' -m sample ./i386
if cc -m32 -nostdlib -static -Wl,-e,main -o of32bits -x c - 2>/dev/null <<'END'; then
void main(void) { for (;;) __asm__ volatile("int $0x80" : : "a"(162), "b"((long[]){20, 0}), "c"(0)); }
END
	./of32bits &
	pid=$!
	if wait_while_it_runs $pid grep -q -s of32bits /proc/$pid/comm; then
		refuses 126 'runs a 32-bit program, which cannot be profiled' -m sample -p $pid
		capture "$BUILD/bin/swizzle-top" -b --rounds 1 -p $pid
		assert_status 126
	else
		echo 'not tested: a program of 32 bits, which this kernel does not execute'
	fi
	kill $pid 2>/dev/null
	wait $pid 2>/dev/null
fi
refuses 127 'not found' -m sample ./nothing

it 'where perf is refused there are pauses, and a line says why'
"$TARGETS/refused" perf "$RUN" -m sample -o profile "$TARGETS/shares" >printed 2>err
status=$?
if [ $status -eq 77 ]; then
	echo 'not tested: a refusal, without seccomp'
else
	assert_eq 0 $status 'exit status'
	assert_eq 1 "$(wc -l <err)" 'lines'
	assert_matches err '^swizzle: sampling by pauses \(--engine pause\): perf_event_open is not permitted '
	assert_matches <("$DUMP" -f info profile) '^engine: pause$'
	assert_near total "$(total_ns profile)" "$(own process)" 60 "$(own process)"
	refused=("$TARGETS/refused" perf)
	capture "${refused[@]}" "$RUN" -m sample --engine perf touch started
	assert_refused 126 'perf_event_open is not permitted'
	assert_missing started
	capture "$TARGETS/refused" both "$RUN" -m sample touch started
	assert_status 126
	assert_contains err 'cannot sample: perf_event_open is not permitted'
	assert_contains err '; --engine pause: ptrace is not permitted'
	assert_missing started
fi

it 'a process that outlives the program is sampled to its end'
"$RUN" -q -m sample -o outlives/ sh -c "'$TARGETS/shares' >printed & exit 3"
assert_eq 3 $? 'exit status'
wait_until sh -c "'$DUMP' -q -f info outlives/* | grep -c '^end: in order' | grep -q 2"
assert_near total "$(total_ns outlives)" "$(own process)" 25 "$(own process)"

it 'a program that ends at once has its command'
for engine in perf pause; do
	[ $engine = pause ] || "$RUN" -q -m sample --engine perf -o short true 2>/dev/null ||
		continue
	for ((i = 0; i < 3; i++)); do
		"$RUN" -q -m sample --engine $engine -o short true one two
		"$DUMP" -q -f info short >out
		assert_contains out 'command: true one two'
		assert_matches out '^executable: .*/(true|coreutils|busybox)$'
		assert_matches out "^directory: $TMP\$"
	done
done

it 'processor time is the same with and without looks at who waits'
"$RUN" -q -m sample --no-wall -o unseen "$TARGETS/shares" >/dev/null
capture "$DUMP" -f text profile unseen
assert_status 0
assert_contains out '# waiting is not known of 1 of 2 threads'
assert_eq "$(sed -n "s/^# total \([0-9]*\) ns.*/\1/p" out)" "$(($(total_ns profile) + $(total_ns unseen)))" total

it 'the line that ends the run'
SWIZZLE_SUMMARY=1 "$RUN" -m sample -o profile "$TARGETS/shares" >/dev/null 2>err
wait_until test -s err
assert_matches err '^swizzle: [0-9,]+ samples of [0-9.]+ m?s processor time, 1 thread -> profile(;.*)?\. Next: swizzle-dump profile$'
finish

# shellcheck shell=bash
# --flows: what wakes what, beside what the programs say of it themselves.
. "${BASH_SOURCE%/*}/lib.sh"
. "$TOP/tests/e2e/profiles.sh"
need python3
need_targets flows

FLOWS=$TOP/tests/e2e/read_flows.py
PARTS='threads conditions locks semaphores pipes streams sockets numbers
	programs signals'

record() { # DIR PROGRAM...: its output goes to DIR.out
	local dir=$1
	shift
	rm -rf "$dir"
	timeout 120 "$RUN" -q -m trace --flows -o "$dir/" "$@" >"$dir.out" ||
		fail "$*: status $?"
}

dump() { # FORMAT DIR: to DIR.FORMAT, what is said to DIR.err
	"$DUMP" -f "$1" -o "$2.$1" "$2"/* 2>"$2.err" || fail "$1: status $?"
	python3 "$FLOWS" "$1" "$2.$1" >"$2.arrows" 2>err ||
		fail "$1: $(tail -n 1 err)"
}

# "cause > effect N" of the program, as "woken by cause: N".
expected() { # FILE
	awk '$2 == ">" { n[$1] += $4 }
		END { for (c in n) print "woken by " c ": " n[c] }' "$1" | sort
}

for part in $PARTS; do
	it "$part: as many as the program says, and all of them certain"
	record "$part" "$TARGETS/flows" "$part"
	dump calls "$part"
	expected "$part.out" >want
	[ -s want ] || fail 'the program says nothing'
	# who of its two threads has to wait for the lock is up to the scheduler
	[ "$part" = conditions ] &&
		sed -i -E '/by pthread_(cond_wait|mutex_unlock):/d' "$part.arrows"
	sort "$part.arrows" >got
	assert_same want got
	assert_empty "$part.err"
done

pairs() { # CAUSE EFFECT NUMBER [CAUSES FOR EACH EFFECT]
	for ((i = 0; i < $3; i++)); do
		echo "$1 $i > $2 $((i / ${4:-1}))"
	done
}

assert_pairs() { # PART CAUSE EFFECT NUMBER [...]: of this cause
	sed 's/\<__//g' "$1.arrows" | grep "^$2 [0-9]* > $3" >got
	pairs "$2" "$3" "$4" "${5:-1}" >want
	assert_same want got
}

for format in chrome perfetto; do
	it "$format: each arrow leads from the one call to the other"
	for part in pipes streams sockets numbers signals locks semaphores threads; do
		dump $format "$part"
	done
	assert_pairs pipes write read 20 2
	assert_pairs streams write read 3
	assert_pairs sockets write recv 20
	assert_pairs sockets send read 20
	assert_pairs numbers write read 4
	assert_pairs signals kill handle 3
	# (pthread_create locks and unlocks, too)
	sed 's/\<__//g' locks.arrows | grep '^pthread_mutex_unlock' >got
	echo 'pthread_mutex_unlock 1 > pthread_mutex_lock 0' >want
	assert_same want got
	# the second wait is the one that has waited
	sed 's/\<__//g' semaphores.arrows | grep '^sem_post' >got
	echo 'sem_post 0 > sem_wait 1' >want
	assert_same want got
	for i in 0 1 2; do
		echo "pthread_create $i > runs 0"
	done >want
	sed 's/\<__//g' threads.arrows | grep ^pthread_create >got
	assert_same want got
done

it 'writers that overlap: what is left is right, and the rest is counted'
record contended "$TARGETS/flows" contended
dump chrome contended
reads=$(grep -c '> read' contended.arrows)
[ "$reads" -le 400 ] || fail "$reads arrows to reads"
assert_ge "$(($(sed -n 's/.*swizzle: \([0-9]*\) flows.* overlap.*/\1/p' \
	contended.err) + reads))" 57 'reads, or arrows to them'

it 'bytes that nobody was seen to write: no arrow at all'
record unseen "$TARGETS/flows" unseen
dump chrome unseen
assert_eq 0 "$(grep -c '> read' unseen.arrows)" arrows
assert_contains unseen.err '3 flows not matched, as the other end was not recorded'

it 'a program that cannot be recorded may have the pipe, too'
cat >writes.c <<'END'
#include <unistd.h>
int main(void) { return write(7, "s", 1) != 1; }
END
program executes.c >executes.c
cc -O1 -o executes executes.c || abort 'executes.c'
cc -O1 -o linked writes.c || abort 'writes.c'
record linked.d ./executes ./linked
dump chrome linked.d
assert_eq 2 "$(grep -c '> read' linked.d.arrows)" 'arrows from what was recorded'
if cc -O1 -static -o static writes.c 2>/dev/null; then
	record static.d ./executes ./static
	dump chrome static.d
	assert_eq 0 "$(grep -c '> read' static.d.arrows)" arrows
	assert_contains static.d.err '2 flows not matched'
else
	echo 'not tested: a static program, without libc.a'
fi

it 'TCP: by the addresses of both ends'
program echo.c >echo.c
cc -O1 -o echo echo.c || abort 'echo.c'
for version in 4 6; do
	python3 -c "import socket
family = socket.AF_INET6 if $version == 6 else socket.AF_INET
socket.socket(family).bind(('::1' if $version == 6 else '127.0.0.1', 0))" \
		2>/dev/null || continue
	record tcp ./echo $version
	dump perfetto tcp
	assert_eq 60 "$(grep -c 'send [0-9]* > .*recv [0-9]*$' tcp.arrows)" \
		"arrows of IPv$version"
done

it 'a process that was recorded has a cause, but for the first'
cat >pool.py <<'END'
import multiprocessing
def square(x):
    return x * x
if __name__ == '__main__':
    with multiprocessing.Pool(2) as pool:
        assert sum(pool.map(square, range(50))) == 40425
END
record pool /usr/bin/python3 pool.py
dump calls pool
count=$(awk -F ': ' '/by (fork|exec)/ { n += $2 } END { print n + 0 }' pool.arrows)
set -- pool/*
assert_ge $# 3 profiles
assert_eq "$count" $(($# - 1)) 'causes'
assert_ge "$(awk -F ': ' '/by write/ { print $2 }' pool.arrows)" 4 'writes'
if have 'a jobserver' make; then
	printf 'all: a b c\na b c:; @true $@; sleep 0.05\n' >Makefile
	record jobs make -s -j2
	dump calls jobs
	count=$(awk -F ': ' '/by (fork|exec)/ { n += $2 } END { print n }' \
		jobs.arrows)
	set -- jobs/*
	assert_ge $# 4 profiles
	# a forked child that executes has one of each
	assert_eq "$count" $(($# - 1)) causes
fi

it 'calls that were not recorded: nothing is said of data'
"$RUN" -q -m trace --flows -F pipes -o filtered/ "$TARGETS/flows" pipes >/dev/null
dump calls filtered
assert_eq '' "$(grep 'by write' filtered.arrows)" arrows
assert_contains filtered.err 'calls are missing in the traces'

it 'without --flows there are none'
"$RUN" -q -m trace -o plain/ "$TARGETS/flows" pipes >/dev/null
for format in chrome perfetto calls; do
	dump $format plain
	assert_empty plain.err
	[ ! -s plain.arrows ] || [ -z "$(cat plain.arrows)" ] ||
		fail "$format: $(head -n 1 plain.arrows)"
done

it 'another mode, a process that runs'
capture "$RUN" -m profile --flows true
assert_status 2
assert_contains err '--flows'
capture "$RUN" -m trace --flows -p $$
assert_status 2
assert_contains err '--flows'
finish

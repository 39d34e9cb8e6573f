# shellcheck shell=bash
# Each system call that can wait, in a thread of its own, while threads are stopped
# again and again: none sees EINTR, none is cut short, no time limit begins anew.
. "${BASH_SOURCE%/*}/lib.sh"
. "$TOP/tests/e2e/profiles.sh"
need_targets blocking
# Those that a kernel may lack, or not permit.
MAYBE='^(epoll_pwait2|futex_waitv|io_getevents|io_getevents-all|io_uring_enter|mq_timedreceive|mq_timedsend|write-terminal)$'

begin_rows() { # COMMAND...: $program prints its rows when it is told to end
	rm -f input printed
	mkfifo input
	"$@" <input >printed 2>program.err &
	program=$!
	exec 8>input
	wait_until grep -sqx ready printed
}

end_rows() {
	exec 8>&-
	wait $program
	assert_eq 0 $? "the program's exit status"
	assert_eq 66 "$(grep -cv '^ready$' printed)" rows
	while read -r row word rounds rest; do
		case $word in
		absent)
			[[ $row =~ $MAYBE ]] || fail "$row is absent"
			;;
		rounds)
			[ "$rounds" -gt 0 ] || fail "$row: never done"
			assert_eq 'eintr 0 short 0 late 0 early 0 wrong 0' "$rest" "$row"
			;;
		esac
	done <printed
}

it 'attached to, and detached from'
begin_rows "$TARGETS/blocking"
for round in 1 2 3 4 5 6 7 8 9 10 11 12; do
	capture "$RUN" -q -p $program --for 200ms -o "profile.$round"
	assert_status 0
done
end_rows

it 'recording is stopped and started'
begin_rows "$RUN" -q -o profile.ctl "$TARGETS/blocking"
for round in 1 2 3 4 5 6 7 8 9 10 11 12; do
	capture "$BUILD/bin/swizzle-ctl" stop $program
	assert_status 0
	capture "$BUILD/bin/swizzle-ctl" start $program
	assert_status 0
done
end_rows

it 'threads that wait while children of another one end, sampled by pauses'
program parents.c >parents.c
cc -O1 -pthread -o parents parents.c || abort 'no program'
./parents >parents.out &
program=$!
wait_until grep -sqx ready parents.out
for round in 1 2; do
	capture "$RUN" -q -m sample --engine pause -r 1000 -p $program --for 3s \
		-o "parents.$round"
	assert_status 0
done
: >stop.parents
wait $program
assert_eq 0 $? "the program's exit status"
# (a signal may come in the last 20 us of a pause)
assert_le "$(sed -n 's/^eintr //p' parents.out)" 1 EINTR

# A writer that runs now and then, as its reader makes room: it is stopped in the midst of its write.
program writer.py >writer.py

if command -v python3 >/dev/null; then
	it 'a long write, sampled by pauses'
	python3 writer.py >written &
	program=$!
	wait_until grep -qx ready written
	for round in 1 2; do
		capture "$RUN" -q -m sample --engine pause -r 1000 -p $program --for 2s \
			-o "samples.$round"
		assert_status 0
	done
	: >stop
	wait $program
	assert_eq 0 $? "the program's exit status"
	assert_contains written 'short 0'
fi

finish

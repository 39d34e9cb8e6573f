# shellcheck shell=bash
# A run ends with one line on standard error: what was recorded, where, what is
# missing, and the next command. Nothing else of the program changes.
. "${BASH_SOURCE%/*}/lib.sh"
. "$TOP/tests/e2e/profiles.sh"
need prlimit gcc
need_targets fib contexts clones
unset SWIZZLE_SUMMARY SWIZZLE_TIMING
export SWIZZLE_MODE=profile

# The calls of all threads, as -f info has them.
info_calls() { # FILE...
	local file
	for file; do
		"$DUMP" -q -f info "$file"
	done | awk '/^ *tid  name/ { end = index($0, "calls") + 4; next }
		/^contexts:/ { end = 0 }
		end { part = substr($0, 1, end); sub(/.* /, "", part); n += part }
		END { print n + 0 }'
}

line_calls() { # FILE: what its line says
	sed -n 's/^swizzle: \([0-9,]*\) calls\{0,1\} in .*/\1/p' "$1" | tr -d ,
}

assert_one_line() { # FILE
	assert_eq 1 "$(grep -c '^swizzle: ' "$1")" "lines of ours in $1"
	assert_ge "$(line_calls "$1")" 1 'calls'
}

it 'one process: the calls, the file, the next command; its output and status are its own'
"$TARGETS/fib" >native
capture "$RUN" "$TARGETS/fib"
assert_status 0
assert_same native "$TMP/out"
assert_one_line "$TMP/err"
file=$(echo swizzle.out.*)
assert_matches "$TMP/err" \
	"^swizzle: [0-9,]+ calls in [0-9.]+ m?s, 1 thread -> $file\. Next: swizzle-dump\$"
assert_eq "$(info_calls "$file")" "$(line_calls "$TMP/err")" 'calls'
assert_matches "$TMP/err" '[0-9],[0-9][0-9][0-9] calls'
took=$("$DUMP" -f info "$file" | awk '/^duration:/ { print $2 * 1000 }')
said=$(sed 's/.* in \([0-9.]*\) \(m*s\),.*/\1 \2/' "$TMP/err" |
	awk '{ print $2 == "s" ? $1 * 1000 : $1 }')
# (to the last digit that is shown, of which there are two behind the point)
assert_eq yes "$(echo "$took $said" | awk '{ d = $1 - $2; if (d < 0) d = -d
	print(d <= ($1 < 1000 ? 0.006 : 6) ? "yes" : "no") }')" "$took ms is $said ms"
rm swizzle.out.*

it 'a program that is killed: its time lasts until then, in the profile as in the line'
"$RUN" -o killed sleep 100 >said 2>err &
killed=$!
# shellcheck disable=SC2016
wait_until sh -c 'test -e killed && grep -q "^sleep$" /proc/'$killed/comm
sleep 1
kill $killed
wait $killed
assert_eq 143 $? 'exit status'
wait_until grep -q Next err
took=$("$DUMP" -f info killed | awk '/^duration:/ { print $2 * 1000 }')
said=$(sed -n 's/.* in \([0-9.]*\) s,.*/\1/p' err)
assert_eq yes "$(echo "$took $said" | awk '{ d = $1 - $2 * 1000; if (d < 0) d = -d
	print($1 > 900 && d <= 15 ? "yes" : "no") }')" "$took ms is $said s"
assert_ge "$("$DUMP" -q -f csv killed | awk -F, 'NR > 1 && $2 + $11 > max { max = $2 + $11 }
	END { print int(max / 1000000) }')" 900 'ms in the function that waited'

it 'a program that executes another: its time ends there, if it can be executed'
rm -rf executes
capture "$RUN" -o executes/ sh -c 'exec sleep 0.3'
ends=0
for file in executes/*; do
	"$DUMP" -f raw -o raw "$file"
	assert_eq 1 "$(awk '$1 == "end_ticks" && $2 > 0 { n++ } END { print n + 0 }' raw)" "$file has an end"
	ends=$((ends + 1))
done
assert_eq 2 $ends files
rm -rf executes killed

it 'not where it is not wanted'
for option in -q --quiet --no-summary; do
	capture "$RUN" $option "$TARGETS/fib"
	assert_status 0
	assert_empty "$TMP/err"
done
SWIZZLE_SUMMARY=0 capture "$RUN" "$TARGETS/fib"
assert_empty "$TMP/err"
capture "$RUN" --list "$TARGETS/fib"
assert_empty "$TMP/err"
SWIZZLE_SUMMARY=0 capture "$RUN" --summary "$TARGETS/fib"
assert_one_line "$TMP/err"
rm -f swizzle.out.*

it 'the name as the user gave it, ready for a shell'
capture "$RUN" -o 'a b' "$TARGETS/fib"
assert_contains "$TMP/err" "-> 'a b'. Next: swizzle-dump 'a b'"
mkdir sub
capture "$RUN" -o sub/x "$TARGETS/fib"
assert_contains "$TMP/err" '-> sub/x. Next: swizzle-dump sub/x'
capture "$RUN" -o "$TMP/sub/y" "$TARGETS/fib"
assert_contains "$TMP/err" "-> $TMP/sub/y. Next: swizzle-dump $TMP/sub/y"

it 'a tree of processes: one line, of all'
capture "$RUN" -o tree/ sh -c 'ls >/dev/null; (ls >/dev/null; exit 3); exec ls'
assert_status 0
assert_one_line "$TMP/err"
count=$(ls tree | wc -l)
assert_ge "$count" 4 'profiles'
assert_contains "$TMP/err" "$count profiles -> tree/swizzle.out.*. Next: swizzle-dump tree/swizzle.out.*"
assert_eq "$(info_calls tree/*)" "$(line_calls "$TMP/err")" 'calls of all'
it 'with samples beside them it is one line, too'
capture "$RUN" -m both -o both/ sh -c 'ls >/dev/null; (ls >/dev/null; exit 3); exec ls'
assert_status 0
assert_exists both/swizzle.out.*[0-9].samples
count=$(find both -name 'swizzle.out.*' ! -name '*.samples*' | wc -l)
assert_ge "$count" 4 'profiles'
assert_matches "$TMP/err" ", $count profiles -> both/swizzle\.out\.\*\. Next: swizzle-dump both/swizzle\.out\.\*$"
it 'those of another run are not counted'
capture "$RUN" -o tree/ sh -c 'ls >/dev/null; exit 4'
assert_status 4
assert_one_line "$TMP/err"
assert_eq 2 "$(sed -n 's/.* \([0-9]*\) profiles -> tree.*/\1/p' "$TMP/err")" 'profiles'
assert_matches "$TMP/err" '-> tree/swizzle.out.[0-9]+ and 1 more .*Next: swizzle-dump tree/swizzle.out.[0-9]+$'

it 'nor those of a sampler of the same process; the next command names the file'
mkdir sampled
cd sampled || exit
capture "$RUN" -q -m sample "$RUN" "$TARGETS/fib"
assert_status 0
assert_one_line "$TMP/err"
file=$(sed -n 's/.* 1 thread -> \([^ ]*\)\. Next: swizzle-dump \(.*\)$/\1 \2/p' "$TMP/err")
assert_eq "${file% *}" "${file#* }" 'the file, twice'
assert_eq "$(info_calls "${file% *}")" "$(line_calls "$TMP/err")" 'calls'
samples=0
for profile in swizzle.out.*; do
	"$DUMP" -q -f info "$profile" | grep -q '^samples:' && samples=$((samples + 1))
done
assert_ge "$samples" 1 'profiles of samples'
cd ..

it 'what still runs'
# shellcheck disable=SC2016
capture "$RUN" -o running/ sh -c 'sleep 20 >/dev/null 2>&1 </dev/null & echo $!
	until [ -e running/swizzle.out.$!.1 ]; do :; done; exit 0'
assert_contains "$TMP/err" '1 process still runs'
kill "$(cat "$TMP/out")"

it 'what is missing'
capture "$RUN" -m trace --ring --max-size 1M -o ring "$TARGETS/fib"
assert_contains "$TMP/err" '; oldest events overwritten (--ring).'
capture "$RUN" -m trace --max-size 1M -o small "$TARGETS/fib"
assert_matches "$TMP/err" '; [0-9,]+ events not traced \(--max-size\)\.'

grouped() { # NUMBER: with commas
	echo "$1" | sed -e ':a' -e 's/\([0-9]\)\([0-9]\{3\}\)\($\|,\)/\1,\2\3/' -e 'ta'
}

# The figure of -f info, which is not 0, in these words.
assert_missing_said() { # FILE WHAT WORDS
	local count
	count=$(info_value "$1" "$2")
	assert_ge "$count" 2 "$2 of $1"
	assert_contains "$TMP/err" "; $(grouped "$count") $3. Next: "
}

it 'contexts that were folded'
capture "$RUN" --max-memory 1M -o folded "$TARGETS/contexts"
assert_missing_said folded 'folded calls' 'calls folded into other contexts (--max-memory)'

it 'calls that were lost, of no file that is full'
capture "$RUN" --no-follow -o bare "$TARGETS/clones" bare-tls 5
assert_missing_said bare 'lost calls' 'calls lost'

it 'events that had no room say why'
short() { # BOUND COMMAND...
	local bound=$1
	shift
	capture "$@"
	assert_matches "$TMP/err" "; [0-9,]+ events not traced \($bound\)\. Next: "
	"$DUMP" -f table -q short >table
	assert_contains table "had no room in the trace ($bound)"
}
short --max-size "$RUN" -m trace --max-size 1M -o short "$TARGETS/fib"
# shellcheck disable=SC2016 # for that shell; blocks of 512 bytes in dash, 1024 in bash
short 'ulimit -f' sh -c 'ulimit -f 4000; exec "$@"' - \
	"$RUN" -m trace -o short "$TARGETS/fib"
assert_contains <("$DUMP" -f info short) ' short'

it 'a full disk'
mkdir disk
on_small_disk() { # COMMAND...
	local options=(--mount)
	[ "$(id -u)" -eq 0 ] || options+=(--map-root-user)
	# shellcheck disable=SC2016 # for that shell
	unshare "${options[@]}" sh -c 'mount -t tmpfs -o size=256k none disk && {
		"$@"; status=$?; cp disk/profile copy; exit $status; }' - "$@"
}
if on_small_disk touch disk/profile 2>/dev/null; then
	capture on_small_disk "$RUN" -o disk/profile "$TARGETS/contexts"
	assert_status 0
	assert_missing_said copy 'lost calls' 'calls lost (disk full)'
	assert_eq 1 "$(grep -c ': the disk is full; calls from now on may be lost' "$TMP/err")"
	capture on_small_disk "$RUN" -m trace -o disk/profile "$TARGETS/fib"
	assert_matches "$TMP/err" 'events not traced \(disk full\)'
	assert_not_contains "$TMP/err" '--max-size'
else
	echo 'not tested: a full disk, without mount name spaces'
fi

it 'a file that may not grow'
# shellcheck disable=SC2016
capture "$RUN" --no-follow -o limited /usr/bin/python3 -c '
import os
os.system("prlimit --pid %d --fsize=2000000:2000000" % os.getpid())
import json, http.server, asyncio, email, unittest, xml.dom.minidom'
assert_status 0
assert_missing_said limited 'lost calls' 'calls lost (ulimit -f)'

# The file's header is what the line is made of: each reason, and one call.
it 'each reason, one call'
program lose.c >lose.c
cc -I "$TOP/include" -o lose lose.c || abort 'not built'
while read -r lost full words; do
	capture "$RUN" --no-follow -o forged sh -c "./lose forged $lost $full"
	assert_status 0
	assert_contains "$TMP/err" "thread -> forged; $words. Next: "
done <<'END'
1 0 1 call lost
1 1 1 call lost (disk full)
1234567 2 1,234,567 calls lost (ulimit -f)
2 3 2 calls lost (file removed or not to be opened)
0 4 the profile could not grow (no memory)
END

it 'ends by _exit, into a pipe'
[ "$(readlink -f /bin/sh)" = /usr/bin/dash ] &&
	shell=dash || shell=
if [ -n "$shell" ]; then
	"$RUN" -o by-exit dash -c 'x=1' 2>&1 | cat >"$TMP/piped"
	assert_one_line "$TMP/piped"
fi

it 'a pipe that is full, with nobody reading: the program ends as it does natively'
cat >full.py <<'END'
import os, subprocess, sys
reader, writer = os.pipe()
os.set_blocking(writer, False)
for size in 4096, 1:
    try:
        while os.write(writer, b"x" * size):
            pass
    except BlockingIOError:
        pass
os.set_blocking(writer, True)
sys.exit(subprocess.run(sys.argv[1:], stderr=writer, timeout=60).returncode)
END
for options in '' '-v' '-m sample' '-m sample -v' '-m both'; do
	# shellcheck disable=SC2086 # several words; the variable is no setting
	SWIZZLE_MDOE=x capture /usr/bin/python3 full.py "$RUN" $options -o full sh -c 'exit 7'
	assert_status 7
	wait_until test -e full || fail "$options: no profile"
	rm -f full*.samples full
done

it 'a pipe that nobody reads any more: no signal comes'
cat >unread.py <<'END'
import os, subprocess, sys
reader, writer = os.pipe()
os.close(reader)
sys.exit(subprocess.run(sys.argv[1:], stderr=writer, timeout=60).returncode)
END
for options in '' '-v' '-m sample' '-m sample -v' '-m both'; do
	# shellcheck disable=SC2086
	SWIZZLE_MDOE=x capture /usr/bin/python3 unread.py "$RUN" $options -o unread \
		sh -c 'exit 7'
	assert_status 7
	rm -f unread unread*.samples
done

it 'a name that begins with a dash can be typed'
capture "$RUN" -o -odd "$TARGETS/fib"
assert_contains "$TMP/err" ' -> ./-odd. Next: swizzle-dump ./-odd'
capture "$DUMP" -f text ./-odd
assert_status 0

it 'a program that closes standard error at its end'
capture "$RUN" -o closes sleep 0.01
assert_one_line "$TMP/err"

it 'a program that is killed: its watcher says it'
# shellcheck disable=SC2016
capture "$RUN" -o killed sh -c 'sleep 0.3; kill -9 $$'
assert_status 137
wait_until grep -q ' calls in ' "$TMP/err"
assert_one_line "$TMP/err"
assert_eq yes "$(sed 's/.* in \([0-9.]*\) \(m*s\),.*/\1 \2/' "$TMP/err" |
	awk '{ ms = $2 == "s" ? $1 * 1000 : $1; print(ms >= 299 ? "yes" : ms) }')" 'it ran 0.3 s'
it 'and once, though the process has printed it'
capture "$RUN" -o twice sh -c 'exit 0'
sleep 0.5
assert_one_line "$TMP/err"

it 'what is executed with another file as standard error: that gets no line'
capture "$RUN" -o elsewhere/ sh -c 'exec 2>log; exec true'
assert_status 0
wait_until grep -q ' calls in ' "$TMP/err" # its watcher's
assert_one_line "$TMP/err"
assert_empty log
# nor a message of another kind
capture "$RUN" -v --no-summary -o elsewhere/ sh -c 'exec 2>log; exec true'
assert_matches "$TMP/err" '^swizzle: [0-9,]+ of [0-9,]+ functions hooked'
assert_empty log
it 'standard error back where it was: it gets the line'
capture "$RUN" -o back/ sh -c 'exec 3>&2 2>log; exec sh -c "exec 2>&3 3>&-; exec true"'
assert_one_line "$TMP/err"
assert_empty log

it 'a program that has standard error closed, and gets its number for a file'
program reuse.c >reuse.c
gcc -O1 -o reuse reuse.c || abort 'not built'
for how in -q -v --summary; do
	"$RUN" $how -o reused/ ./reuse 2>&-
	assert_eq 0 $? "exit status ($how)"
	assert_eq precious "$(cat data)" "data ($how)"
	# ... nor for one of swizzle-run's
	for mode in profile sample; do
		rm -rf reused
		"$RUN" $how -m $mode -o reused/ "$TARGETS/fib" 2>&- >/dev/null
		assert_eq 0 $? "exit status ($how, $mode)"
		assert_readable reused/swizzle.out.*
	done
done

it 'the watcher is nothing that the program could notice'
# state of children, descriptors, what is done with SIGCHLD, processes of the session
# shellcheck disable=SC2016
look='read -r line </proc/$$/stat; set -- ${line##*) }; echo $9 ${11} ${14} ${15}
	read -r child </proc/$$/task/$$/children; echo "children: $child"
	ls /proc/$$/fd; grep SigIgn /proc/$$/status'
sh -c "$look" >native 2>native.err
capture "$RUN" -o looks sh -c "$look"
assert_same native "$TMP/out"
assert_contains native 'SigIgn'
(
	trap '' CHLD
	exec sh -c "$look" >native 2>native.err
)
(
	trap '' CHLD
	exec "$RUN" -o looks sh -c "$look" >ignoring 2>err
)
assert_same native ignoring

it 'a pipe is left as soon as the program leaves it'
mkfifo fifo
(cat >got && touch left) <fifo &
reader=$!
"$RUN" -o leaves sh -c 'echo here >&2; exec 2>/dev/null; exec sleep 100' 2>fifo >/dev/null &
program=$!
wait_until test -e left || fail 'the reader waits for somebody else'
kill -0 $program || fail 'the program has ended'
kill $program
wait $program $reader 2>/dev/null
assert_eq here "$(cat got)"

it 'a pipe has no line of a program that is killed, or that has closed standard error'
# shellcheck disable=SC2016
"$RUN" -o unsaid sh -c 'kill -9 $$' 2>&1 | cat >piped
assert_empty piped
assert_matches <("$DUMP" -f info unsaid) '^end: by _exit, exec or a signal$'
"$RUN" -o unsaid sort /dev/null 2>&1 | cat >piped
assert_empty piped
assert_matches <("$DUMP" -f info unsaid) '^flags: ended'
assert_ge "$(info_calls unsaid)" 1 'calls'

finish

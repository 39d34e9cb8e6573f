# shellcheck shell=bash
# -m sample: the functions of a Python 3.11 script, in place of the interpreter's
# loop: their shares, who calls them, threads, generators, C in between, names
# that are not ASCII, code that comes and goes.
# run: alone
. "${BASH_SOURCE%/*}/lib.sh"
. "$TOP/tests/e2e/profiles.sh"
. "$TOP/tests/e2e/script_shares.sh"
need python3
unset SWIZZLE_MODE
# (python3 may be a script that looks for one; Debian's is linked with the
# interpreter and stripped, others have a libpython)
PYTHONS=()
for python in "$(python3 -c 'import sys; print(sys.executable)')" /usr/bin/python3.11; do
	if [ -x "$python" ] && [ "$python" != "${PYTHONS[0]-}" ] &&
		"$python" -c 'import sys; sys.exit(sys.version_info[:2] != (3, 11))'; then
		PYTHONS+=("$python")
	fi
done
[ ${#PYTHONS[@]} -gt 0 ] || skip 'needs Python 3.11, which is not there'
PYTHON=${PYTHONS[0]}
"$RUN" -q -m sample --engine pause -o try "$PYTHON" -c 1 2>err ||
	skip "cannot sample by pauses here: $(cat err)"

SCRIPT=script.py
cat >script.py <<'END'
import sys, threading, time

own = {}

def busy(clock, ms):
    end = clock() + ms / 1000
    while clock() < end:
        spin()

def spin():
    s = 0
    for i in range(20000):
        s += i & 3
    return s

def recursing(n, ms):
    if n:
        return recursing(n - 1, ms)
    busy(time.thread_time, ms)

def through_c(n, ms):
    if n:
        return max(map(lambda x: through_c(n - 1, ms), [1]))
    busy(time.thread_time, ms)

class Thing:
    def method(self, ms):
        return sorted([3], key=lambda x: busy(time.thread_time, ms))

def generator(ms):
    for i in range(3):
        busy(time.thread_time, ms / 3)
        yield i

def generating(ms):
    for i in generator(ms):
        pass

def größe(ms):
    busy(time.thread_time, ms)

def passing(ms):
    end = time.thread_time() + ms / 1000
    i = 0
    while time.thread_time() < end:
        names = {}
        exec('def short():\n  for i in range(20000): pass\nshort()', names)

def timed(name, call):
    start = time.thread_time()
    call()
    own[name] = (time.thread_time() - start) * 1000

def in_thread():
    timed('größe', lambda: größe(300))

timed('recursing', lambda: recursing(900, 300))
timed('through_c', lambda: through_c(10, 300))
timed('Thing.method', lambda: Thing().method(300))
timed('generator', lambda: generating(300))
timed('passing', lambda: passing(300))
thread = threading.Thread(target=in_thread)
thread.start()
thread.join()
for name, ms in own.items():
    print(name, ms)
print('process', time.process_time() * 1000)
END

for python in "${PYTHONS[@]}"; do
	it "shares of functions: $python"
	SWIZZLE_SUMMARY=1 "$RUN" -m sample -r 500 -o profile "$python" script.py >printed 2>err || fail "exit status $?"
	assert_matches err '^swizzle: sampling by pauses .*script.s functions$'
	wait_until grep -q Next err
	assert_matches err ' -> profile(;.*)?[.] Next: swizzle-dump --script profile$'
	assert_shares recursing through_c Thing.method generator passing größe
	"$DUMP" -f info profile >info
	assert_matches info '^engine: pause$'
	! grep -q "without the script's functions" info || fail "$(grep without info)"

	it 'file and line'
	assert_eq "$PWD/script.py" "$(row spin 9)" 'file'
	assert_eq "$(grep -n '^def spin' script.py | cut -d : -f 1)" "$(row spin 10)" 'line'
	assert_eq "$(grep -n 'def method' script.py | cut -d : -f 1)" "$(row Thing.method 10)" 'line'
	assert_eq script.py "$(row spin 8)" 'module'

	it 'callers, through C and without it'
	"$DUMP" -q -f folded -o - profile >stacks
	grep -Eq '^_start;.*<module>.*;timed;<lambda>:[0-9]+;recursing;.*recursing;busy;spin' stacks ||
		fail 'not from the root to spin by recursing'
	line=$(grep -n 'key=lambda' script.py | cut -d : -f 1)
	grep -Eq ";Thing.method;([^;]*;)*[^;]*list_?sort[^;]*;([^;]*;)*Thing.method.<locals>.<lambda>:$line;busy;spin|;Thing.method;([^;]*;)*sub_[0-9a-f]+;([^;]*;)*Thing.method.<locals>.<lambda>:$line;busy;spin" stacks ||
		fail 'no C between Thing.method and its key'
	grep -Eq ';generating;generator;busy;spin|;generating;([^;]*;)*generator;busy;spin' stacks ||
		fail 'generator is not below generating'
	grep -Eq '^clone3?[^;]*;.*;Thread._bootstrap;.*;in_thread;timed;.*;größe;busy;spin' stacks ||
		fail 'no thread'
	it 'callers of a recursion: no lines without time and samples'
	"$DUMP" -q -f tree -F through_c -o - profile >callers
	assert_matches callers '^ *[0-9]+ .*  timed  script.py$'
	assert_eq 0 "$(awk '/^# callees/ { exit }
		/^ *[0-9]/ && !$1 && !$2 && !$3' callers | wc -l)" 'lines without anything'

	it '--script: the functions of scripts alone, with the time of the C that they call'
	assert_script_alone '^(python|lib|ld-|\\[vdso)'
	assert_eq "$(row Thing.method 3)" "$(awk -F , '$7 == "Thing.method" { print $3 }' only)" 'inclusive time'
	line=$(grep -n 'key=lambda' script.py | cut -d : -f 1)
	grep -Eq ";Thing.method;Thing.method.<locals>.<lambda>:$line;busy;spin" stacks ||
		fail 'Thing.method does not call its key'
	assert_loop_is_small _PyEval_EvalFrameDefault
done

it 'the same names embedded, and by other formats'
"$DUMP" -q -f callgrind -o profile.callgrind profile
assert_matches profile.callgrind 'spin'
"$DUMP" -q -f json -o - profile >profile.json
grep -q 'größe' profile.json || fail 'no größe in json'

it 'the table of --script: what it says of C, and a next command that keeps to scripts'
"$DUMP" -f table --script profile >out 2>err
assert_matches out '^Note: [0-9,]+ samples? of (a function|functions) that (is|are) not shown counts? at the caller[.]$'
assert_matches out ' -f tree -F spin --script profile$'
next=$(sed -n 's/^Who calls it.*: swizzle-dump //p' out)
# shellcheck disable=SC2086
"$DUMP" -q $next >tree
assert_matches tree '^# callers of spin$'

it '--script of a profile without scripts'
"$RUN" -q -o counts "$TARGETS/calls" >/dev/null
"$DUMP" -f text --script counts >out 2>err || fail "exit status $?"
assert_matches err '^swizzle: --script: no function of a script was recorded[.] '

it 'a process that runs already'
"$PYTHON" script.py >printed &
pid=$!
sleep 0.2
"$RUN" -q -m sample -r 500 -p $pid -o profile
wait $pid
assert_ge "$(row spin 2)" 100000000 'ns of spin'

it 'threads that wait'
cat >waits.py <<'END'
import threading, time
def waiting():
    time.sleep(0.5)
threads = [threading.Thread(target=waiting) for i in range(2)]
[t.start() for t in threads]
[t.join() for t in threads]
END
"$RUN" -q -m sample --wall -o profile "$PYTHON" waits.py
"$DUMP" -q -f csv -o - profile | awk -F , '$7 == "waiting" { ns += $3 }
	END { exit !(ns > 700e6 && ns < 1300e6) }' || fail "$("$DUMP" -q -f csv -o - profile)"

it 'a child, and a forked one'
cat >forks.py <<'END'
import os, time
def work(ms):
    end = time.process_time() + ms / 1000
    while time.process_time() < end:
        for i in range(1000): pass
if os.fork() == 0:
    work(300)
    os._exit(0)
os.wait()
END
rm -rf tree
"$RUN" -q -m sample -r 500 -o tree/ "$PYTHON" forks.py
"$DUMP" -q -f csv -o - tree >rows
awk -F , '$7 == "work" { ns += $3 } END { exit !(ns > 150e6) }' rows ||
	fail "no work in the child: $(cat rows)"

if have 'a program that has Python for extensions' gdb &&
	ldd "$(command -v gdb)" | grep -q 'libpython3[.]11' &&
	"$RUN" -q -m sample --engine perf -o profile true 2>/dev/null; then
	"$RUN" -q -m sample -o profile gdb -q -nx -batch -ex 'python print(1)' >printed
	assert_matches <("$DUMP" -f info profile) '^engine: perf$'
	"$RUN" -q -m sample --engine pause -o profile gdb -q -nx -batch -ex 'python print(1)' >printed
	assert_matches <("$DUMP" -f info profile) '^engine: pause$'
fi

it 'started by a shell script: a line says that it takes pauses'
printf '#!/bin/sh\n"$@"\n:\n' >starts
chmod +x starts
export SWIZZLE_SUMMARY=1
if "$RUN" -q -m sample --engine perf -o profile true 2>/dev/null; then
	rm -rf tree
	"$RUN" -m sample -o tree/ ./starts "$PYTHON" script.py >printed 2>err
	assert_matches err '^swizzle: [0-9]+% of the samples are in .* and show its C functions[.] To see the script.s functions: .* --engine pause$'
	"$DUMP" -f text --script tree >out 2>err
	assert_contains err '--engine pause'
	"$RUN" -m sample --engine perf -o profile "$PYTHON" script.py >printed 2>err
	assert_not_contains err 'C functions'
fi
rm -rf tree
"$RUN" -m sample --engine pause -o tree/ ./starts "$PYTHON" script.py >printed 2>err
assert_not_contains err 'C functions'
"$DUMP" -f text --script tree >out 2>err
assert_matches out ' spin '
export SWIZZLE_SUMMARY=0

it 'with perf there are C functions'
if "$RUN" -q -m sample --engine perf -o profile "$PYTHON" -c 'for i in range(3000000): pass' 2>/dev/null; then
	"$DUMP" -q -f csv -o - profile >rows
	assert_matches rows '_PyEval_EvalFrameDefault,'
fi

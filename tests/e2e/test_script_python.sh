# shellcheck shell=bash
# -m sample: the functions of a Python script, in place of the interpreter's loop:
# their shares, the stacks that the script itself sees, the lines that are executed;
# threads, generators, coroutines, exceptions, C in between, names that are not
# ASCII, code that comes and goes. By each version of Python that is there.
# run: alone
. "${BASH_SOURCE%/*}/lib.sh"
. "$TOP/tests/e2e/profiles.sh"
. "$TOP/tests/e2e/script_shares.sh"
need python3
unset SWIZZLE_MODE
# (python3 may be a script that looks for one; Debian's is linked with the
# interpreter and stripped, others have a libpython)
PYTHONS=() VERSIONS=' '
for python in "$(python3 -c 'import sys; print(sys.executable)')" \
	/usr/bin/python3.* ~/.pyenv/versions/3.*/bin/python3; do
	[ -x "$python" ] || continue
	version=$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])' 2>/dev/null) || continue
	case $VERSIONS in *" $version "*) continue ;; esac
	case $version in
	3.[6-9] | 3.1[0-5]) PYTHONS+=("$python") VERSIONS+="$version " ;;
	esac
done
[ ${#PYTHONS[@]} -gt 0 ] || skip 'needs Python 3.6 to 3.15, which is not there'
PYTHON=${PYTHONS[0]}
"$RUN" -q -m sample --engine pause -o try "$PYTHON" -c 1 2>err ||
	skip "cannot sample by pauses here: $(cat err)"

SCRIPT=script.py
program script.py >script.py

# What a version before 3.11 knows of a function is its own name.
own_name() {
	if "$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))'; then
		echo "$1"
	else
		echo "${1##*.}"
	fi
}

for python in "${PYTHONS[@]}"; do
	it "shares of functions: $python"
	PYTHONIOENCODING=utf8 SWIZZLE_SUMMARY=1 "$RUN" -m sample -r 500 -o profile "$python" script.py >printed 2>err ||
		fail "exit status $?"
	assert_matches err '^swizzle: sampling by pauses .*script.s functions$'
	wait_until grep -q Next err
	assert_matches err ' -> profile(;.*)?[.] Next: swizzle-dump --script profile$'
	method=$(own_name Thing.method)
	sed "s/^Thing.method /$method /" printed >printed.own
	mv printed.own printed
	assert_shares recursing through_c "$method" generator passing failing awaiting größe
	"$DUMP" -f info profile >info
	assert_matches info '^engine: pause$'

	it "the stacks that the script sees: $python"
	# (the script does not see the task)
	assert_stacks spin 's,\[task\];,,'

	it "file and line: $python"
	assert_eq "$PWD/script.py" "$(row spin 9)" 'file'
	assert_eq "$(grep -n '^def spin' script.py | cut -d : -f 1)" "$(row spin 10)" 'line'
	assert_eq "$(grep -n 'def method' script.py | cut -d : -f 1)" "$(row "$method" 10)" 'line'
	assert_eq script.py "$(row spin 8)" 'module'
	hot=$(grep -n 'HOT$' script.py | cut -d : -f 1)
	assert_hot_lines $((hot - 1)) "$hot"
	# (older ones enter and leave the loop for each call)
	[ "$method" != Thing.method ] || assert_loop_is_small _PyEval_EvalFrameDefault
done

python=$PYTHON
it 'callers, through C and without it'
"$RUN" -q -m sample -r 500 -o profile "$PYTHON" script.py >printed
"$DUMP" -q -f folded -o - profile >stacks
method=$(own_name Thing.method) lambda=$(own_name 'Thing.method.<locals>.<lambda>')
grep -Eq '^_start;.*<module>.*;timed;<lambda>:[0-9]+;recursing;.*recursing;busy;spin' stacks ||
	fail 'not from the root to spin by recursing'
line=$(grep -n 'key=lambda' script.py | cut -d : -f 1)
grep -Eq ";$method;([^;]*;)*(sub_[0-9a-f]+|[^;]*list_?sort[^;]*);([^;]*;)*$lambda:$line;busy;spin" stacks ||
	fail 'no C between Thing.method and its key'
grep -Eq '^([^;]*clone3?[^;]*|sub_[0-9a-f]+);.*;in_thread;timed;.*;größe;.*closure;busy;spin' stacks ||
	fail 'no thread'

it 'callers of a recursion: no lines without time and samples'
"$DUMP" -q -f tree -F through_c -o - profile >callers
assert_matches callers '^ *[0-9]+ .*  timed  script.py$'
assert_eq 0 "$(awk '/^# callees/ { exit }
	/^ *[0-9]/ && !$1 && !$2 && !$3' callers | wc -l)" 'lines without anything'

it '--script: the functions of scripts alone, with the time of the C that they call'
assert_script_alone '^(python|lib|ld-|\\[vdso)'
assert_eq "$(row "$method" 3)" "$(awk -F , -v name="$method" '$7 == name { print $3 }' only)" 'inclusive time'
grep -Eq ";$method;$lambda:$line;busy;spin" stacks ||
	fail 'Thing.method does not call its key'

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
"$RUN" -q -m profile -o counts "$TARGETS/calls" >/dev/null
"$DUMP" -f text --script counts >out 2>err || fail "exit status $?"
assert_matches err '^swizzle: --script: no function of a script was recorded[.] '

it 'a process that runs already'
"$PYTHON" script.py >printed &
pid=$!
has_begun() { # 0.1 s of its processor time: the interpreter is there
	[ "$(awk '{ print $14 }' /proc/$pid/stat)" -ge 10 ]
}
wait_until has_begun
"$RUN" -q -m sample -r 500 -p $pid -o profile
wait $pid
# (the rest of it, of which a busy machine may leave little)
assert_ge "$("$DUMP" -f info profile | awk '/^samples:/ { print $2 + 0 }')" 10 samples
assert_ge "$(row spin 3)" "$("$DUMP" -q -f csv -o - profile |
	awk -F , 'NR > 1 { sum += $2 } END { printf "%.0f", sum / 2 }')" 'ns of spin'

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
"$DUMP" -q -f csv -o - profile | awk -F , '$7 == "waiting" { ns += $12 }
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
	ldd "$(command -v gdb)" | grep -q 'libpython3[.]1[0-5]' &&
	"$RUN" -q -m sample --engine perf -o profile true 2>/dev/null; then
	cat >extends.py <<-'END'
		import time
		def extends(ms):
		    end = time.process_time() + ms / 1000
		    while time.process_time() < end:
		        for i in range(1000): pass
		extends(2000)
	END
	"$RUN" -q -m sample -o profile gdb -q -nx -batch -ex 'source extends.py' >printed
	"$DUMP" -f info profile >info
	assert_matches info '^engine: pause$'
	"$DUMP" -q -f csv --script -o - profile >rows
	awk -F , '$7 == "extends" { ns += $3 } END { exit !(ns > 1000e6) }' rows || fail "not extends: $(cat rows)"
fi

it 'a program that loads Python when it needs it, by perf until it runs a script'
library=$(find /usr/lib/x86_64-linux-gnu ~/.pyenv/versions/3.1[0-3]*/lib -maxdepth 1 -name 'libpython3.1[0-3]*.so*' 2>/dev/null | head -n 1)
if [ "$library" ] && "$RUN" -q -m sample --engine perf -o profile true 2>/dev/null; then
	"$RUN" -q -m sample -o profile "$TARGETS/embeds_python" "$library" '
import time
def spin():
    for i in range(20000): pass
def embedded(ms):
    end = time.process_time() + ms / 1000
    while time.process_time() < end: spin()
embedded(2000)' || fail "exit status $?"
	assert_matches <("$DUMP" -f info profile) '^engine: pause$'
	"$DUMP" -q -f csv --script -o - profile >rows
	awk -F , '$7 == "spin" { ns += $2 } END { exit !(ns > 1000e6 && ns < 2300e6) }' rows || fail "no spin: $(cat rows)"
	"$DUMP" -q -f folded --script -o - profile >stacks
	grep -q '^<module> ([^;]*);embedded;spin \|^<module>;embedded;spin ' stacks || fail "$(head -n 5 stacks)"
else
	echo 'not tested: no libpython, or perf is not permitted'
fi

it 'started by a shell script'
printf '#!/bin/sh\n"$@"\n:\n' >starts
chmod +x starts
for engine in '' pause; do
	rm -rf tree
	SWIZZLE_SUMMARY=1 "$RUN" -m sample ${engine:+--engine $engine} -o tree/ ./starts "$PYTHON" script.py >printed 2>err
	assert_not_contains err 'C functions'
	"$DUMP" -q -f csv --script -o only tree
	awk -F , '$7 == "spin" { ns += $2 } END { exit !(ns > 300e6) }' only || fail "no spin: $(head -n 5 only)"
done

it 'with --engine perf there are C functions'
if "$RUN" -q -m sample --engine perf -o profile "$PYTHON" -c 'for i in range(3000000): pass' 2>/dev/null; then
	"$DUMP" -q -f csv -o - profile >rows
	assert_matches rows '_PyEval_EvalFrameDefault,'
fi

it 'swizzle-top --script shows functions of scripts alone'
"$BUILD/bin/swizzle-top" --script -b --rounds 1 -d 60 "$PYTHON" script.py >shown 2>err || fail "exit status $?: $(cat err)"
assert_matches shown '^ *[0-9.]+% .* spin  script.py$'
grep -q '^            spin$' shown || fail 'spin is in no back trace'
! grep -q 'EvalFrame\|_start' shown || fail "$(grep 'EvalFrame\|_start' shown)"

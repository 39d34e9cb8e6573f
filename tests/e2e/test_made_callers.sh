# shellcheck shell=bash
# Code made at run time is not hooked, but what it calls is shown below it, by
# the name that its maker has written down.
. "${BASH_SOURCE%/*}/lib.sh"
. "$TOP/tests/e2e/profiles.sh"
need_targets made_callers
PROGRAM=$TARGETS/made_callers
MAPS=()
remove_maps() {
	local code=$?
	rm -f "${MAPS[@]}"
	(exit $code)
	at_exit
}
trap remove_maps EXIT

map_of() { # PROFILE
	echo "/tmp/perf-$(info_value "$1" pid).map"
}

record() { # HOW [OPTION...]
	local how=$1
	shift
	rm -f profile jit-*.dump
	"$RUN" -q "$@" -o profile "$PROGRAM" "$how" >printed 2>err || fail "exit status $?"
	assert_empty err
	MAPS+=("$(map_of profile)")
}

# `CALLER;CALLER;... CALLS` of each `work`, below `drive`; one line for each path.
paths() { # PROFILE
	"$DUMP" -q -f tree "$1" | awk '
		/^#/ || /function  module$/ { next }
		{
			calls = $1
			name = $0
			sub(/^ *[0-9]+ +[0-9]+ +[0-9]+ +[0-9.]+/, "", name)
			match(name, /^ +/)
			depth = RLENGTH
			name = substr(name, depth + 1)
			sub(/  [^ ]*$/, "", name)
			at[depth] = name
			if (name != "work") next
			path = ""
			for (i = depth - 2; i > 0 && at[i] != "drive"; i -= 2)
				path = at[i] (path == "" ? "" : ";" path)
			if (path ~ /^again;/) path = "again"
			sum[path] += calls
		}
		END { for (path in sum) print path, sum[path] }' | sort
}

assert_callers() { # PROFILE: as the program has counted
	paths "$1" >found
	sort printed >expected
	assert_same expected found
}

for options in '' '-m trace' '--timing sampled'; do
	for how in map dump; do
		it "by names in a $how, with '$options'"
		# shellcheck disable=SC2086
		record $how $options
		assert_callers profile
		assert_calls profile drive 7 work 28 back 10 one 0 'twice file.js:1:1' 0
		assert_eq work "$(callees_of profile one)" 'called by one'
		assert_eq inner "$(callees_of profile outer)" 'called by outer'
		assert_eq work "$(callees_of profile inner)" 'called by inner'
		assert_eq back "$(callees_of profile again)" 'called by again'
		assert_complete profile
		assert_time_is_sane profile
	done
done

it 'a depth is that of hooked functions'
record map -D 3
assert_calls profile main 1 drive 7 work 27 back 1

it 'its own time is that of what it called'
record map
dump_table profile
assert_eq 0 "$(row table self again)" 'self time of again'
assert_le "$(row table incl again)" "$(row table incl drive)" 'again, of drive'
for name in one inner again; do
	assert_ge "$(row table incl $name)" 1 "inclusive time of $name"
done
assert_matches info '^callers made at run time: 17 contexts, 0 of them without a name; names: '

it 'all formats show it'
for format in text tree folded csv json callgrind; do
	"$DUMP" -q -f "$format" -o - profile >shown
	assert_contains shown 'twice file.js:1:1'
	assert_not_contains shown 'JS:'
	assert_not_contains shown 'stale'
done
for format in $FORMATS; do
	"$DUMP" -q -f "$format" -o shown."$format" profile >shown 2>&1 || fail "-f $format: $?"
done

it 'a trace: calls by time'
record map -m trace
for format in $("$DUMP" -f help | awk '!/^(samples|asm|order|sections) / { print $1 }'); do
	"$DUMP" -q -f "$format" -o shown."$format" profile >shown 2>&1 || fail "-f $format: $?"
done

it 'names of a map are in the profile when the process has ended'
record map
rm "$(map_of profile)"
assert_callers profile
assert_complete profile
assert_matches info '^callers made at run time: 17 contexts, .*; names: in the profile$'
"$DUMP" -q -f raw profile >raw
assert_matches raw '^ +[0-9a-f]+ 12 JS:\*twice file.js:1:1$'

it 'others can be put there'
record dump
assert_complete profile
assert_matches info '^callers made at run time: 17 contexts, .*; names: in files that the process has left$'
cp profile kept
"$DUMP" -q -f archive -o archive profile
"$DUMP" -q --embed profile
rm jit-*.dump
assert_callers profile
assert_callers archive
assert_eq '' "$(paths kept | grep '^one')" 'without the file'
"$DUMP" -q -f raw profile >raw
assert_matches raw '^ +[0-9a-f]+ 1 twice file.js:1:1$'

it 'without names it is one row'
record none
assert_complete profile
assert_matches info '^callers made at run time: 16 contexts, 16 of them without a name; names: none$'
assert_eq '[code made at run time] 27
again 1' "$(paths profile | sed 's/^\[code made at run time\];.* 1$/again 1/' | LC_ALL=C sort)" 'paths'

it 'of a process that goes on, and is killed'
rm -f profile printed
"$RUN" -q -o profile "$PROGRAM" map 60 >printed &
pid=$!
wait_until grep -qs '^again' printed || fail 'it does not go on'
MAPS+=("/tmp/perf-$pid.map")
assert_callers profile
kill -9 $pid
wait $pid 2>/dev/null || true
assert_callers profile

it 'a map of another process that had this number is not read'
touch -d '2 days ago' "/tmp/perf-$pid.map"
assert_eq '' "$(paths profile | grep '^one')" 'by the old map'

if have 'the functions of JavaScript' node; then
	cat >app.js <<'END'
const fs = require('fs')
function inner(i) { return fs.existsSync('/nothing' + (i & 7)) }
function outer(n) { let c = 0; for (let i = 0; i < n; i++) c += inner(i) ? 1 : 0; return c }
function other(n) { let c = 0; for (let i = 0; i < n; i++) c += fs.statSync('/').size & 1; return c }
outer(3000); other(2000)
END
	calls_below() { # PROFILE FUNCTION CALLEE
		"$DUMP" -q -f tree "$1" | awk -v want="$2" -v callee="$3" '
			/^#/ || /function  module$/ { next }
			{
				calls = $1
				name = $0
				sub(/^ *[0-9]+ +[0-9]+ +[0-9]+ +[0-9.]+/, "", name)
				match(name, /^ +/)
				depth = RLENGTH
				name = substr(name, depth + 1)
				if (inside && depth <= inside) inside = 0
				if (!inside && index(name, want "  ") == 1) inside = depth
				if (inside && index(name, callee "  ") == 1) sum += calls
			}
			END { print sum + 0 }'
	}
	# (Debian's node has V8's built-in code without its symbol: docs/interpreters.md)
	node=$(node -p process.execPath)
	libnode=$(ldd "$node" | awk '/libnode/ { print $3 }')
	if nm "$node" $libnode 2>/dev/null | grep -w v8_Default_embedded_blob_code_ >/dev/null; then
		TRIED=('' '' '-m trace') # the second one has a plan of the first
	else
		echo "not tested: what JavaScript functions call, with a node whose built-in code is stripped"
		TRIED=()
	fi
	for options in "${TRIED[@]}"; do
		it "node: what a function calls, with '$options'"
		rm -f profile
		# shellcheck disable=SC2086
		"$RUN" -q $options -o profile node --perf-basic-prof \
			--interpreted-frames-native-stack app.js || fail "exit status $?"
		MAPS+=("$(map_of profile)")
		# (the compiler may put inner into outer)
		assert_eq 3000 "$(calls_below profile "outer $PWD/app.js:3:15" uv_fs_access)" 'below outer'
		assert_eq 0 "$(calls_below profile "other $PWD/app.js:4:15" uv_fs_access)" 'below other'
		assert_eq 2000 "$(calls_below profile "other $PWD/app.js:4:15" uv_fs_stat)" 'below other'
	done
	it 'node without its options: one row, and a line that says which'
	"$RUN" -q -o profile node app.js
	"$DUMP" -f text profile >shown 2>err
	# (before 20 it runs such a script in code of its own file)
	if [ "$(node -p 'parseInt(process.versions.node)')" -ge 20 ]; then
		assert_contains shown '[code made at run time]'
		if grep -q interprets err; then
			assert_contains err 'add to its command: --perf-basic-prof'
		fi
	fi
fi

# (a shim for many versions would be profiled, too)
python=$(python3.12 -c 'import sys; print(sys.executable)' 2>/dev/null || true)
if [ -n "$python" ]; then
	it 'Python 3.12: its functions have their calls'
	cat >fib.py <<'END'
def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)
fib(15)
END
	rm -f profile*
	"$RUN" -q -o profile "$python" -X perf fib.py || fail "exit status $?"
	MAPS+=("$(map_of profile)")
	"$DUMP" -q -f tree profile | awk '
		was && /_PyEval_EvalFrameDefault/ { sum += $1 }
		{ was = /  py::fib:/ }
		END { print sum + 0 }' >calls
	assert_eq 1973 "$(cat calls)" 'calls of fib'
else
	echo 'not tested: python3.12 is not here'
fi

# shellcheck shell=bash
# All formats of one profile, of four threads of a C++ program, say the same:
# calls and self time of each function, names with whatever is in them. (Options,
# trees and filters: tests/unit/test_dump_*.c.)
. "${BASH_SOURCE%/*}/lib.sh"
. "$TOP/tests/e2e/profiles.sh"
need python3
need_targets workers names fib running

dump() { # OPTION...: of the file profile, into `out`; silently
	capture "$DUMP" "$@" -o - profile
	assert_status 0
	assert_empty err
}

# Each of the files is of the same functions as the text table in `table`.
assert_agree() { # FORMAT,FILE[,OPTION]...: for read_format.py
	capture python3 "$TOP/tests/e2e/read_format.py" table "$@"
	assert_status 0
	assert_empty out
}

declare -A waiting=([text]='-s waiting' [tree]='-s waiting')
all_agree() { # OPTION...: of swizzle-dump
	local format
	it "all formats $*"
	for format in text tree folded speedscope pprof csv json callgrind; do
		# shellcheck disable=SC2086
		dump -f $format ${waiting[$format]:-} "$@"
		mv out "all.$format"
	done
	for format in folded speedscope; do
		dump -f $format -s calls "$@"
		mv out "all.$format-calls"
	done
	dump -f dot --percent-limit 0 "$@"
	mv out all.dot
	mv all.text table
	assert_agree tree,all.tree csv,all.csv callgrind,all.callgrind \
		json,all.json,plain-names pprof,all.pprof,plain-names \
		dot,all.dot,no-self,plain-names \
		folded,all.folded,names,no-calls,folded-names \
		folded-calls,all.folded-calls,names,no-self,folded-names \
		speedscope,all.speedscope,names,no-calls,plain-names \
		speedscope-calls,all.speedscope-calls,names,no-self,plain-names
}

"$RUN" -o profile "$TARGETS/names" >/dev/null || abort 'no profile'
it 'names with what is special to some format'
assert_calls profile 'semi;colon' 1 'comma, 12 34' 2 'quo"te' 3 'back\\slash' 4 \
	'</script><!--' 5 'café' 6 'latin?' 7 'tab?here' 8 '%s%n\\n' 9
all_agree
"$RUN" -m trace -o traced "$TARGETS/names" >/dev/null || abort 'no profile'
"$DUMP" -f perfetto -o out traced
assert_contains out 'latin?'
assert_contains out 'café'

it 'dot: a name that is longer than graphviz has strings'
long=$(printf '%020000d' 0)
cat >long.s <<-END
	.text
	.globl f$long, g
	.type f$long, @function
	f$long:
	g:	.cfi_startproc
	lea 1(%rdi), %eax
	nop
	nop
	ret
	.cfi_endproc
	.size f$long, . - f$long
	.section .note.GNU-stack, "", @progbits
END
echo 'int g(int); int main(void) { return g(-1); }' >long.c
gcc -O1 -o long long.c long.s || abort 'no program with a long name'
"$RUN" -o longs ./long || abort 'no profile'
"$DUMP" -f dot --percent-limit 0 -o out longs
assert_matches out 'label="f0*\.\.\.\\nlong'
awk 'length > 4000' out >long_lines
assert_ge "$(wc -l <long_lines)" 1 'lines with a long name'
awk 'length > 16384' out >long_lines
assert_empty long_lines
if have 'graphviz draws it' dot; then
	dot -Tsvg out >picture 2>err || fail "$(head -c 200 err)"
fi

it 'folded: the name of a module that has functions of the same names'
# (a copy would be the same module: this one has another build-id)
id=$(readelf -n "$TARGETS/names" | sed -n 's/.*Build ID: //p')
perl -0777 -pe 'BEGIN { $id = pack("H*", shift) } s/\Q$id/~$id/e' "$id" \
	"$TARGETS/names" >'odd;name 5'
chmod +x 'odd;name 5'
"$RUN" -o odd './odd;name 5' >/dev/null || abort 'no profile'
"$DUMP" -f folded -s calls -o out profile odd
assert_contains out ';comma,_12_34 (odd:name_5) 2'
assert_not_contains out 'odd;name'

"$RUN" -o profile "$TARGETS/workers" >/dev/null || abort 'no profile'
it 'the counts of the program'
assert_calls profile work 4 shop::round 100 'shop::price(int)' 300 \
	'shop::price(double)' 100 'shop::twice<int>' 100 \
	'shop::twice<long>' 100 shop::countdown 500 shop::even 300 \
	shop::odd 200 shop::refuse 100 shop::basket::add 100
all_agree
all_agree --no-compensate --demangle=full
tid=$("$DUMP" -f info profile | awk '/worker-1/ { print $1 }')
all_agree --tid "$tid"
assert_eq 20 "$(row table calls shop::round)" 'calls in one thread'
all_agree -N shop::round

it 'no line of a library that is not hooked calls from outside'
program calling.c >calling.c
cat >called.c <<'END'
void call_in_thread(void (*function)(void));
static volatile long sum;
void called(void) { for (long i = 0; i < 10; i++) sum += i; }
int main(void) { call_in_thread(called); return 0; }
END
gcc -g -O1 -fno-optimize-sibling-calls -shared -fPIC -pthread -o libcalling.so calling.c &&
	gcc -g -O1 -o called called.c -L. -lcalling -Wl,-rpath,"$TMP" ||
	abort 'no program'
# the line at which the first cost of the call is
line_of_call() { # PROFILE
	"$DUMP" -f callgrind -o - "$1" | awk '/^fn=/ { outside = /\[outside\]|^fn=\(1\)$/ }
		outside && /^cfn=/ { called = / called$/ }
		outside && called && /^calls=/ { getline; print $1; exit }'
}
"$RUN" -q -M called -o profile ./called
assert_eq 0 "$(line_of_call profile)" 'line, library not hooked'
"$RUN" -q -F called -o profile ./called
assert_eq 4 "$(line_of_call profile)" 'line, library hooked'

"$RUN" --imports -o profile "$TARGETS/running" >/dev/null || abort 'no profile'
it 'waiting in calls that wait'
dump -f text
assert_ge "$(table_value out rest incl-wait)" 500000000 'rest(), which calls nanosleep()'
assert_le "$(table_value out rest self-wait)" 50000000 'rest() itself'
assert_le "$(table_value out nanosleep self)" 50000000 'nanosleep() runs'
assert_ge "$(table_value out nanosleep self-wait)" 500000000 'nanosleep() waits'
all_agree
all_agree --no-compensate
all_agree -H nanosleep
assert_ge "$(table_value table rest self-wait)" 500000000 'without a row of nanosleep()'

it 'calls that wait for files, devices and streams'
program waits.c >waits.c
gcc -O1 -o waits waits.c || abort 'no program'
LD_PRELOAD=$LIBSWIZZLE SWIZZLE_IMPORTS=1 SWIZZLE_QUIET=1 SWIZZLE_OUTPUT=told ./waits </dev/null
mv told.* profile || abort 'no profile'
dump -f csv --no-compensate
for name in fcntl ioctl aio_suspend tee flockfile; do
	awk -F, -v name=$name 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i }
		$at["function"] == name && $at["calls"] == 1 && $at["self_ns"] == 0 &&
			$at["self_waiting_ns"] > 0 { found = 1 }
		END { exit !found }' out || fail "$name: $(grep ",$name," out)"
done

it 'threads of which no waiting is known are named'
LD_PRELOAD=$LIBSWIZZLE SWIZZLE_QUIET=1 SWIZZLE_OUTPUT=untold ./waits </dev/null
mv untold.* untold || abort 'no profile'
for format in text table callgrind json; do
	capture "$DUMP" -f $format -o - untold
	grep -qE 'aiting (is )?not known|silent_threads' out && fail "$format of one that tells nothing"
	capture "$DUMP" -f $format -o - profile
	grep -qE 'aiting.* not known|silent_threads":[1-9]' out && fail "$format of one that tells all"
done
capture "$DUMP" -f text profile untold
assert_contains out '# waiting is not known of 1 of 2 threads: nobody looked at them'
capture "$DUMP" -f table profile untold
assert_contains out 'Note: 1 thread was not looked at: what waited in it is not known.'
capture "$DUMP" -f callgrind -o - profile untold
assert_contains out 'desc: Waiting: not known of 1 of 2 threads'
capture "$DUMP" -f json profile untold
assert_contains out '"silent_threads":1,'

finish

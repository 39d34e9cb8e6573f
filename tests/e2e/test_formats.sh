# shellcheck shell=bash
# All formats of one profile, of four threads of a C++ program, say the same:
# calls and self time of each function, names with whatever is in them, filters.
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
all_agree --no-compensate
all_agree --demangle=full
tid=$("$DUMP" -f info profile | awk '/worker-1/ { print $1 }')
all_agree --tid "$tid"
assert_eq 20 "$(row table calls shop::round)" 'calls in one thread'

it '--tid: ids, names and patterns, of which each adds its threads'
all_agree --tid worker-1
assert_eq 20 "$(row table calls shop::round)" 'calls in one thread, by its name'
all_agree --tid "$tid" --tid worker-0
assert_eq 30 "$(row table calls shop::round)" 'calls in two threads'
all_agree --tid 'worker-[01]' --tid 'worker-*'
assert_eq 30 "$(row table calls shop::round)" 'calls in two threads, by a pattern'
dump -f folded -s calls --by thread,parts --tid "$tid" --tid worker-0
assert_eq 'worker-0,worker-1' \
	"$(awk -F/ '{ print $1 }' out | sort -u | paste -s -d ,)"
for option in nobody "${tid}9" 'work?'; do
	capture "$DUMP" -f text --tid worker-1 --tid "$option" profile
	assert_status 1
	assert_empty out
	assert_contains err "swizzle: --tid '$option': there is no such thread; there are: "
	assert_contains err "$tid 'worker-1'"
	assert_contains err "'worker-0'"
done
capture "$DUMP" -f text --tid '' profile
assert_status 2

it 'folded: one thread each, by the name of the thread'
dump -f folded -s calls --by thread,parts
tids=$(awk -F/ '{ print $1 }' out | sort -u)
assert_eq 'worker "3",worker-0,worker-1,worker:_2,workers' \
	"$(echo "$tids" | paste -s -d ,)"
assert_eq 40 "$(sed -n 's,^worker "3"/[0-9]*;work;shop::round ,,p' out)"

it 'folded: a sum that awk makes'
dump -f text
total=$(sed -n 's/^# total \([0-9]*\) ns.*/\1/p' out)
dump -f folded
assert_eq "$total" "$(awk '{ sum += $NF } END { printf "%.0f", sum }' out)" total

it 'tree: who calls whom'
dump -f tree
assert_matches out '^ *100 +[0-9]+ +[0-9]+ +[0-9.]+      shop::round  workers$'
assert_matches out '^ *100 +[0-9]+ +[0-9]+ +[0-9.]+        shop::basket::add  workers$'
assert_matches out '^ *200 +[0-9]+ +[0-9]+ +[0-9.]+          shop::price\(int\)  workers$'
assert_matches out '^ *100 +[0-9]+ +[0-9]+ +[0-9.]+        shop::price\(int\)  workers$'

it 'tree: recursion as it was'
assert_eq 5 "$(grep -c -E '^ *100 .*[0-9] {8}( {2}){0,4}shop::countdown  workers$' out)"
assert_matches out '^ *100 +[0-9]+ +[0-9]+ +[0-9.]+                shop::countdown  workers$'
assert_matches out '^ *100 +[0-9]+ +[0-9]+ +[0-9.]+                shop::even  workers$'
assert_not_contains out '(folded)'

names_of() { # the function names of `out`, with their indentation
	grep -v '^#' out | grep -v '^ *calls' | grep . |
		sed -E 's/^ *([0-9]+ +){3}[0-9.]+  //; s/([^ ])  [^ ]+(  \(.*\))?$/\1/'
}

# Says which rows of `out` stand behind one that is called in the same place and
# belongs behind it, and in `in_order` how many do not.
unsorted() { # name|calls
	awk -v by="$1" '/^ *[0-9]/ {
			key = $1 + 0
			sub(/^ *[0-9]+ +[0-9]+ +[0-9]+ +[0-9.]+  /, "")
			match($0, /^ */)
			depth = RLENGTH
			for (d in before)
				if (d + 0 > depth) delete before[d]
			if (by == "name") key = substr($0, depth + 1)
			if (depth in before) {
				first = by == "name" ? before[depth] < key : before[depth] > key
				if (first) in_order++
				else if (before[depth] != key) print
			}
			before[depth] = key
		}
		END { print in_order + 0 >"in_order" }' out
}

it 'tree -s'
dump -f tree -s name
unsorted name >wrong
assert_empty wrong
assert_ge "$(cat in_order)" 10 'functions behind another one'
dump -f tree -s calls
unsorted calls >wrong
assert_empty wrong
assert_ge "$(cat in_order)" 3 'functions with fewer calls than the one before'
unsorted name >wrong
assert_ge "$(wc -l <wrong)" 1 'by calls, functions that are not sorted by name'

it 'tree -n: the contexts with most time, and what they are in'
dump -f tree -n 4
assert_eq 4 "$(names_of | wc -l)" lines
names_of >shown
dump -f tree
names_of | grep -F -x -f shown | sort -u >again
sort -u shown | assert_same again /dev/stdin

it 'tree --percent-limit'
dump -f tree
cp out whole
# more than all calls of shop::odd, whatever they took this time, and less than
# what is shown as more
most=$(awk '/  shop::odd  / && $4 > most { most = $4 } END { printf "%.2f", most }' whole)
dump -f tree --percent-limit "${most}5"
assert_not_contains out shop::odd
assert_contains out main
awk -v most="$most" '!/^ *[0-9]/ || $4 > most' whole >at_least
assert_same at_least out

it 'tree --bottom-up'
dump -f tree --bottom-up
assert_eq "$(sed -n 's/^# total \([0-9]*\) ns.*/\1/p' out)" \
	"$(grep -E '^ *([0-9]+ +){3}[0-9.]+  [^ ]' out |
		awk '{ sum += $2 } END { printf "%.0f", sum }')" 'self times'
# after its own line come the callers of a function and theirs
callers() { # FUNCTION: "calls caller" of the direct ones
	awk -v name="$1" '
		/^ *[0-9]/ {
			calls = $1
			sub(/^ *([0-9]+ +)([0-9]+ +)([0-9]+ +)[0-9.]+  /, "")
			sub(/  [^ ]+$/, "")
			if (/^[^ ]/) inside = $0 == name
			else if (inside && /^  [^ ]/) print calls, substr($0, 3)
		}' out | sort | xargs
}
assert_eq '100 shop::round 200 shop::basket::add' "$(callers 'shop::price(int)')"
assert_eq '100 shop::round 400 shop::countdown' "$(callers shop::countdown)"
assert_eq '200 shop::even' "$(callers shop::odd)"
dump -f tree --bottom-up -n 2
assert_eq 2 "$(names_of | grep -c '^[^ ]')" functions

it 'tree -F: callers and callees'
dump -f tree -F 'shop::bask*'
assert_contains out '# callers of shop::basket::add'
assert_contains out '# callees of shop::basket::add'
sed -n '/# callers/,/# callees/p' out >part
assert_matches part '^ *100 .*  shop::round  workers$'
assert_matches part '^ *100 .*    work  workers$'
sed '1,/# callees/d' out >part
assert_matches part '^ *200 .*  shop::price\(int\)  workers$'
assert_not_contains part shop::round
dump -f tree -F shop::countdown
sed '1,/# callees/d' out >part
assert_matches part '^ *500 .*  shop::countdown  workers$'
assert_eq 5 "$(grep -c '  shop::countdown  workers$' part)"
assert_eq '      100      100      100      100      500' "$(
	awk '/shop::countdown/ { print $1 }' part | sort -n | xargs printf '%9s')"

it 'tree --bottom-up: time that is below another call of the function counts once'
dump -f text
incl=$(row out incl shop::countdown)
dump -f tree --bottom-up
assert_eq "$incl" "$(awk '/[0-9]  shop::countdown  / { print $3 }' out)" inclusive

it '-H: what it called has its caller'
dump -f text
before=$(sed -n 's/^# total \([0-9]*\) ns.*/\1/p' out)
dump -f tree -H shop::round -H 'shop::bas*'
assert_not_contains out shop::round
assert_not_contains out shop::basket::add
assert_matches out '^ *300 +[0-9]+ +[0-9]+ +[0-9.]+      shop::price\(int\)  workers$'
assert_contains out "# total $before ns"

it '-N: nothing of what it called'
all_agree -N shop::round
assert_not_contains table shop::
assert_contains table "# total $before ns"
self=$(row table self work)
dump -f text
difference=$((self - $(row out incl work))) # by rounding
assert_le "${difference#-}" 10 'time of the caller'

it '-F: only what it called, from it on'
dump -f folded -F shop::round -F main
assert_eq 'main shop::round [outside]' "$(sed 's/[; ].*//' out | sort -u |
	sort -r | xargs | awk '{ print $2, $1, $3 }')"
assert_eq "$before" "$(awk '{ sum += $NF } END { printf "%.0f", sum }' out)" total

it '-F that matches nothing: a word of it'
for format in text json tree; do
	capture "$DUMP" -f $format -F 'no such*' profile
	assert_status 0
	assert_contains err "-F 'no such*' matches no function"
	capture "$DUMP" -f $format -F 'no such*' -F main profile
	assert_eq "swizzle: -F 'no such*' matches no function that was recorded" \
		"$(cat err)"
	capture "$DUMP" -q -f $format -F 'no such*' profile
	assert_empty err
done
capture "$DUMP" --diff profile -F 'no such*' profile
assert_contains err "-F 'no such*' matches no function"

it 'several files'
mv profile first
"$RUN" -o second "$TARGETS/workers" >/dev/null
"$DUMP" -f text first second >table
"$DUMP" -f tree first second >both
assert_agree tree,both
assert_eq 200 "$(row table calls shop::round)" 'calls in both'
mv first profile

it 'more files than may be open'
for i in {1..40}; do other_process profile copy.$i $i; done
"$RUN" -m trace -o trace "$TARGETS/workers" >/dev/null
for i in {1..40}; do other_process trace trace.$i $i; done
for kind in copy trace; do
	(
		if [ $kind = copy ]; then ulimit -n 32; else ulimit -Sn 32; fi
		exec "$DUMP" -f text $kind.*
	) >table 2>err || fail "$kind: $(cat err)"
	assert_empty err
	assert_eq 4000 "$(row table calls shop::round)" "$kind: calls in all"
done

it 'a profile is not replaced by what is made of it'
ln -s profile link
cp profile kept
for format in text raw; do
	capture "$DUMP" -f $format -o link second profile
	assert_refused 2 '-o would replace this profile'
done
capture "$DUMP" --diff profile -o profile second
assert_refused 2 '-o would replace this profile'
assert_same kept profile
capture "$DUMP" -f archive -o kept kept
assert_status 0
assert_same <("$DUMP" -f csv profile) <("$DUMP" -f csv kept)

it 'a file for each thread, by what it ends in'
mkdir parts && cd parts || exit 1
capture "$DUMP" -q -f html --by thread,files ../profile
assert_status 0
assert_eq 5 "$(compgen -G 'swizzle.*-0[1-5].html' | wc -l)" "files: $(ls)"
"$DUMP" -q -f callgrind --by thread,files ../profile
assert_eq 5 "$(compgen -G 'callgrind.out.*-0[1-5]' | wc -l)" "files: $(ls)"
cd ..

it 'a file for each thread of several processes'
"$DUMP" -f csv --by thread,files -o each profile second
for part in each-*; do tail -n +2 "$part"; done |
	awk -F, '{ sum += $1 } END { print sum }' >apart
"$DUMP" -f csv profile second | awk -F, '{ sum += $1 } END { print sum }' >whole
assert_same whole apart

it '--by thread is parts where there are no rows; the old names go on'
"$DUMP" -q -f tree --by thread profile >by.thread
"$DUMP" -q -f tree --by thread,parts profile >by.parts
assert_same by.parts by.thread
assert_ge "$(grep -c '^# thread' by.parts)" 3 parts
capture "$DUMP" -f tree --thread-parts profile
assert_status 0
assert_same by.parts out
assert_contains err 'option --thread-parts is called --by thread,parts now'
capture "$DUMP" -f csv --separate-threads -o old profile
assert_contains err 'option --separate-threads is called --by thread,files now'
[ -s old-03 ] || fail "files: $(echo old*)"

it 'options that a format has no use for'
refuses() { # TEXT OPTION...
	local text=$1
	shift
	capture "$DUMP" "$@" profile
	assert_refused 2 "$text"
}
refuses "option --by: 'thread,file': " --by thread,file
refuses 'callgrind has no use for -n; those that have: table, brief, text, tree, ' -f callgrind -n 3
refuses 'folded has no use for -n' -f folded -n 3
refuses 'folded has no use for --percent-limit' -f folded --percent-limit 3
refuses 'text has no use for --bottom-up' -f text --bottom-up
refuses 'info has no use for -s' -s name -f info
refuses 'info has no use for -F' -f info -N x
for format in archive info raw; do
	for option in '--tid 1' '--by thread,parts' \
		'--by thread,files' --no-compensate --demangle=no; do
		# shellcheck disable=SC2086 # an option and its value
		refuses "$format has no use for ${option%%[ =]*}" -f $format $option
	done
done
for format in perfetto chrome; do
	refuses "$format has no use for --by thread,files" -f $format \
		--by thread,files
	refuses "$format has no use for --no-compensate" -f $format \
		--no-compensate
done
refuses 'info has no use for --from or --to' -f info --to 1
refuses 'tree has no use for this sort key; it has: self, incl, cpu, waiting, calls, name' -f tree -s min
refuses 'folded has no use for this sort key' -f folded -s name
refuses 'speedscope has no use for this sort key' -f speedscope -s incl
refuses 'option -H: the pattern is empty' -f folded -H ''
for percent in % -1 ' 1' 0x10 nan 1%% 1x ''; do
	refuses 'not a percentage' -f text --percent-limit "$percent"
done
for moment in % -1 ' 1' 0x10 inf 1%% 1x 101% /1 ''; do
	refuses 'not a time in seconds or percent' -f text --from "$moment"
done
refuses 'unknown format' -f nonsense
refuses "unknown format 'callgrnd'; did you mean 'callgrind'? There are: callgrind, " -f callgrnd
refuses "unknown sort key 'slef'; did you mean 'self'? There are: self, incl, cpu, waiting, calls, name, min, max" -f text -s slef
refuses "unknown way to demangle 'nope'. There are: no, simple, full" --demangle nope
refuses "unknown value of --color 'nevr'; did you mean 'never'? There are: auto, always, never" \
	--color=nevr
refuses "unknown key 'pocess'; did you mean 'process'? There are: function, module, process, thread, file, line" \
	--by pocess
refuses "unknown key 'thred'; did you mean 'thread'? There are: " --by line,thred
refuses 'unknown option --fliter; did you mean --filter?' --fliter x
refuses 'option --no could be several: --no-compensate, --notrace' --no
refuses 'option --quiet takes no value' --quiet=3
refuses 'option --quiet takes no value' --qui=3
refuses 'unknown option --sortt; did you mean --sort?' --sortt=calls
refuses 'unknown option -k' -k
refuses 'unknown option -k' -qkV
refuses 'unknown option -k' --no-pager -kq
for option in --sort --sor -s -qs; do
	capture "$DUMP" profile $option
	case $option in
	--*) assert_refused 2 'option --sort needs a value' ;;
	*) assert_refused 2 'option -s needs a value' ;;
	esac
done
refuses "Try 'swizzle-dump --help'." --nonsense

it 'a misspelt variable'
SWIZZLE_PGAER="cat" capture "$DUMP" -f text profile
assert_status 0
assert_eq 'swizzle: SWIZZLE_PGAER in the environment is no setting; did you mean SWIZZLE_PAGER?' \
	"$(cat err)"
SWIZZLE_PGAER="cat" capture "$DUMP" -q -f text profile
assert_empty err
# swizzle-run's, which it says itself
SWIZZLE_FITLER=x SWIZZLE_FILTER=x SWIZZLE_PAGER=cat capture "$DUMP" -f text profile
assert_empty err

it 'a name without its namespace is proposed with it'
capture "$DUMP" -f text -F round profile
assert_status 0
assert_eq "swizzle: -F 'round' matches no function that was recorded; did you mean 'shop::round'?" "$(cat err)"
capture "$DUMP" -f text -F 'pric' profile
assert_matches err "matches no function that was recorded; did you mean 'shop::price.*'[?]$"
capture "$DUMP" -f text -F 'nonesuch' profile
assert_eq "swizzle: -F 'nonesuch' matches no function that was recorded" "$(cat err)"

it 'the list of formats'
"$DUMP" --help >/dev/full 2>err
assert_eq 1 $? 'status where the help cannot be written'
assert_contains err 'swizzle: standard output: No space left on device'
capture "$DUMP" -f help
assert_status 0
for format in callgrind brief text tree folded speedscope pprof otlp dot csv json \
	samples perfetto firefox chrome info; do
	assert_matches out "^$format +[a-z]"
done

it '--json is the format json'
"$DUMP" -f json profile >given
capture "$DUMP" profile --json
assert_status 0
assert_same given out
assert_matches out '^[{]'

it 'rows that are asked for without a format are those of the text table'
"$DUMP" -f text -n 5 profile >given
assert_eq 5 "$(grep -c '^ *[0-9]' given)" 'rows'
capture "$DUMP" -n 5 profile
assert_status 0
assert_same given out
capture "$DUMP" -s calls --percent-limit 0 profile
"$DUMP" -f text -s calls --percent-limit 0 profile >given
assert_same given out
capture "$DUMP" --bottom-up profile
"$DUMP" -f tree --bottom-up profile >given
assert_same given out

it 'abbreviated options, and ! before a pattern'
"$DUMP" -f text profile >whole
capture "$DUMP" --form text --filt main profile
"$DUMP" -f text -F main profile >given
assert_same given out
assert_ge "$(grep -c '^ *[0-9]' out)" 1 'rows'
# all but main, which is there
grep -q '  main  ' whole || fail 'main is not there'
grep -v '  main  ' whole >given
capture "$DUMP" -f text -F '!main' profile
assert_same given out
# of what the first chooses, not what the other one does
"$DUMP" -f text -F '*a*' profile | grep -v '  main  ' >given
capture "$DUMP" -f text -F '*a*' -F '!m?in' profile
assert_same given out
assert_ge "$(grep -c '^ *[0-9]' out)" 1 'rows'
for option in -N -H; do
	# only of main, by its name and by all others
	"$DUMP" -q -f text $option main profile >given
	assert_not_contains given '  main  '
	capture "$DUMP" -q -f text $option '*' $option '!main' profile
	grep -q '  main  ' out || fail "$option takes main away"
	assert_eq 1 "$(grep '^ *[0-9]' out | grep -cv '  \[outside\]  ')" "rows with $option"
	capture "$DUMP" -q -f text $option '!main' profile
	grep -q '  main  ' out || fail "$option takes main away"
	assert_eq 1 "$(grep '^ *[0-9]' out | grep -cv '  \[outside\]  ')" "rows with $option"
done
capture "$DUMP" -f text -F '!no_such_function' profile
assert_matches err "'!no_such_function' matches no function"
refuses 'option -F: the pattern is empty' -F '!'

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

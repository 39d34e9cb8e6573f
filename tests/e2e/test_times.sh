# shellcheck shell=bash
# --times: counts are those of the run whose calls were recorded, times those of
# the one that was sampled; together they are its processor time; what is not
# known of either is shown as such; all formats say the same.
# run: alone
. "${BASH_SOURCE%/*}/lib.sh"
. "$TOP/tests/e2e/profiles.sh"
need python3
need_targets joined shares
unset SWIZZLE_MODE SWIZZLE_TIMING

"$RUN" -q -m sample -o samples "$TARGETS/joined" >printed || abort 'no samples'
"$RUN" -q -m profile -o calls "$TARGETS/joined" >/dev/null || abort 'no calls'

column() { # FUNCTION COLUMN: of the joined table as csv
	awk -F , -v name="$1" -v column="$2" '$7 == name { print $column }' joined.csv
}

own() { # NAME: what the sampled program says of itself, ms
	awk -v name="$1" '$1 == name { print $2 }' printed
}

# So many ns are within PERMILLE of the total from MS.
assert_near() { # WHAT NS MS PERMILLE
	awk -v ns="$2" -v ms="$3" -v permille="$4" -v total="$(own process)" 'BEGIN {
		off = ns / 1e6 - ms
		if (off < 0) off = -off
		exit !(ns != "" && off <= total * permille / 1000) }' </dev/null ||
		fail "$1: $2 ns, not about $3 ms of $(own process)"
}

sum_of() { # COLUMN FILE: of csv
	awk -F , -v column="$1" 'NR > 1 { sum += $column } END { printf "%.0f\n", sum }' "$2"
}

it 'counts of one run, times of the other'
capture "$DUMP" -q --times samples -f csv -o joined.csv calls
assert_status 0
assert_empty err
"$DUMP" -q -f csv -o samples.csv samples
assert_eq "$(sum_of 2 samples.csv)" "$(sum_of 2 joined.csv)" 'all of the time'
assert_eq 2000 "$(column work 1)" 'calls of work'
assert_eq 3 "$(column rare 1)" 'calls of rare'
assert_eq 101 "$(column even 1)" 'calls of even'
for function in light heavy sort deep; do
	assert_near $function "$(column $function 3)" "$(own $function)" 60
	assert_eq 1 "$(column $function 1)" "calls of $function"
done
assert_near main "$(column main 3)" \
	"$(awk -v all="$(own process)" -v before="$(own before)" 'BEGIN { print all - before }')" 30

# Then contexts are the samples' own, and each call edge has its count.
it 'counts without times (-m count), times of samples'
"$RUN" -q -m count -o counted "$TARGETS/joined" >/dev/null || abort 'no counts'
cp joined.csv recorded.csv
capture "$DUMP" -q --times samples -f csv -o joined.csv counted
assert_status 0
assert_empty err
assert_eq "$(sum_of 2 samples.csv)" "$(sum_of 2 joined.csv)" 'all of the time'
for function in work rare even light heavy sort deep; do
	assert_eq "$(awk -F , -v name=$function '$7 == name { print $1, $2 }' recorded.csv)" \
		"$(column $function 1) $(column $function 2)" "calls and time of $function"
done
assert_eq '' "$(column qsort 1)" 'calls of what was not counted'
"$DUMP" -q --times samples -f tree -F heavy counted >tree
assert_matches tree '^ +1 +[<0-9]+ +[0-9]+ +[0-9.]+( +[0-9]+)*    measure  joined$'
assert_matches tree '^ +- +[<0-9]+ +[0-9]+ +[0-9.]+( +[0-9]+)*      main  joined$'
assert_matches tree '^ +1000 +[0-9]+ +[0-9]+ +[0-9.]+( +[0-9]+)*    work  joined$'
"$DUMP" -q --times samples -f callgrind -o joined.callgrind counted
assert_eq "$(sum_of 2 joined.csv)" \
	"$(awk '/^totals:/ { print $2 }' joined.callgrind)" 'time in callgrind'
mv recorded.csv joined.csv

it 'what is not known of either run'
assert_eq "" "$(column '[kernel]' 1)$(column qsort 1)" 'calls of what was not hooked'
assert_eq 0 "$(column rare 2)" 'time of rare'
bound=$(column rare 13)
assert_ge "$bound" 500000 'ns that a sample stands for'
assert_le "$bound" 2000000 'ns that a sample stands for'
assert_eq '' "$(column work 13)" 'bound of what has a time'
"$DUMP" -q --times samples -f text -o joined.text calls
assert_matches joined.text "^ +3 +<$bound +<$bound  rare  joined$"
assert_matches joined.text '^# joined: counts are of the recorded run, times of the sampled one'
"$DUMP" -q --times samples -f table -n 0 -o joined.table calls
assert_matches joined.table '<[0-9.]+ (ms|us) .* 3  rare  '
assert_not_contains joined.table 'profiling cost'

it 'what a library calls back is below the one who called the library'
"$DUMP" -q --times samples -f folded -o joined.folded calls
assert_matches joined.folded '^main;measure;sort;compare [1-9]'
assert_not_contains joined.folded 'qsort;compare'
calls=$("$DUMP" -q -f csv -o - calls | awk -F , '$7 == "compare" { print $1 }')
assert_eq "$calls" "$(column compare 1)" 'calls of compare'

it 'folded recursion: the inclusive time is that of the stacks'
assert_matches joined.text '^# folded recursion: [1-9]'
assert_near odd "$(column odd 3)" "$(own deep)" 60

it 'a function has its time where its samples were'
# (within four standard errors of what that caller took by the program's own clock)
bound_ns=$(($(sum_of 2 samples.csv) / $("$DUMP" -f info samples | awk '/^samples:/ { print $2 + 0 }')))
for caller in light heavy; do
	awk -v caller=$caller -v ms="$(own $caller)" -v bound="$bound_ns" '
		$0 ~ ";" caller ";work[ ;]" { ns += $NF }
		END { off = ns - ms * 1e6
		      exit !(ns && off * off <= 16 * ms * 1e6 * bound) }' joined.folded ||
		fail "work below $caller, not $(own $caller) ms: $(cat joined.folded)"
done

it 'all formats say the same'
# (few samples are in the kernel, and one at least is needed)
for _ in 1 2 3 4 5 6; do
	"$RUN" -q -m sample -o flat.samples "$TARGETS/shares" >/dev/null
	! "$DUMP" -q -f text flat.samples | grep -qF '[kernel]' || break
done
"$RUN" -q -m profile -o flat "$TARGETS/shares" >/dev/null
for format in text tree csv callgrind json pprof folded speedscope; do
	"$DUMP" -q --times flat.samples -f $format -o all.$format flat || fail "$format"
done
"$DUMP" -q --times flat.samples -f dot --percent-limit 0 -o all.dot flat
"$DUMP" -q --times flat.samples -f folded -s calls -o all.folded-calls flat
assert_matches all.text '^ +- .*  \[kernel\]  -$'
capture python3 "$TOP/tests/e2e/read_format.py" all.text tree,all.tree csv,all.csv \
	callgrind,all.callgrind json,all.json pprof,all.pprof \
	dot,all.dot,no-self folded,all.folded,names,no-calls \
	folded-calls,all.folded-calls,names,no-self \
	speedscope,all.speedscope,names,no-calls
assert_status 0
assert_empty out
assert_empty err
for key in function module file line; do
	"$DUMP" -q --times flat.samples --by $key -f text -o by.$key flat
	assert_eq "$(sum_of 2 all.csv)" \
		"$(awk '!/^#/ && $2 ~ /^[0-9]/ { sum += $2 } END { printf "%.0f\n", sum }' by.$key)" \
		"the total by $key"
	assert_matches by.$key '^ +- .*\[kernel\]'
done
python3 - "$("$DUMP" -q --times flat.samples --by module -f json -o - flat)" <<'END' || fail 'json by module'
import json, sys
rows = {row["module"]: row for row in json.loads(sys.argv[1])["rows"]}
assert rows["[kernel]"]["calls"] is None, rows
END

it 'with filters as ever'
"$DUMP" -q --times samples -H work -f csv -o joined.csv calls
assert_eq '' "$(column work 1)" 'a row that is hidden'
assert_near heavy "$(column heavy 2)" "$(own heavy)" 60
assert_eq "$(sum_of 2 samples.csv)" "$(sum_of 2 joined.csv)" 'all of the time'

it 'what cannot be joined'
capture "$DUMP" --times flat.samples calls
assert_status 1
assert_contains err 'flat.samples and calls are of different programs'

it 'a run in which nothing was hooked has samples alone'
for modules in nosuch '!*'; do
	"$RUN" -q -M "$modules" -o unhooked "$TARGETS/joined" >/dev/null
	assert_exists unhooked.samples
	capture "$DUMP" -f csv -o - unhooked
	assert_status 0
	assert_contains err 'unhooked: no call was counted'
	assert_matches out '^samples,'
	assert_matches out ',heavy,joined,'
	capture "$DUMP" -q -f csv -o - unhooked
	assert_status 0
	assert_empty err
done

it 'a thread that there is not'
"$RUN" -q -o threads "$TARGETS/joined" >/dev/null
assert_exists threads.samples
for format in text html json; do
	capture "$DUMP" -f $format -o - --tid nosuch threads
	assert_status 1
	assert_contains err "--tid 'nosuch': there is no such thread; there are: "
	assert_eq 1 "$(grep -o "[0-9]* 'joined'" err | grep -c .)" 'counts and samples list it once'
	assert_not_contains err 'no thread was recorded'
done

finish

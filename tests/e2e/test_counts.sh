# shellcheck shell=bash
# The main job: calls are counted exactly, per thread too.
. "${BASH_SOURCE%/*}/lib.sh"
. "$TOP/tests/e2e/profiles.sh"
need_targets fib siblings

it 'counts the calls of fib(30)'
assert_same_as_native "$TARGETS/fib"
assert_complete profile
assert_time_is_sane profile 5
assert_calls profile fib 2692537 main 1

it 'and shows no time that is negative or more than the whole'
total=$(sed -n 's/^# total \([0-9]*\) ns.*/\1/p' table)
awk -v total="$total" '/^#/ || /function/ { next }
	$2 < 0 || $3 < 0 || $2 > total || $3 > total' table >bad
assert_empty bad
assert_eq "$total" "$(awk '/^#/ || /function/ { next } { sum += $2 }
	END { printf "%.0f", sum }' table)" 'sum of self times'

it 'counts each of four threads for itself'
assert_same_as_native "$TARGETS/fib" 4
assert_complete profile
assert_calls profile fib $((4 * 2692537)) run 4 main 1
"$DUMP" -f text --by thread,parts profile >parts 2>dump.err
assert_empty dump.err
assert_eq 5 "$(grep -c '^# thread' parts)" 'threads'
assert_eq '4 2692537' "$(awk 'NF > 1 && $(NF - 1) == "fib" { print $1 }' parts |
	sort | uniq -c | xargs)" 'calls of fib in each'
assert_eq '4 1' "$(awk 'NF > 1 && $(NF - 1) == "run" { print $1 }' parts | sort | uniq -c |
	xargs)" 'calls of run in each'

it 'one table per thread by its id'
tid=$(awk '$3 == 2692538 { print $1; exit }' <("$DUMP" -f info profile))
"$DUMP" -f text --tid "$tid" profile >one
assert_eq 2692537 "$(row one calls fib)"

it 'merges the profiles of several runs'
"$RUN" -o second "$TARGETS/fib" >/dev/null
"$DUMP" -f text profile second >table 2>dump.err
assert_empty dump.err
assert_eq $((5 * 2692537)) "$(row table calls fib)"

# What is known without times is the same, edge by edge; what is not known is no 0.
it '-m count: the same counts, and no times'
"$RUN" -q -o exact "$TARGETS/fib" 4 >/dev/null
capture "$RUN" -q -m count -o counted "$TARGETS/fib" 4
assert_status 0
assert_complete counted
assert_matches info '^flags:.* counts'
assert_matches info '^call edges: [1-9][0-9]*, exact; no times'
edges() { # PROFILE: "calls caller callee", of the program's functions
	"$DUMP" -q -f json "$1" | python3 -c '
import json, sys
part = json.load(sys.stdin)["parts"][0]
names = [function["name"] for function in part["functions"]]
for edge in part["edges"]:
    if names[edge["caller"]][0] != "[":
        print(edge["calls"], names[edge["caller"]], names[edge["callee"]])'
}
# (run() ends in a jump to fib(), so its caller is fib's for counts)
edges exact | grep -v ' run fib$' | sort >exact.edges
edges counted | sort >counted.edges
assert_matches exact.edges '^[0-9]+ fib fib$'
diff exact.edges counted.edges >differences || fail "$(cat differences)"
"$DUMP" -f text counted >table 2>dump.err
assert_empty dump.err
assert_matches table '^# [0-9]+ calls in 5 threads, exact; no times \(-m count\)$'
assert_matches table "^ +$((4 * 2692537)) +- +-  fib  fib\$"
assert_eq 0 "$(awk '!/^#/ && $2 ~ /[0-9]/' table | wc -l)" 'rows with a time'
assert_eq 0 "$("$DUMP" -f csv counted | awk -F , 'NR > 1 && $2 $3 $4 $5 $6 != ""' |
	wc -l)" 'csv rows with a time'
assert_eq '4 2692537' "$("$DUMP" -f text --by thread,parts counted |
	awk 'NF > 1 && $(NF - 1) == "fib" { print $1 }' | sort | uniq -c | xargs)" \
	'calls of fib in each thread'
"$DUMP" -f callgrind -o out.callgrind counted
assert_contains out.callgrind 'events: Calls'
assert_eq "$(awk '/^# [0-9]+ calls/ { print $2 }' table)" \
	"$(awk '/^totals:/ { print $2 }' out.callgrind)" 'calls in callgrind'

it '-m count: sums, comparisons'
"$DUMP" -q --merge-into sum counted
"$DUMP" -f text sum >table
assert_eq $((4 * 2692537)) "$(row table calls fib)"
"$RUN" -q -m count -o again "$TARGETS/fib" >/dev/null
"$DUMP" -f csv --diff again counted >changes.csv
assert_matches changes.csv "^2692537,$((4 * 2692537)),,,.*,fib,"

# A context's first few edges are kept elsewhere than all of one that has more.
siblings() { # MODE: places of all contexts, with their counts
	"$RUN" -q $1 -o profile "$TARGETS/siblings" >out || fail "$1"
	assert_complete profile
	assert_calls profile caller 10 call_from 136000 leaf 136000
	"$RUN" -q $1 -o none "$TARGETS/siblings" 1 0 >out
	# of a caller, of call_from below it, of leaf from each place below that
	assert_eq $((10 + 10 + 68)) $(($(info_value profile contexts) -
		$(info_value none contexts))) 'contexts'
	"$DUMP" -q -f raw profile >raw
	# and of call_from, where it calls from one place; a sampled one may have
	# long calls apart, in a node whose context is that of the others
	assert_eq 69 \
		"$(awk '/^  unit / {
			for (i = 1; i < NF; i++) value[$i] = $(i + 1)
			of = length(value["site"]) == 18 && value["site"] ~ /^0x8/ ? value["context"] : value["unit"]
			calls[of] += value["calls"]
		}
		END { for (of in calls) n += calls[of] == 2000; print n + 0 }' raw)" \
		'places called 2000 times'
}
for mode in '' '--timing sampled' '-m trace' '-D 100'; do
	it "contexts with few and many call sites ${mode:-}"
	siblings "$mode"
done

finish

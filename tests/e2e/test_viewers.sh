# shellcheck shell=bash
# Those who read what swizzle-dump writes read it: graphviz; pprof-format (node)
# and speedscope (chromium), where scripts/fetch-viewers has fetched them.
modules=${SWIZZLE_VIEWERS:-${XDG_CACHE_HOME:-$HOME/.cache}/swizzle/viewers}/node_modules
. "${BASH_SOURCE%/*}/lib.sh"
. "$TOP/tests/e2e/profiles.sh"
need python3
need_targets workers names
tested=0

viewer() { # NAME PROGRAM|FILE...
	have "$@" && tested=$((tested + 1))
}

"$RUN" -o profile "$TARGETS/workers" >/dev/null || abort 'no profile'
"$RUN" -o odd "$TARGETS/names" >/dev/null || abort 'no profile'

if viewer graphviz dot; then
	for limit in 0 2; do
		"$DUMP" -f dot --percent-limit $limit profile >graph
		capture dot -Tsvg graph
		assert_status 0
		assert_empty err
		assert_eq "$(grep -c '^	f[0-9]* \[' graph)" \
			"$(grep -c 'class="node"' out)" boxes
		assert_eq "$(grep -c '^	f[0-9]* -> ' graph)" \
			"$(grep -c 'class="edge"' out)" arrows
	done
	dump_table profile
	share_of() { # PERCENT: how many functions have as much of the time
		awk -v percent="$1" '/^# total/ { total = $3 }
			!/^#/ && $3 ~ /^[0-9]+$/ && 100 * $3 >= percent * total { n++ }
			END { print n + 0 }' table
	}
	boxes=$(grep -c 'class="node"' out)
	assert_le "$boxes" "$(share_of 1.99)" 'boxes at 2 percent'
	assert_ge "$boxes" "$(share_of 2.01)" 'boxes at 2 percent'
	it 'graphviz: one graph per thread'
	"$DUMP" -f dot --by thread,parts profile >graph
	capture dot -Tsvg graph
	assert_status 0
	assert_eq 5 "$(grep -c '^<svg' out)" graphs
	it 'graphviz: names'
	"$DUMP" -f dot --percent-limit 0 odd | dot -Tsvg >out 2>err
	assert_empty err
	python3 -c '
import sys, xml.etree.ElementTree as tree
for text in tree.parse(sys.argv[1]).iter("{http://www.w3.org/2000/svg}text"):
    print(text.text)' out >texts
	for name in 'semi;colon' 'comma, 12 34' 'quo"te' 'back\slash' \
		'</script><!--' 'café' 'latin?' 'tab?here' '%s%n\n'; do
		grep -q -x -F -e "$name" texts || fail "no box for $name"
	done
fi

if viewer pprof-format node "$modules/pprof-format"; then
	count() { # OPTION...: swizzle-dump's
		"$DUMP" -q -f pprof -o p "$@"
		capture node "$TOP/tests/e2e/pprof_functions.js" "$modules" p
		assert_status 0
	}
	count profile
	dump_table profile
	for name in work shop::round 'shop::price(int)' 'shop::price(double)' \
		shop::countdown shop::odd shop::even shop::refuse main; do
		assert_contains out \
			"$(row table calls "$name") $(row table self "$name") $name"
	done
	assert_eq "$(sed -n 's/^# total \([0-9]*\) ns.*/\1/p' table)" \
		"$(awk '{ sum += $2 } END { printf "%.0f", sum }' out)" total
	count odd
	assert_matches out '^6 [0-9]+ café$'
	assert_matches out '^7 [0-9]+ latin\?$'
fi

if viewer speedscope chromium "$modules/speedscope/dist/release/index.html"; then
	show() { # OPTION...: swizzle-dump's; what speedscope has read, as a table
		"$DUMP" -q -f speedscope -o s.json "$@"
		timeout 200 python3 "$TOP/tests/viewers/speedscope_import.py" \
			"$modules/speedscope/dist/release/index.html" s.json \
			>shown 2>err || fail "speedscope: $(tail -n 1 err)"
	}
	self_of() { # NAME
		name=$1 awk -F '\t' '$1 == "function" && $5 == ENVIRON["name"] { print $3 }' shown
	}
	show -s calls -F 'shop::round' profile
	for name in 'shop::round 100' 'shop::price(int) 300' \
		'shop::price(double) 100' 'shop::countdown 500' \
		'shop::even 300' 'shop::odd 200' 'shop::refuse 100'; do
		assert_eq "${name##* }" "$(self_of "${name% *}")" "calls of ${name% *}"
	done
	show -s calls odd
	assert_eq 1 "$(self_of 'semi;colon')"
	assert_eq 6 "$(self_of 'café')"
	assert_eq 4 "$(self_of 'back\slash')"
	# (whatever it reads, it saves begins and ends)
	show --by thread,parts profile
	assert_eq 'profiles	5	evented	nanoseconds' "$(head -n 1 shown)"
fi

[ $tested -gt 0 ] || skip 'no viewer is there (scripts/fetch-viewers)'
finish

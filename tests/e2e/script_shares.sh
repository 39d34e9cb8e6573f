# shellcheck shell=bash
# For tests of scripts' functions: the script prints a line "NAME MS" for each
# function, its own processor time, and "process MS"; here is what a profile
# says. SCRIPT is the script's name.

own() { # NAME: ms
	awk -v name="$1" '$1 == name { print $2 }' printed
}

row() { # FUNCTION COLUMN
	"$DUMP" -q -f csv -o - profile | awk -F , -v name="$1" -v column="$2" -v script="/$SCRIPT" \
		'$7 == name && substr($9, length($9) - length(script) + 1) == script { print $column }'
}

# Within three standard deviations of what so many samples say.
assert_shares() { # [NAME...]
	local total name samples
	total=$(own process)
	samples=$("$DUMP" -f info profile | awk '/^samples:/ { print $2 + 0 }')
	assert_ge "$samples" 100 'samples'
	for name; do
		awk -v ns="$(row "$name" 3)" -v ms="$(own "$name")" -v total="$total" -v n="$samples" 'BEGIN {
			share = ms / total
			off = ns / 1e6 / total - share
			most = 0.02 + 4 * sqrt(share * (1 - share) / n)
			exit !(ns > 0 && off < most && off > -most) }' </dev/null ||
			fail "$name: $(row "$name" 3) ns, not about $(own "$name") ms of $total"
	done
}

# The script prints a line "stack A;B;C" for each stack in which LEAF runs, as it
# sees that itself. 99 of 100 samples in LEAF have one of them. (A name that two
# files have is followed by its file.) SED makes of a name in the profile that
# which the script knows.
assert_stacks() { # LEAF [SED]
	"$DUMP" -q -f folded --script -o - profile | sed -E "${2-}" >sampled.stacks
	awk -v leaf="$1" '
		/^stack / { known[substr($0, 7)] = 1; next }
		FNR == NR { next }
		{ ns = $NF; sub(/ [0-9]+$/, ""); gsub(/ [(][^;()]*[)];/, ";"); sub(/ [(][^;()]*[)]$/, "")
		  if ($0 !~ ";" leaf "$") next
		  all += ns
		  if ($0 in known) { good += ns; met[$0] = 1 } else print ns, $0 >"strange" }
		END { for (stack in met) count++
		      print count, all, good >"found"
		      exit !(count >= 3 && good >= 0.99 * all) }' printed sampled.stacks ||
		fail "stacks (known, ns, ns of known): $(cat found), strange: $(head -n 3 strange)"
}

# Of the samples in spin's own lines nearly all are in those of its loop.
assert_hot_lines() { # FIRST LAST
	"$DUMP" -q -f csv --by line --script -o - profile >lines
	awk -F , -v first="$1" -v last="$2" -v script="/$SCRIPT" '
		substr($6, length($6) - length(script) + 1) == script {
			if ($7 >= first - 6 && $7 <= last + 1) all += $2
			if ($7 >= first && $7 <= last) hot += $2 }
		END { exit !(hot > 0 && hot >= 0.9 * all) }' lines ||
		fail "lines $1 to $2 are not hot: $(head -n 5 lines)"
}

# --script: no function of the interpreter's modules, and the sums are those of all.
# Leaves the table in the file `only`, the stacks in `stacks`.
assert_script_alone() { # MODULES: an expression
	local column
	"$DUMP" -f csv --script -o only profile 2>err || fail "exit status $?"
	assert_empty err
	# (the csv is simple: no name here has a comma)
	awk -F , -v modules="$1" 'NR > 1 && $8 ~ modules { print $7, $8 }' only >of_c
	assert_empty of_c
	for column in 1 2; do
		"$DUMP" -q -f csv -o - profile | awk -F , -v c=$column 'NR > 1 { sum += $c } END { printf "%.0f\n", sum }' >all
		awk -F , -v c=$column 'NR > 1 { sum += $c } END { printf "%.0f\n", sum }' only >sum
		assert_eq "$(cat all)" "$(cat sum)" "sum of column $column"
	done
	"$DUMP" -q -f folded --script -o stacks profile
}

# What is left of the loop itself is moments between frames.
assert_loop_is_small() { # LOOP
	assert_ge "$(row spin 3)" "$("$DUMP" -q -f csv -o - profile |
		awk -F , -v loop="$1" '$7 == loop { sum += $2 } END { printf "%.0f", 50 * sum }')" \
		'the loop itself has more than a fiftieth of spin'
}

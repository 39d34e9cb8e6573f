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
	assert_ge "$(row spin 2)" "$("$DUMP" -q -f csv -o - profile |
		awk -F , -v loop="$1" '$7 == loop { sum += $2 } END { printf "%.0f", 50 * sum }')" \
		'the loop itself has more than a fiftieth of spin'
}

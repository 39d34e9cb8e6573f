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

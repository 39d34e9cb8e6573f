# shellcheck shell=bash
# -f raw: all that is in a file, and of a damaged one what is left, with marks.
. "${BASH_SOURCE%/*}/lib.sh"
. "$TOP/tests/e2e/profiles.sh"
need perl
need_targets workers

"$RUN" -o profile "$TARGETS/workers" >/dev/null || abort 'no profile'
raw() { # OPTION...: of swizzle-dump, with the file
	capture timeout 120 "$DUMP" -f raw "$@"
	assert_status 0
}

sum_of() { # WORD: of the numbers after it, in the lines of nodes of `out`
	awk -v word="$1" '/^  unit / { for (i = 1; i < NF; i++)
		if ($i == word) sum += $(i + 1) } END { printf "%.0f", sum }' out
}

it 'a whole profile'
raw profile
assert_empty err
assert_not_contains out '!'
assert_eq "$(info_value profile used | cut -d' ' -f1)" \
	"$(awk '$1 == "used_bytes" { print $2 }' out)" used_bytes
assert_eq 5 "$(grep -c '^chunk at .*: THREAD ' out)" threads
assert_eq 'worker "3" worker-0 worker-1 worker; 2 workers' \
	"$(sed -n 's/^  tid .*, name //p' out | sort | paste -s -d ' ')"
"$DUMP" -f csv profile | awk -F, 'NR > 1 { sum += $1 } END { print sum }' >calls
assert_eq "$(cat calls)" "$(sum_of calls)" calls
# and the root and the fold root of each thread; not the time of the profiler's own work
assert_eq "$(($(info_value profile contexts) + 5))" \
	"$(grep '^  unit ' out | grep -c -v 'function 4294967294 ')" nodes
assert_contains out "  path              $TARGETS/workers"
id=$(readelf -n "$TARGETS/workers" 2>/dev/null | sed -n 's/.*Build ID: //p')
assert_contains out "build_id           20 bytes $id"
# the chunks follow each other, from the header to the end
awk 'function number(hex,    n, i) {
		for (i = 3; i <= length(hex); i++)
			n = 16 * n + index("0123456789abcdef", substr(hex, i, 1)) - 1
		return n
	}
	/^chunk at / {
		at = number(substr($3, 1, length($3) - 1))
		if (at != next_) print
		for (i = 1; i < NF; i++)
			if ($(i + 1) == "bytes,") next_ = at + $i
	}
	BEGIN { next_ = 4096 }
	$1 == "used_bytes" { used = $2 }
	END { if (next_ != used) print "the end" }' out >gaps
assert_empty gaps
assert_ge "$(grep -c '^chunk at ' out)" 10 chunks

it 'a name that has a line break'
cp profile $'pro\nfile'
for format in raw info; do
	capture "$DUMP" -f $format $'pro\nfile'
	assert_eq 'file: pro?file' "$(head -n 1 out)" "$format"
done

it '-n: some of each chunk'
raw -n 2 profile
assert_ge "$(grep -c '^  unit ' out)" 3 nodes
awk '/^chunk at / { nodes = 0 } /^  unit / && ++nodes > 2' out >others
assert_empty others
assert_matches out '^  \.\.\. [0-9]+ more$'

it 'cut off'
head -c 20000 profile >part
raw part
assert_contains err ' faults, which are marked by '
assert_contains out '! more than the file has: it was truncated'
assert_contains out 'COMMAND'

it 'a chunk whose header is lost'
cp profile holed
printf '\0\0\0\0' | dd of=holed bs=1 seek=4096 conv=notrunc 2>/dev/null
raw holed
assert_contains out 'no chunk at 0x1000'
assert_contains out '! not part of any chunk'
assert_eq 5 "$(grep -c '^chunk at .*: THREAD ' out)" threads
"$DUMP" -q -f raw holed >/dev/null 2>err
assert_empty err

it 'a chunk with more records than it has room for'
cp profile wrong
at=$("$DUMP" -f raw profile | sed -n 's/^chunk at \(0x[0-9a-f]*\): PACKED_FUNCTIONS.*/\1/p' | head -n 1)
printf '\377\377\377\177' | dd of=wrong bs=1 seek=$((at + 16)) conv=notrunc 2>/dev/null
raw wrong
assert_contains out '! more records than the chunk has room for'

it 'what is no profile at all'
echo 'Dear reader, this is no profile.' >letter
raw letter
assert_contains out '! not that of a profile'
capture "$DUMP" -f raw missing
assert_refused_partly() { # TEXT
	assert_status 1
	assert_contains err "$1"
}
assert_refused_partly 'No such file'
capture "$DUMP" -f raw missing letter
assert_status 1
assert_contains err 'No such file'
assert_eq 'file: letter' "$(head -n 1 out)"
echo old >kept
capture "$DUMP" -f raw -o kept missing
assert_refused_partly 'No such file'
assert_eq old "$(cat kept)" 'the file where nothing was written to'
assert_eq kept "$(echo kept*)"
mkfifo fifo
capture timeout 120 "$DUMP" -f raw fifo
assert_refused_partly 'not a regular file'
capture "$DUMP" -f raw -s self profile
assert_refused 2 'raw has no use for -s'

finish

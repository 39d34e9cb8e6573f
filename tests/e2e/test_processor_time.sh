# shellcheck shell=bash
# The processor time of threads: as the threads know it themselves, whatever way
# they end.
. "${BASH_SOURCE%/*}/lib.sh"
. "$TOP/tests/e2e/profiles.sh"
need_targets running

# What a thread ran, by its name, in ns, and ">=" where it is at least that;
# "jumps" has the name of what it jumps to.
ran() { # PROFILE NAME
	"$DUMP" -f info "$1" | awk -v name="$2" '
		$2 == name && $6 == ">=" { print ">=" $7 * 1e9 }
		$2 == name && $6 != ">=" { print $6 * 1e9 }'
}

# What the thread's own function ran, but for what came after its last reading (a hundredth
# of its time, or the record is a bound); ended: at most what it had run when only the C
# library's part was left.
assert_ran() { # NAME [ended]
	awk -v name="$1" '$1 == name { print $2 }' out | sort -n >told
	awk -v name="$1" '$1 == "ended" && $2 == name { print $3 }' out | sort -n >last
	ran profile "$1" | sed "s/^>=//" | sort -n >found
	assert_eq "$(wc -l <told)" "$(wc -l <found)" "threads $1"
	paste told found ${2:+last} | awk -v name="$1" '
		{ n++ }
		$2 !~ /^[0-9]/ || $2 + 2000000 < $1 || NF > 2 && $2 > $3 + 5000000 {
			print name " ran " $1 " to " $3 " ns, recorded: " $2
		}
		END { if (!n) print "no thread" }' >wrong
	assert_empty wrong
}

for mode in '' '-m trace' '--timing sampled'; do
	it "threads that have ended know it ($mode)"
	# shellcheck disable=SC2086
	capture timeout 240 "$RUN" -q $mode -o profile "$TARGETS/running" ended
	assert_status 0
	for name in returns leaves; do
		assert_ran $name ended
	done
	# shellcheck disable=SC2086
	capture timeout 240 "$RUN" -q $mode -o profile "$TARGETS/running"
	assert_status 0
	"$DUMP" -f info profile >info
	assert_contains info 'processor time'
	for name in returns leaves stays; do
		assert_ran $name
	done

	it "the main thread waited for the others ($mode)"
	assert_le "$(ran profile running)" 100000000 'it ran'

	it "what is raw is what info shows ($mode)"
	"$DUMP" -f raw profile >raw
	assert_eq 5 "$(grep -c '^  processor time  ' raw)" 'readings'
done

it 'of a process that is killed, it is what was read last'
capture timeout 240 "$RUN" -q -o profile "$TARGETS/running" killed
assert_status 137
# (the main thread's was, when it came to a new call)
"$DUMP" -f info profile >info
assert_matches info '^ *[0-9]+ +running .* s +>= +0\.[0-9]+ s$'
ran profile returns >found
assert_eq 2 "$(grep -c '^[0-9]' found)" 'ended before: known as it is'

it 'a profile without it says so'
python3 - profile old <<'EOF'
import struct, sys
data = bytearray(open(sys.argv[1], 'rb').read())
at = 4096
count = 0
while at + 64 <= len(data):
    magic, kind, size = struct.unpack_from('<IIQ', data, at)
    if magic != 0x4357535a:
        at += 64
        continue
    if kind == 4:  # SWZ_CHUNK_THREAD; the fields begin behind 72 bytes
        data[at + 64 + 72:at + 64 + 96] = bytes(24)
        count += 1
    at += size
assert count == 5, count
open(sys.argv[2], 'wb').write(data)
EOF
assert_eq 5 "$("$DUMP" -f info old | grep -c ' s    not known$')" 'threads'

finish

# shellcheck shell=bash
# What the start asks the kernel for does not grow with the functions: the text
# of a library is made writable once, and gets its copies by few calls.
. "${BASH_SOURCE%/*}/lib.sh"
. "$TOP/tests/e2e/profiles.sh"
need strace
need_targets lifetimes

timeout 240 strace -o log -f -e trace=open,openat,mmap,mprotect,madvise -E LD_PRELOAD="$LIBSWIZZLE" \
	-E SWIZZLE_OUTPUT="$TMP/profile" -E SWIZZLE_FRESH=1 \
	"$TARGETS/lifetimes" >out 2>err
grep -q "$TMP/profile" log || skip 'strace cannot trace here'
assert_complete profile
"$DUMP" -f info profile >info

# Of each file that is mapped executable: how often what lies in it was made
# writable, and how often copies were asked for.
awk -v values=0123456789abcdef '
	function number(hex,   n, i) {
		sub(/^0x/, "", hex)
		for (i = 1; i <= length(hex); i++)
			n = n * 16 + index(values, substr(hex, i, 1)) - 1
		return n
	}
	function place(hex,   i) {
		for (i = 1; i <= count; i++)
			if (number(hex) >= start[i] && number(hex) < end[i])
				return i
		return 0
	}
	{ sub(/^[0-9]+ +/, "") }
	/^open/ { split($0, part, "\""); opened = part[2] }
	/^mmap\(.*PROT_EXEC/ && !/MAP_ANONYMOUS/ {
		split($0, part, /[(,]/)
		count++
		start[count] = number($NF)
		end[count] = start[count] + part[3]
		file[count] = opened
	}
	/^mprotect\(.*PROT_READ\|PROT_WRITE\)/ {
		split($0, part, /[(,]/)
		writable[place(part[2])]++
	}
	/^madvise\(.*(POPULATE_WRITE|0x17)/ {
		split($0, part, /[(,]/)
		copied[place(part[2])]++
	}
	END {
		for (i = 1; i <= count; i++)
			print file[i], writable[i] + 0, copied[i] + 0
	}' log >counts

it 'makes the text of a library writable once'
patched=$(awk '$1 ~ /libstdc\+\+/ && NF == 4 { print $3 }' info)
assert_ge "$patched" 1000 'functions of libstdc++ that are patched'
assert_eq 1 "$(awk '$1 ~ /libstdc\+\+/ { print $2 }' counts)" \
	'times that the text of libstdc++ became writable'

it 'asks for copies of its pages by few calls'
calls=$(awk '$1 ~ /libstdc\+\+/ { print $3 }' counts)
assert_ge "$calls" 1 'calls for copies of pages'
assert_ge 50 "$calls" 'or more calls for copies of pages'

# What we map to plan a module must not lie where others will look for room.
if have 'looks for room near the modules once, however many there are' gcc; then
	for i in {1..30}; do
		printf 'int f%d(int n)\n{\n\treturn n ? n * f%d(n - 1) : %d;\n}\n' \
			"$i" "$i" "$i" >lib.c
		gcc -O1 -g3 -shared -fPIC -o "libmany$i.so" lib.c
		echo "extern int f$i(int); int call$i(void) { return f$i(2); }"
	done >many.c
	echo 'int main(void) { return 0; }' >>many.c
	gcc -O1 -o many many.c -L. -Wl,-rpath,"$TMP" -Wl,--no-as-needed \
		-lmany{1..30}
	for cache in 0 1 1; do
		timeout 240 strace -o log -e trace=open,openat \
			-E LD_PRELOAD="$LIBSWIZZLE" -E SWIZZLE_CACHE=$cache \
			-E SWIZZLE_OUTPUT="$TMP/profile" -E SWIZZLE_FRESH=1 ./many
		assert_complete profile
		"$DUMP" -f info profile >info
		assert_eq 30 "$(grep -c "^$TMP/libmany.* 1 *1 *0" info)" \
			'libraries that are patched'
		assert_le "$(grep -c '"/proc/self/maps"' log)" 3 \
			"readings of /proc/self/maps, cache $cache"
	done
fi

finish

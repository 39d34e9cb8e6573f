# shellcheck shell=bash
# Programs and libraries whose files were removed or replaced while they run:
# samples have their names and whole stacks, and such a process can be attached to.
# And a file without a table of sections, as one is that is read from memory.
. "${BASH_SOURCE%/*}/lib.sh"
. "$TOP/tests/e2e/profiles.sh"
need gcc
unset SWIZZLE_MODE

program work.c >work.c
# Works until the file `stop` is there; with LIBRARY in that, which it removes.
program program.c >program.c
gcc -O1 -o kept program.c work.c || abort 'cannot compile'
gcc -O1 -shared -fPIC -o kept.so work.c || abort 'cannot compile'
sed 's/first/other/; s/20000/30000/' work.c >other.c
gcc -O1 -o other program.c other.c || abort 'cannot compile'

begin() { # COMMAND...: $pid, when it works
	rm -f ready stop
	"$@" &
	pid=$!
	wait_until test -e ready
}

end() {
	: >stop
	wait $pid
	assert_eq 3 $? 'exit status of the program'
}

# Names, and whole stacks; swizzle-dump says nothing of files that it misses.
assert_sampled() { # FUNCTION...
	local function
	"$DUMP" -f folded -o folded sampled 2>dump.err || fail "swizzle-dump: status $?"
	assert_not_contains folded 'unknown caller'
	for function; do
		assert_matches folded ";main;.*\\b${function}[; ]"
	done
}

remove() {
	rm -f program
}
replace() {
	cp other new
	mv new program
}

for how in remove replace; do
	it "$how: sampled"
	cp kept program
	begin ./program
	$how
	capture "$RUN" -q -m sample -p $pid --for 300ms -o sampled
	assert_status 0
	assert_empty err
	assert_sampled outer first second

	it "$how: attached to"
	rm -f profile
	capture "$RUN" -q -m profile -p $pid --for 300ms -o profile
	assert_status 0
	assert_empty err
	end
	assert_ge "$("$DUMP" -q -f csv profile | awk -F , 'NR > 1 { n += $1 } END { print n }')" \
		30 'calls'
done

it 'a library is removed as soon as it is loaded'
cp kept.so lib.so
begin ./kept ./lib.so
capture "$RUN" -q -m sample -p $pid --for 300ms -o sampled
assert_status 0
assert_sampled outer first second
rm -f profile
capture "$RUN" -q -m profile -M lib.so -p $pid --for 300ms -o profile
assert_status 0
end
assert_ge "$("$DUMP" -q -f csv profile | awk -F , '$8 ~ /lib.so/ { n += $1 } END { print n }')" \
	30 'calls in the library'

for how in 'at the end' 'as it is unloaded'; do
	it "its names are kept in an exact profile, $how"
	cp kept.so lib.so
	rm -f profile
	: >stop
	sed 's/return x == 1/if (argc > 2) dlclose(dlopen(argv[1], RTLD_NOW | RTLD_NOLOAD)), dlclose(library); &/
		s/dlsym(dlopen(argv\[1\], RTLD_NOW)/dlsym(library = dlopen(argv[1], RTLD_NOW)/
		s/^int main/static void *library; &/
		s/while (.*)/for (int i = 0; i < 10; i++)/' program.c >brief.c
	gcc -O1 -o brief brief.c work.c || abort 'cannot compile'
	if [ "$how" = 'at the end' ]; then set --; else set -- close; fi
	"$RUN" -q -m profile -o profile ./brief ./lib.so "$@"
	assert_eq 3 $? 'exit status'
	assert_missing lib.so
	"$DUMP" -f csv -o table.csv profile 2>dump.err
	for function in first second outer; do
		assert_eq 10 "$(awk -F , -v name=$function '$7 == name && $8 ~ /lib.so/ { print $1 }' table.csv)" \
			"calls of $function"
	done
done

# Without CAP_CHECKPOINT_RESTORE the kernel does not give the file: it is read from
# memory, where the dynamic symbols are, and stacks are whole.
if [ "$(id -u)" -eq 0 ] && chmod 777 "$TMP" && nobody_executes "$RUN"; then
	nobody=(setpriv --reuid 65534 --regid 65534 --clear-groups)
	for linker in '' -fuse-ld=lld; do
		it "by an ordinary user $linker"
		# shellcheck disable=SC2086
		if ! gcc -O1 -shared -fPIC $linker -o kept.so work.c 2>/dev/null; then
			echo "not tested: $linker"
			continue
		fi
		cp kept.so lib.so
		chmod 755 lib.so kept
		begin "${nobody[@]}" ./kept ./lib.so
		rm -f sampled
		capture "${nobody[@]}" "$RUN" -q -m sample -p $pid --for 300ms -o sampled
		assert_status 0
		end
		assert_sampled outer 'sub_[0-9a-f]+'
	done
fi

it 'a file without a table of sections'
without_sections() { # FILE: e_shoff, e_shentsize, e_shnum, e_shstrndx
	head -c 8 /dev/zero | dd of="$1" bs=1 seek=40 conv=notrunc status=none
	head -c 6 /dev/zero | dd of="$1" bs=1 seek=58 conv=notrunc status=none
}
for linker in bfd lld; do
	gcc -O1 -rdynamic -fuse-ld=$linker -o program program.c work.c 2>/dev/null || continue
	without_sections program
	begin ./program
	capture "$RUN" -q -m sample -p $pid --for 300ms -o sampled
	end
	assert_status 0
	assert_ge "$("$DUMP" -q -f csv sampled | awk -F , '$7 ~ /^sub_/ { n++ } END { print n }')" \
		2 'functions by their unwind entries'
done

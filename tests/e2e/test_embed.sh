# shellcheck shell=bash
# Names outlive the program: embedded in the profile, in separate debug files
# elsewhere, below another root.
. "${BASH_SOURCE%/*}/lib.sh"
. "$TOP/tests/e2e/profiles.sh"
need g++ objcopy strip readelf

program program.cc >program.cc
mkdir home
g++ -g -O1 -Wl,--build-id -o whole program.cc || abort 'no program'
sed 's/total/other/; s/shop/zoo/g; s/30/40/' program.cc >rebuilt.cc
g++ -g -O1 -Wl,--build-id -o rebuilt rebuilt.cc || abort 'no other program'
id=$(readelf -n whole | sed -n 's/.*Build ID: //p')
[ -n "$id" ] || abort 'the program has no build-id'
cp whole home/program
"$RUN" -o profile home/program || abort 'no profile'
cp profile plain

# What each format says of a profile, but for the name of the file.
tables() { # PROFILE DIRECTORY
	local format
	mkdir -p "$2"
	for format in text callgrind pprof json csv folded; do
		"$DUMP" -f $format -o "$2/$format" "$1" 2>>"$2/err" ||
			fail "$format of $1: status $?"
	done
	"$DUMP" -f html -o "$2/page" "$1" 2>>"$2/err" || fail "page of $1: status $?"
	grep -v 'data-name="description"' "$2/page" >"$2/html"
	rm "$2/page"
}

assert_same_tables() { # DIRECTORY DIRECTORY
	local name
	for name in text callgrind pprof json csv folded html; do
		[ -s "$1/$name" ] || fail "$1/$name is empty"
		assert_same "$1/$name" "$2/$name"
	done
	assert_empty "$2/err"
}

tables profile before
assert_contains before/text 'shop::over(long)'
assert_contains before/callgrind program.cc
assert_contains before/callgrind '# in helper, inlined at line'

it '--embed adds the names once'
capture "$DUMP" --embed profile
assert_status 0
assert_empty out
assert_matches err '^swizzle: profile: [1-9][0-9]* names and [1-9][0-9]* source lines added$'
size=$(stat -c %s profile)
capture "$DUMP" --embed profile
assert_eq 'swizzle: profile: 0 names and 0 source lines added' "$(cat err)"
assert_eq "$size" "$(stat -c %s profile)" 'size of the profile'
capture "$DUMP" -f info profile
assert_matches out '^embedded: [1-9][0-9]* names, [1-9][0-9]* source lines$'
assert_not_contains out damaged
capture "$DUMP" -f raw profile
assert_empty err
assert_contains out 'LINES (9)'

it 'an archive has them unless it is told not to'
"$DUMP" -f archive -o with plain || fail 'no archive'
"$DUMP" -f archive --no-embed -o without plain || fail 'no archive'
"$DUMP" -f archive --no-embed -o added plain || fail 'no archive'
capture "$DUMP" -q --embed added
assert_status 0
assert_empty err
tables with now
assert_same_tables before now

for change in gone rebuilt directory; do
	it "the program: $change"
	rm -rf home/program
	case $change in
	rebuilt) cp rebuilt home/program ;;
	directory) mkdir home/program ;;
	esac
	for profile in profile with added; do
		rm -rf now
		tables $profile now
		assert_same_tables before now
	done
	for profile in plain without; do
		capture "$DUMP" -f text $profile
		assert_not_contains out shop::
		assert_not_contains out zoo::
		assert_matches err '^swizzle: .*/home/program '
	done
	rm -rf home/program
done

it 'filters and patterns know embedded names'
capture "$DUMP" -f text -F 'shop::twice*' profile
assert_empty err
assert_eq 30 "$(row out calls 'shop::twice<int>')" 'calls'
capture "$DUMP" -f text -F '_ZN4shop5totalEi' profile
assert_empty err
assert_eq 1 "$(row out calls shop::total)" 'calls'

it 'the file says less than the profile: both are used'
strip -o home/program whole
capture "$DUMP" -f text profile
assert_same before/text out

it 'builds are compared by embedded names'
sed 's/30/50/' program.cc >third.cc
g++ -g -O1 -Wl,--build-id -o home/program third.cc || abort 'no program'
"$RUN" -o third home/program || abort 'no profile'
"$DUMP" -q --embed third
rm home/program
capture "$DUMP" --diff profile -f text third
assert_status 0
assert_empty err
assert_matches out '[+]20 .*shop::twice'

it 'separate debug files are looked for in --debug-dir'
strip -o home/program whole
"$RUN" -o stripped home/program || abort 'no profile'
debug() { objcopy --only-keep-debug whole "$1"; }
mkdir empty
for way in tree mirror beside; do
	rm -rf debug
	case $way in
	tree)
		mkdir -p debug/.build-id/"${id:0:2}"
		debug "debug/.build-id/${id:0:2}/${id:2}.debug"
		;;
	mirror)
		mkdir -p "debug$TMP/home"
		debug "debug$TMP/home/program.debug"
		;;
	beside)
		mkdir debug
		debug debug/program.debug
		;;
	esac
	capture "$DUMP" -q -f text --debug-dir empty stripped
	assert_not_contains out shop::
	capture "$DUMP" -f text --debug-dir empty --debug-dir debug stripped
	assert_empty err
	assert_eq 30 "$(row out calls 'shop::twice<int>')" "calls, $way"
	capture "$DUMP" -f callgrind -o - --debug-dir debug stripped
	assert_contains out program.cc
done

it 'the debug file of another program is of no use'
cp rebuilt debug/program.debug
capture "$DUMP" -q -f text --debug-dir debug stripped
assert_not_contains out shop::
assert_not_contains out zoo::

it 'debug information that cannot be decompressed is said to be so'
mkdir zstd
if objcopy --compress-debug-sections=zstd whole zstd/program.debug 2>objcopy.err; then
	capture "$DUMP" -f csv --debug-dir zstd stripped
	assert_status 0
	assert_contains out shop::total
	# older versions of libdw do not know zstd
	grep -q 'program.cc,' out || assert_contains err \
		"the debug information of $TMP/home/program cannot be decompressed"
else
	assert_contains objcopy.err zstd
fi

it 'the program is gone, its debug file is there'
rm home/program
debug debug/program.debug
capture "$DUMP" -f text --debug-dir debug stripped
assert_empty err
assert_eq 30 "$(row out calls 'shop::twice<int>')" calls

it '--symfs: modules below another root'
mkdir -p "root$TMP/home"
cp whole "root$TMP/home/program"
for there in no other; do
	[ $there = no ] || cp rebuilt home/program
	capture "$DUMP" -f text --symfs root plain
	assert_empty err
	assert_same before/text out
done
cp rebuilt "root$TMP/home/program"
capture "$DUMP" -f text --symfs root plain
assert_contains err 'other build-id'
assert_not_contains out shop::
assert_not_contains out zoo::

finish

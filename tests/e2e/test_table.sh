# shellcheck shell=bash
# The table for people: what swizzle-dump shows on a terminal, and -f table.
. "${BASH_SOURCE%/*}/lib.sh"
. "$TOP/tests/e2e/profiles.sh"
need python3
need_targets workers recursion
export TERM=xterm # it has colours

on_terminal() { # WIDTH HEIGHT COMMAND...: its output goes to `screen`, without \r
	python3 - "$@" >screen <<'END'
import fcntl, os, pty, struct, sys, termios
width, height = int(sys.argv[1]), int(sys.argv[2])
pid, end = pty.fork()
if pid == 0:
    os.execvp(sys.argv[3], sys.argv[3:])
fcntl.ioctl(end, termios.TIOCSWINSZ, struct.pack("HHHH", height, width, 0, 0))
data = b""
while True:
    try:
        part = os.read(end, 65536)
    except OSError:
        break
    if not part:
        break
    data += part
sys.stdout.buffer.write(data.replace(b"\r", b""))
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
END
}

# Waits until the terminal has its size.
sized() { # COMMAND
	# shellcheck disable=SC2016 # the other shell's
	printf 'while [ "$(stty size)" != "%s" ]; do sleep 0.05; done; exec %s' "$1" "$2"
}

"$RUN" -q --timing exact -o profile "$TARGETS/workers" >/dev/null || abort 'no profile'
"$DUMP" -f csv -o csv profile

it '-f table: the figures are those of csv, in units'
capture "$DUMP" -f table -n 0 profile
assert_status 0
assert_empty err
python3 - csv out <<'END' >wrong || fail 'cannot read the table'
import csv, re, sys
rows = {r["function"]: r for r in csv.DictReader(open(sys.argv[1]))}
total = sum(int(r["self_ns"]) for r in rows.values())
units = {"ns": 1, "µs": 1e3, "us": 1e3, "ms": 1e6, "s": 1e9}
seen = 0
for line in open(sys.argv[2], encoding="utf-8", errors="replace"):
    m = re.match(r" *<?([0-9.]+)% +[~≈]?([0-9.]+) (\S+)(?: +[0-9.]+ \S+)? +"
                 r"<?([0-9.]+)% +([0-9.]+) (\S+)(?: +[0-9.]+ \S+)? +"
                 r"([0-9,]+)  (shop::[a-z]+)  ", line)
    if not m or m.group(8) not in rows:
        continue
    seen += 1
    row = rows[m.group(8)]
    self_ns = float(m.group(2)) * units[m.group(3)]
    incl_ns = float(m.group(5)) * units[m.group(6)]
    if (int(m.group(7).replace(",", "")) != int(row["calls"]) or
            abs(self_ns - int(row["self_ns"])) > 0.006 * self_ns + 1 or
            abs(incl_ns - int(row["incl_ns"])) > 0.006 * incl_ns + 1):
        print(line, row)
print("" if seen >= 3 else "only %d rows of shop::" % seen)
END
assert_eq '' "$(cat wrong)" 'other figures'

it 'on a terminal it is what swizzle-dump shows; elsewhere it is the text table'
on_terminal 100 60 sh -c "$(sized '60 100' "$DUMP --no-pager profile")"
sed 's/\x1b\[[0-9;]*m//g' screen >plain
assert_matches plain 'self% .*incl% .*calls  function'
assert_contains screen 'shop::'
assert_eq '' "$(find . -name 'callgrind.out.*')" 'a callgrind file'
assert_le "$(sed 's/\x1b\[[0-9;]*m//g' screen | LC_ALL=C.UTF-8 awk '
	length($0) > n { n = length($0) } END { print n + 0 }')" 100 'width'
"$DUMP" -f text profile >text
capture "$DUMP" profile
assert_same text out
capture "$DUMP" -o written profile
assert_same text written
capture "$DUMP" -f callgrind profile
pid=$(sed -n 's/^# process \([0-9]*\):.*/\1/p' text)
assert_matches "callgrind.out.$pid" '^# callgrind format$'

it 'no row is wider than the terminal, whatever functions are called'
cat >names.c <<'END'
#define NAME(name) __attribute__((noinline, weak)) int name(int n) { return n + 1; }
NAME(a_name_that_is_so_long_that_no_terminal_of_eighty_columns_has_room_for_all_of_it)
NAME(関数の名前がとても長いので切らなければならない関数の名前がとても長いので)
NAME(short_name)
int main(void)
{
	return a_name_that_is_so_long_that_no_terminal_of_eighty_columns_has_room_for_all_of_it(1) +
	       関数の名前がとても長いので切らなければならない関数の名前がとても長いので(2) + short_name(3) - 9;
}
END
cc -finput-charset=UTF-8 -o long-names names.c || abort 'not built'
capture "$RUN" -q -o names ./long-names
assert_status 0
for width in 56 70 80 120; do
	COLUMNS=$width LC_ALL=C.UTF-8 "$DUMP" -f table --color=always names >coloured
	sed 's/\x1b\[[0-9;]*m//g' coloured | grep -a '%' >rows
	/usr/bin/python3 - $width >wide <<'END'
import sys, unicodedata
for line in open("rows", encoding="utf-8"):
    line = line.rstrip("\n")
    columns = sum(2 if unicodedata.east_asian_width(c) == "W" else 1 for c in line)
    if columns > int(sys.argv[1]):
        print(columns, line)
END
	assert_empty wide
	[ $width = 56 ] || assert_matches rows '  a_name.*of_it  long'
	assert_contains rows '関数の'
	assert_contains rows 'short_name'
done
assert_contains <("$DUMP" -f csv names) \
	a_name_that_is_so_long_that_no_terminal_of_eighty_columns_has_room_for_all_of_it

it 'colour: on a terminal, not with NO_COLOR, not in a file'
on_terminal 100 60 sh -c "$(sized '60 100' "$DUMP --no-pager profile")"
assert_ge "$(grep -c "$(printf '\033')" screen)" 1 'lines with colour'
on_terminal 100 60 sh -c "NO_COLOR=1; export NO_COLOR; $(sized '60 100' "$DUMP --no-pager profile")"
assert_eq 0 "$(grep -c "$(printf '\033')" screen)" 'lines with colour'
assert_contains screen 'shop::'
"$DUMP" -f table profile >out
assert_eq 0 "$(grep -c "$(printf '\033')" out)" 'lines with colour'
"$DUMP" -f table --color=always profile >out
assert_ge "$(grep -c "$(printf '\033')" out)" 1 'lines with colour'
capture "$DUMP" --color=pink -f table profile
assert_status 2

it 'rows: 25, or as many as are wanted'
all=$("$DUMP" -f table -n 0 profile | grep -c '^ *<*[0-9.]*% *[<~]*[0-9][0-9.]* [^ ]*s ')
assert_ge "$all" 30 'functions of workers'
assert_eq 25 "$("$DUMP" -f table profile | grep -c '^ *<*[0-9.]*% *[<~]*[0-9][0-9.]* [^ ]*s ')" rows
assert_eq 5 "$("$DUMP" -f table -n 5 profile | grep -c '^ *<*[0-9.]*% *[<~]*[0-9][0-9.]* [^ ]*s ')" rows
assert_eq "$(($(wc -l <csv) - 1))" "$all" 'all rows'

it 'a pager, where the table is longer than the screen'
cat >pager <<'END'
#!/bin/sh
echo "PAGER GOT"
cat >paged
END
chmod +x pager
on_terminal 100 20 sh -c "SWIZZLE_PAGER='$PWD/pager'; export SWIZZLE_PAGER; $(sized '20 100' "$DUMP -f tree profile")"
assert_contains screen 'PAGER GOT'
assert_contains paged 'shop::round'

it 'what fits on the screen does not wait in less'
if command -v less >/dev/null; then
	on_terminal 100 60 sh -c "PAGER=less; export PAGER; $(sized '60 100' "timeout 20 $DUMP -n 5 profile")"
	assert_eq 0 $? status
	assert_contains screen 'function'
fi

it 'a pager that ends early is no failure'
on_terminal 100 20 sh -c "SWIZZLE_PAGER=true; export SWIZZLE_PAGER; $(sized '20 100' "$DUMP -n 0 profile")"
assert_eq 0 $? status

it 'a pager that is not there is not waited for'
on_terminal 100 20 sh -c "SWIZZLE_PAGER=no-such-pager; export SWIZZLE_PAGER; $(sized '20 100' "$DUMP -n 5 profile")"
assert_contains screen 'function'
assert_not_contains screen 'no-such-pager'

it '-f text is for scripts, on a terminal, too'
on_terminal 100 60 sh -c "$(sized '60 100' "$DUMP --no-pager -f text profile")"
"$DUMP" -f text profile >out
assert_same out screen

it 'UTF-8 only where the locale has it'
LC_ALL=C "$DUMP" -f table -n 0 profile >ascii
LC_ALL=C.UTF-8 "$DUMP" -f table -n 0 profile >utf8
assert_eq 0 "$(LC_ALL=C grep -c -P '[\x80-\xff]' ascii)" 'lines that are not ASCII'
assert_ge "$(grep -c "$(printf '\302\265s')" utf8)" 1 'lines with a micro sign'
sed "s/$(printf '\302\265')s/us/g; s/≈/~/g" utf8 >plain
assert_same ascii plain

it 'a tree in a pipe is for scripts, unless colours are asked for'
"$DUMP" -f tree profile >out
assert_matches out '^# process '
"$DUMP" -f tree --color=always profile >out
assert_matches out 'wall-clock time'

it 'one call is no "1 calls"'
capture "$RUN" -q -F main -D 1 -o one "$TARGETS/workers"
assert_status 0
"$DUMP" -f table one >out
assert_matches out '^process .* wall-clock time, 1 call$'

it 'the shortest and the longest call, where they are asked for'
"$DUMP" -f table profile >out
assert_eq 0 "$(grep -c -E '^self% .* (min|max) ' out)" 'columns of extremes'
"$DUMP" -f table -s max profile >out
assert_matches out '^self% .* min +max +calls  function '

it 'what to do next is said below all of it, not below each part'
assert_matches out '^Who calls it, what it calls: swizzle-dump -f tree -F [^ ]+ profile$'
assert_matches out '^All of it in a browser: +swizzle-dump -f html profile$'
"$DUMP" -f table --by thread,parts profile >out
assert_ge "$(grep -c ', thread [0-9]' out)" 5 parts
assert_not_contains out 'Who calls it'

it 'the first row is what the next command shows, with quotes where a shell needs them'
"$DUMP" -f table -F 'shop::price*' profile >out
next=$(sed -n 's/^Who calls it.*: //p' out)
assert_eq "swizzle-dump -f tree -F 'shop::price(int)' profile" "$next"
eval "\"\$DUMP\" -q ${next#swizzle-dump }" >tree
assert_matches tree '^# callers of shop::price\(int\)$'
assert_matches tree '^ *100 .*  shop::round  workers$'

it 'a wide command: the program without its folder, then as much as there is room for'
"$RUN" -q -o wide "$TARGETS/recursion" deep 3 "$(printf 'x%.0s' {1..200})" >/dev/null
on_terminal 80 24 "$DUMP" -q --color=never --by process wide
assert_matches screen '^ *100% .*  (…|[.]{3})/recursion deep 3 xx+(…|[.]{3})$'

it 'what is missing stands above the rows, and only that'
"$DUMP" -f table profile >out
grep -vE 'hooks took|self has' out >others
assert_not_contains others Note:
with_lost() { # COUNT FILE: the profile, as if so many calls had been lost
	python3 - "$1" "$2" <<'END'
import struct, sys
data = bytearray(open("profile", "rb").read())
data[136:144] = struct.pack("<Q", int(sys.argv[1]))  # swz_file_header.lost_calls
open(sys.argv[2], "wb").write(data)
END
	assert_eq "$1" "$(info_value "$2" 'lost calls')" 'lost calls'
}
with_lost 1 one
"$DUMP" -q -f table one >out
assert_eq 'Note: 1 call was not recorded.' "$(grep Note: out | grep -vE "hooks took|self has")"
with_lost 4321 many
other_process many others 1
"$DUMP" -q -f table one others >out
assert_eq 'Note: 4,322 calls were not recorded.' "$(grep Note: out | grep -vE "hooks took|self has")"
assert_matches out '^2 profiles of 1 process, 10 threads, '
"$RUN" -q --timing exact -o deep "$TARGETS/recursion" deep 90 >/dev/null
"$DUMP" -f table deep >out
assert_eq 'Note: 75 recursive calls are folded into earlier ones (--recursion).' \
	"$(grep Note: out | grep -vE "hooks took|self has")"
head -c $(($(wc -c <profile) / 2)) profile >half
"$DUMP" -q -f table half >out
assert_contains out 'Note: 1 profile is damaged or cut off.'
"$RUN" -q -m trace --timing exact --max-size 1M -o full "$TARGETS/recursion" tree 22 >/dev/null
"$DUMP" -q -f table full >out
assert_matches out '^Note: [0-9,]+ events had no room in the trace \(--max-size\)\.$'
"$RUN" -q -m trace --timing exact --ring -o ring "$TARGETS/recursion" deep 3 >/dev/null
"$DUMP" -q -f table ring >out
assert_contains out 'Note: 1 trace holds the newest events only (--ring).'
"$RUN" -q -m profile --timing sampled -o sampled "$TARGETS/recursion" deep 3 >/dev/null
"$DUMP" -q -f table sampled >out
assert_contains out 'Note: sampled. Counts are exact, times are estimates'

finish

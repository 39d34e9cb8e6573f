# shellcheck shell=bash
# -f asm: a function's instructions with samples, calls, source lines and jumps.
. "${BASH_SOURCE%/*}/lib.sh"
. "$TOP/tests/e2e/profiles.sh"
need python3
need_targets stages passes callers
unset SWIZZLE_MODE

it 'samples of instructions add up to those of the function'
"$RUN" -q -m sample -o profile "$TARGETS/stages"
"$DUMP" -q -f asm -o listing spin profile || fail "status $?"
"$DUMP" -q -f csv -o csv profile
python3 - listing csv <<'EOF' || fail 'the listing'
import csv, re, sys
text = open(sys.argv[1]).read().splitlines()
rows = {row['function']: int(row['samples']) for row in csv.DictReader(open(sys.argv[2]))}
head = re.match(r'spin in stages, (\d+) bytes: (\d+) of (\d+) samples', text[0])
assert head, text[0]
samples, addresses, jumps, arrows = 0, [], 0, 0
for line in text[2:]:
    found = re.match(r'([ 0-9]{9}) ([ 0-9.%]{7}) .{11} +([0-9a-f]+)  (.*)', line)
    if not found or not re.match(r'[ 0-9]{29} *[0-9a-f]+  ', line.replace('%', ' ').replace('.', ' ')):
        continue
    samples += int(found.group(1)) if found.group(1).strip() else 0
    addresses.append(int(found.group(3), 16))
    arrows += '> ' in found.group(4)
assert samples == int(head.group(2)) == rows['spin'], (samples, head.group(0), rows['spin'])
assert addresses == sorted(addresses) and len(addresses) > 10
assert arrows >= 1, 'no jump is drawn'
EOF
assert_matches listing 'stages\.c:[0-9]+  .*while \(spent_ns\(\) < end\)'
assert_matches listing 'call.*<spent_ns>'
assert_not_contains listing '?' # a tab is no control character to be masked

it 'without a name it is the function with the most samples'
"$DUMP" -q -f asm -o hottest profile
assert_same listing hottest

it 'either syntax'
assert_matches listing '%r'
"$DUMP" -q -f asm --syntax intel -o intel spin profile
assert_not_contains intel '%r'

it 'calls of call instructions'
"$RUN" -q -m profile -o exact "$TARGETS/passes"
"$DUMP" -q -f asm -o listing main exact
for function in begin body end; do
	assert_matches listing "^ {17} +10 +[0-9a-f]+ .*call.*<$function>"
done

it 'with -m both calls and samples'
"$RUN" -q -m both -o both "$TARGETS/stages"
"$DUMP" -q -f asm -o listing deep both
assert_matches listing '^ .* 2000 +[0-9a-f]+ .*call.*<deep>'

it 'tree --offsets, swizzle-top -b --offsets: places in functions, by the disassembler'
place_of() { # CALLER CALLEE: "+0xOFFSET/0xSIZE" behind the only call of CALLEE
	objdump -d --no-show-raw-insn "--disassemble=$1" "$TARGETS/callers" |
		python3 -c 'if 1:
			import re, subprocess, sys
			name, callee, path = sys.argv[1:]
			lines = [l for l in sys.stdin if re.match(" +[0-9a-f]+:", l)]
			at = [i for i, l in enumerate(lines) if f"<{callee}>" in l]
			assert len(at) == 1, lines
			start, behind = (int(lines[i].split(":")[0], 16) for i in (0, at[0] + 1))
			for line in subprocess.check_output(["nm", "-S", path], text=True).splitlines():
				words = line.split()
				if words[-1] == name:
					print(f"+{behind - start:#x}/{int(words[1], 16):#x}")
		' "$1" "$2" "$TARGETS/callers"
}
left=left$(place_of left work) main=main$(place_of main left)
assert_matches <(echo "$left $main") '^left\+0x[0-9a-f]+/0x[0-9a-f]+ main\+0x[0-9a-f]+/0x[0-9a-f]+$'
for mode in profile count both sample; do
	"$RUN" -q -m $mode -o calls "$TARGETS/callers" 200 >/dev/null
	"$DUMP" -q --offsets -o tree calls || fail "status $?"
	assert_contains tree "  work  callers  from $left"
	assert_contains tree "  left  callers  from $main"
	"$DUMP" -q --offsets --bottom-up -o tree calls || fail "status $?"
	assert_matches tree "^ .*    ${left/+/\\+}  callers"
	[ $mode = count ] || assert_matches tree "^ .*      ${main/+/\\+}  callers"
	"$DUMP" -q --offsets -F work -o tree calls || fail "status $?"
	assert_matches tree "^ .*    ${left/+/\\+}  callers"
done
"$BUILD/bin/swizzle-top" -b -d 60 --offsets "$TARGETS/callers" >top
assert_contains top "            $left [callers]"
assert_contains top "            $main [callers]"
assert_matches top '^            work\+0x[0-9a-f]+/0x[0-9a-f]+ \[callers\]$'
# whatever was hit in work; what was hit in the kernel there is another function's
awk '/% .* hits?, / { on = / work  callers$/ } on' top >of_work
assert_eq 1 "$(grep -A1 '^            work' of_work | grep -c '^            left')" 'back traces of left'
capture "$BUILD/bin/swizzle-top" --offsets "$TARGETS/callers"
assert_refused 2 '--offsets'

it 'a range of time'
"$DUMP" -q -f asm --from 0 --to 5% -o listing spin profile
before=$(sed -n 's/^spin in.*: \([0-9]*\) of.*/\1/p' listing)
whole=$(sed -n 's/^spin in.*: \([0-9]*\) of.*/\1/p' hottest)
assert_le "$((before * 2))" "$whole"

it 'what cannot be shown'
capture "$DUMP" -f asm no_such_function profile
assert_status 1
assert_eq 'swizzle: no function is called no_such_function' "$(cat err)" 'the message'
cp "$TARGETS/stages" gone
"$RUN" -q -m sample -o lost ./gone
rm gone
capture "$DUMP" -f asm spin lost
assert_status 1
assert_contains err cannot

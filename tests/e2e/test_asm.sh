# shellcheck shell=bash
# -f asm: a function's instructions with samples, calls, source lines and jumps.
. "${BASH_SOURCE%/*}/lib.sh"
. "$TOP/tests/e2e/profiles.sh"
need python3
need_targets stages passes
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
capture "$DUMP" -f asm --syntax arm spin profile
assert_refused 2 syntax
capture "$DUMP" -f table --syntax intel profile
assert_refused 2 '--syntax'

it 'calls of call instructions'
"$RUN" -q -m profile -o exact "$TARGETS/passes"
"$DUMP" -q -f asm -o listing main exact
for function in begin body end; do
	assert_matches listing "^ {17} +10 +[0-9a-f]+ .*call.*<$function>"
done

it 'with -m both calls and samples'
"$RUN" -q -m both -o both "$TARGETS/stages"
"$DUMP" -q -f asm -o listing deep both
assert_matches listing '^ {17} +2000 +[0-9a-f]+ .*call.*<deep>'

it 'a range of time'
"$DUMP" -q -f asm --from 0 --to 5% -o listing spin profile
before=$(sed -n 's/^spin in.*: \([0-9]*\) of.*/\1/p' listing)
whole=$(sed -n 's/^spin in.*: \([0-9]*\) of.*/\1/p' hottest)
assert_le "$((before * 2))" "$whole"

it 'what cannot be shown'
capture "$DUMP" -f asm no_such_function profile
assert_status 1
assert_contains err 'no function is called no_such_function'
cp "$TARGETS/stages" gone
"$RUN" -q -m sample -o lost ./gone
rm gone
capture "$DUMP" -f asm spin lost
assert_status 1
assert_contains err cannot

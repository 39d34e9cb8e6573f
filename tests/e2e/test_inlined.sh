# shellcheck shell=bash
# Calls in inlined code are shown at their line in the file that has it, and the
# inlined function is named.
. "${BASH_SOURCE%/*}/lib.sh"
. "$TOP/tests/e2e/profiles.sh"
need gcc python3 perl

program small.h >small.h
program prog.c >prog.c
gcc -O2 -g -fno-optimize-sibling-calls -o prog prog.c || abort 'no program'
"$RUN" -o profile ./prog || abort 'no profile'
assert_calls profile leaf 55 caller 10 nested 10 down 5 visit 21 visit_one 10 \
	visit_two 10

line_of() { # FILE MARK
	grep -n -F "/* $2 */" "$1" | cut -d : -f 1
}

# caller, callee, file, line, calls and what is said of inlined code
calls_in() { # CALLGRIND-FILE
	perl -ne '
		sub name { my ($kind, $id, $name) = @_;
			$names{$kind, $id} = $name if defined $name;
			return $names{$kind, $id} }
		chomp;
		if (/^# (in .*)/) { $inlined = $1 }
		if (/^(fl|fi|fe|cfi)=\((\d+)\)(?: (.*))?/) {
			my $name = name("file", $2, $3);
			$file = $name =~ s,.*/,,r if $1 ne "cfi";
		}
		if (/^(c?fn)=\((\d+)\)(?: (.*))?/) {
			my $name = name("fn", $2, $3);
			$1 eq "fn" ? $fn = $name : ($cfn = $name);
		}
		if (/^calls=(\d+)/) {
			$calls = $1;
			my ($line) = split " ", <>;
			print "$fn $cfn $file:$line $calls",
				$inlined ? " $inlined" : "", "\n";
			undef $inlined;
		}' "$1"
}

"$DUMP" -f callgrind -o cg profile 2>err
assert_empty err
calls_in cg >calls
expect() { # CALLER CALLEE FILE MARK CALLS [WHAT-IS-SAID]
	local line
	line="$1 $2 $3:$(line_of "$3" "$4") $5${6:+ $6}"
	grep -q -F -x "$line" calls || fail "no call '$line':
$(excerpt calls)"
}

it 'a call in a header'
expect caller leaf small.h 'in small' 10 \
	"in small, inlined at line $(line_of prog.c 'into caller')"
it 'a call in inlined code of the same file'
expect caller leaf prog.c 'in near' 10 \
	"in near, inlined at line $(($(line_of prog.c 'into caller') + 1))"
it 'a call of its own'
expect caller leaf prog.c own 10
it 'inlined code in inlined code'
expect nested leaf small.h 'in small' 10 \
	"in small, inlined at line $(line_of prog.c 'into nested')"
expect nested leaf small.h second 10 \
	"in outer, inlined at line $(line_of prog.c 'into nested')"
it 'in a recursive function'
expect down leaf small.h 'in small' 5 \
	"in small, inlined at line $(line_of prog.c 'into down')"

it 'in a recursive function, where the sum of calls makes no sense'
# visit_one() and visit_two() are each within the other: twice nearly all time,
# unless visit() itself was kept waiting before it called the first
dump_table profile
sum=$(($(row table incl visit_one) + $(row table incl visit_two)))
for callee in one two; do
	place='prog.c into visit'
	[ "$sum" -gt "$(row table incl visit)" ] || place="small.h $callee"
	expect visit visit_$callee "${place%% *}" "${place#* }" 10 \
		"in dispatch, inlined at line $(line_of prog.c 'into visit')"
done

it 'in a function that belongs to another'
program within.c >within.c
gcc -O2 -g -fno-optimize-sibling-calls -o within within.c ||
	abort 'no program'
"$RUN" -o nested ./within || abort 'no profile'
"$DUMP" -f callgrind -o cg.within nested
calls_in cg.within | sed 's/^within\.[0-9]*/within/' >calls
expect within leaf within.c 'in small' 2 \
	"in small, inlined at line $(line_of within.c 'into within')"

# A walk that visited those again took time exponential in their depth.
if have 'entries whose siblings are their own children' g++; then
	{
		for i in {1..40}; do echo "namespace n$i {"; done
		echo '__attribute__((noipa)) int leaf(int n) { volatile int m = n; return m; }'
		for i in {1..40}; do echo "} int after_$i = $i;"; done
		echo 'int main() { return'
		for i in {1..40}; do echo "n$i::"; done
		echo 'leaf(0) + 1 == 0; }'
	} >deep.cc
	g++ -O2 -g -dA -S -o deep.s deep.cc || abort 'no program'
	awk '/# DW_AT_sibling/ { held = 1; next }
		match($0, /\(DIE \(0x[0-9a-f]+/) && held {
			print ".long", substr($0, RSTART + 6, RLENGTH - 6)
			held = 0
			count++
		}
		{ print }
		END { exit count < 40 }' deep.s >round.s || fail 'no siblings'
	gcc -o round round.s || abort 'no program'
	"$RUN" -o round.profile ./round || abort 'no profile'
	timeout 60 "$DUMP" -f callgrind -o cg.round round.profile
	assert_eq 0 $? 'status'
fi

it 'json'
"$DUMP" -f json profile >json
python3 - "$(line_of small.h 'in small')" "$(line_of prog.c 'into caller')" \
	>wrong 2>&1 <<'END'
import json, sys
part = json.load(open("json"))["parts"][0]
name = [function["name"] for function in part["functions"]]
found = [edge for edge in part["edges"]
         if name[edge["caller"]] == "caller" and edge.get("inlined") == "small"]
assert len(found) == 1, part["edges"]
assert found[0]["calls"] == 10, found
assert found[0]["line"] == int(sys.argv[1]), found
assert found[0]["file"].endswith("small.h"), found
END
assert_empty wrong

have 'callgrind_annotate: beside the line' callgrind_annotate || finish
# (in the directory of the sources it takes a function for two)
annotate() {
	(cd / && callgrind_annotate --threshold=100 --show-percs=no "$@" \
		"$TMP/cg") >annotated 2>err ||
		fail "callgrind_annotate: status $?"
	assert_empty err
}
annotate --auto=yes
beside() { # TEXT-OF-THE-LINE CALL
	grep -A 3 -F "/* $1 */" annotated >part
	assert_matches part "=> [^ ]*$2$"
}
beside 'in small' 'leaf \(1?[05]x\)'
beside second 'leaf \(10x\)'
beside 'in near' 'leaf \(10x\)'
beside own 'leaf \(10x\)'
beside "${place#* }" 'visit_two \(10x\)'

it 'callgrind_annotate: nothing is more than all'
annotate --inclusive=yes
total=$(sed -n 's/^summary: *//p' cg)
sed '1,/PROGRAM TOTALS/d' annotated | awk '$1 ~ /^[0-9,]+$/ {
	gsub(",", "", $1); print $1 }' >figures
assert_ge "$(wc -l <figures)" 8 functions
assert_le "$(sort -n figures | tail -n 1)" "$total" 'largest inclusive time'

finish

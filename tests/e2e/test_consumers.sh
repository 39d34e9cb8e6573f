# shellcheck shell=bash
# A trace of a real program with threads (Debian's python3) in the hands of
# those who read what swizzle-dump makes of it: each counts the same calls of
# the same functions. Those that are not installed are named.
modules=${SWIZZLE_VIEWERS:-${XDG_CACHE_HOME:-$HOME/.cache}/swizzle/viewers}/node_modules
. "${BASH_SOURCE%/*}/lib.sh"
. "$TOP/tests/e2e/profiles.sh"
need python3
PYTHON=$(readlink -f /usr/bin/python3) # by its own name
need $PYTHON
VIEWERS=$TOP/tests/viewers

program threads.py >threads.py
# In place of swizzle-run: nobody looks at the threads from outside, so waiting is not known
# apart, and the formats have one time. All of it: CONSUMERS_DEPTH=0
depth=${CONSUMERS_DEPTH:-12}
[ "$depth" != 0 ] || depth=
cat >preload <<END
#!/bin/sh
# -o PROFILE -- PROGRAM ARGUMENT...
profile=\$2
shift 3
env LD_PRELOAD='$LIBSWIZZLE' SWIZZLE_QUIET=1 SWIZZLE_MODE=trace SWIZZLE_OUTPUT="\$profile" \\
	${depth:+SWIZZLE_DEPTH=$depth} "\$@"
status=\$?
mv "\$profile".[0-9]* "\$profile"
exit \$status
END
chmod +x preload
it 'five threads'
RUN=./preload assert_same_as_native $PYTHON -I -S threads.py
assert_complete profile
assert_eq 5 "$(awk '/^ +tid +name +calls  / { on = 1; next } on && !NF { exit }
	on && NF > 3 { n++ } END { print n }' info)" threads

# What all is compared with: calls and times by the profile, and of the events.
"$DUMP" -f text profile >table
"$DUMP" -f csv profile >sums.csv
"$DUMP" -f csv --from 0 --no-compensate profile >events.csv
table_of() { # CSV COLUMN...: these and the name, names added up; no [outside]
	python3 - "$@" <<'END'
import collections, csv, sys
rows = collections.defaultdict(lambda: [0] * (len(sys.argv) - 2))
for row in csv.DictReader(open(sys.argv[1], newline='')):
    if row['function'] != '[outside]':
        sums = rows[row['function']]
        for i, column in enumerate(sys.argv[2:]):
            sums[i] += int(row[column])
for name, sums in sorted(rows.items()):
    if any(sums):
        print(*sums, name, sep='\t')
END
}
table_of sums.csv calls >calls
table_of sums.csv self_ns >self
table_of events.csv calls incl_ns >spans
total=$(sed -n 's/^# total \([0-9]*\) ns.*/\1/p' table)
it 'the profile and its events'
assert_ge "$(wc -l <calls)" 500 functions
table_of events.csv calls >got
assert_same calls got

sorted() { # FILE: by name; lines NUMBER... NAME
	LC_ALL=C sort -t '	' -k2 "$1"
}
LC_ALL=C sort -t '	' -k2 calls -o calls
LC_ALL=C sort -t '	' -k2 self -o self

it 'formats with sums'
list=()
for form in callgrind csv json tree speedscope pprof; do
	option=
	# of a trace it would have the events
	[ $form != speedscope ] || option='--by thread,parts'
	# shellcheck disable=SC2086 # an option and its value
	"$DUMP" -f $form $option -o sums.$form profile || fail "$form: status $?"
	case $form in
	callgrind) list+=("$form,sums.$form,no-calls") ;;
	speedscope) list+=("$form,sums.$form,no-calls,names") ;;
	*) list+=("$form,sums.$form") ;;
	esac
done
"$DUMP" -f folded -o folded profile
"$DUMP" -f folded -s calls -o folded-calls profile
"$DUMP" -f dot --percent-limit 0 -o graph profile
list+=("folded,folded,no-calls,names,folded-names"
	"folded-calls,folded-calls,no-self,names,folded-names"
	"dot,graph,no-self")
python3 "$TOP/tests/e2e/read_format.py" table "${list[@]}" >differences 2>&1 ||
	fail 'read_format.py'
assert_empty differences

it 'stacks, as FlameGraph adds them up'
assert_eq "$total" "$(awk '{ sum += $NF } END { printf "%.0f", sum }' folded)" ns
assert_eq "$(awk -F '\t' '{ sum += $1 } END { print sum }' calls)" \
	"$(awk '{ sum += $NF } END { print sum }' folded-calls)" calls

it 'formats with events'
for form in chrome perfetto speedscope; do
	"$DUMP" -f $form -o events.$form profile || fail "$form: status $?"
	python3 "$TOP/tests/e2e/read_events.py" $form events.$form >seen 2>err ||
		fail "$form: $(tail -n 1 err)"
	perl -ne '$n{$2} += $1 if /^.*?  (\d+)  (.*)$/;
		END { print "$n{$_}\t$_\n" for keys %n }' seen >seen.sums
	sorted seen.sums >got
	assert_same calls got
done

# Times are rounded down to ns, in each call once; what a table says is the sum of
# its functions' self times, each rounded once.
assert_spans() { # FILE: CALLS INCLUSIVE NAME
	python3 - spans "$1" <<'END' >differences
import sys
def read(path):
    rows = {}
    for line in open(path):
        calls, span, name = line.rstrip('\n').split('\t')
        sums = rows.get(name, (0, 0))
        rows[name] = sums[0] + int(calls), sums[1] + int(span)
    return rows
one, other = read(sys.argv[1]), read(sys.argv[2])
for name in sorted(set(one) | set(other)):
    a, b = one.get(name, (0, 0)), other.get(name, (0, 0))
    if a[0] != b[0] or abs(a[1] - b[1]) > a[0] + 5 + len(one):
        print(name, a, b)
END
	assert_empty differences
}

if have 'perfetto, by what protoc makes of its schema' protoc &&
	have 'perfetto' /usr/lib/python3/dist-packages/google/protobuf; then
	protoc --proto_path="$VIEWERS" --python_out=. "$VIEWERS/perfetto.proto" ||
		fail 'protoc'
	/usr/bin/python3 "$VIEWERS/perfetto_calls.py" . events.perfetto >seen 2>err ||
		fail "$(tail -n 1 err)"
	python3 -c '
import collections
sums = collections.defaultdict(lambda: [0, 0])
for line in open("seen"):
    calls, span, module, name = line.rstrip("\n").split("\t")
    sums[name][0] += int(calls)
    sums[name][1] += int(span)
for name, row in sums.items():
    print(*row, name, sep="\t")' >got
	assert_spans got
fi

if have 'callgrind_annotate' callgrind_annotate; then
	callgrind_annotate --threshold=100 --show-percs=no sums.callgrind \
		>annotated 2>err
	assert_empty err
	assert_eq "$total" "$(sed -n 's/ *PROGRAM TOTALS.*//p' annotated | tr -d ', ')" total
	perl -ne 'if (/^ *([\d,]+)  +\S+?:(.*?) \[/) { ($n = $1) =~ tr/,//d; $n{$2} += $n if $n && $2 ne "[outside]" }
		END { print "$n{$_}\t$_\n" for keys %n }' annotated >seen
	sorted seen >got
	assert_same self got
	callgrind_annotate --threshold=100 --inclusive=yes --tree=caller \
		--show-percs=no sums.callgrind >annotated 2>err
	assert_empty err
	perl -ne 'if (/^ *[\d,]+  < .* \(([\d,]+)x\)/) { ($n = $1) =~ tr/,//d; $calls += $n }
		elsif (/^ *[\d,]+ +\*  \S+?:(.*?) \[/) { $n{$1} += $calls; $calls = 0 }
		END { print "$n{$_}\t$_\n" for grep { $n{$_} } keys %n }' annotated >seen
	sorted seen >got
	assert_same calls got
fi

if have 'kcachegrind' kcachegrind Xvfb xdotool dbus-run-session; then
	cp sums.callgrind callgrind.out.threads
	timeout 150 "$VIEWERS/kcachegrind" callgrind.out.threads >shown 2>err
	status=$?
	if [ $status -eq 77 ]; then
		echo "not tested: $(cat err)"
	else
		assert_status 0
		assert_eq "window	callgrind.out.threads [$PYTHON -I -S threads.py]" \
			"$(grep '^window' shown)" 'the only window'
		assert_eq "$total" \
			"$(sed -n 's/^status.* Cost: //p' shown | tr -cd 0-9)" total
		python3 - sums.csv shown <<'END' >differences
import collections, csv, re, sys
calls = collections.Counter()
incl = collections.Counter()
for row in csv.DictReader(open(sys.argv[1], newline='')):
    calls[row['function'], row['module']] += int(row['calls'])
seen = 0
for line in open(sys.argv[2]):
    kind, *row = line.rstrip('\n').split('\t')
    # its own: the sum of a cycle, the number of functions that it leaves out
    if kind != 'row' or row[3].startswith('<cycle') or 'skipped' in row[3]:
        continue
    key = re.sub(' <cycle [0-9]+>$', '', row[3]), row[4]
    if key[0] == '[outside]':
        continue
    seen += 1
    if calls[key] != int(re.sub('[^0-9]', '', row[2])):
        print(row, calls[key])
if seen < 50:
    print('only', seen, 'functions')
END
		assert_empty differences
	fi
fi

if have 'pprof-format' node "$modules/pprof-format"; then
	capture node "$TOP/tests/e2e/pprof_functions.js" "$modules" sums.pprof
	assert_status 0
	sed -n 's/^\([1-9][0-9]*\) [0-9]* /\1\t/p' out >seen
	sorted seen >got
	assert_same calls got
fi

if have 'graphviz' dot; then
	"$DUMP" -f dot --percent-limit 2 -o graph profile
	dot -Tsvg graph >svg 2>err || fail 'dot'
	assert_empty err
	python3 - sums.csv svg <<'END' >differences
import collections, csv, sys
import xml.etree.ElementTree as tree
calls = collections.Counter()
for row in csv.DictReader(open(sys.argv[1], newline='')):
    calls[row['function'], row['module']] += int(row['calls'])
boxes = 0
svg = '{http://www.w3.org/2000/svg}'
for group in tree.parse(sys.argv[2]).iter(svg + 'g'):
    if group.get('class') != 'node':
        continue
    text = [line.text for line in group.iter(svg + 'text')]
    name, module, count = text[0], text[1], text[-1]
    if name == '[outside]':
        continue
    boxes += 1
    if count.split() != [str(calls[name, module]), 'calls']:
        print(text, calls[name, module])
if boxes < 10:
    print('only', boxes, 'boxes')
END
	assert_empty differences
fi

if have 'speedscope, its own importer' chromium \
	"$modules/speedscope/dist/release/index.html"; then
	import_into() { # FILE
		timeout 200 python3 "$VIEWERS/speedscope_import.py" \
			"$modules/speedscope/dist/release/index.html" "$1" \
			>imported 2>err || fail "$1: $(tail -n 1 err)"
	}
	import_into events.speedscope
	assert_eq 'profiles	5	evented	nanoseconds' "$(head -n 1 imported)"
	sed -n 's/^function\t\([0-9]*\)\t[0-9]*\t/\1\t/p' imported |
		grep -v '	\[outside\]$' >got
	# it does not save calls that have no time (jumps in a circle)
	python3 - events.speedscope spans <<'END' >timed
import collections, json, sys
file = json.load(open(sys.argv[1]))
none = collections.Counter()
for profile in file['profiles']:
    stack = []
    for event in profile['events']:
        if event['type'] == 'O':
            stack.append(event['at'])
        elif stack.pop() == event['at']:
            none[file['shared']['frames'][event['frame']]['name']] += 1
for line in open(sys.argv[2]):
    calls, span, name = line.rstrip('\n').split('\t')
    if int(calls) > none[name]:
        print(int(calls) - none[name], span, name, sep='\t')
END
	assert_ge "$(wc -l <timed)" 500 functions
	mv timed spans
	assert_spans got
	import_into sums.speedscope
	# (speedscope keeps stacks as opens and closes)
	assert_matches imported '^profiles	5	[a-z]+	nanoseconds$'
	assert_eq "weight	$total" "$(grep '^weight' imported)"
	perl -ne '$n{$2} += $1 if /^function\t\d+\t(\d+)\t\d+\t(.*)$/ && $1 && $2 ne "[outside]";
		END { print "$n{$_}\t$_\n" for keys %n }' imported >seen
	sorted seen >got
	assert_same self got
	"$DUMP" -f speedscope -s calls -o calls.speedscope profile
	import_into calls.speedscope
	perl -ne '$n{$2} += $1 if /^function\t\d+\t(\d+)\t\d+\t(.*)$/ && $1 && $2 ne "[outside]";
		END { print "$n{$_}\t$_\n" for keys %n }' imported >seen
	sorted seen >got
	assert_same calls got
fi

if have 'the page' chromium; then
	timeout 300 python3 "$TOP/tests/html/check.py" "$DUMP" profile table whole \
		>check 2>&1 || fail "$(cat check)"
fi
finish

# shellcheck shell=bash
# swizzle-dump --diff: the figures of both profiles, as each has them by itself,
# for the functions that are the same in two versions of a program.
. "${BASH_SOURCE%/*}/lib.sh"
. "$TOP/tests/e2e/profiles.sh"
need python3 perl g++
need_targets workers fib

build() { # FILE [FLAG...]
	local file=$1
	shift
	cp "$TOP/tests/e2e/versions.cc" half.cc
	g++ -O1 -g -pthread -DPART "$@" -c -o half.o half.cc &&
		g++ -O1 -g -pthread "$@" -c -o rest.o "$TOP/tests/e2e/versions.cc" &&
		g++ -pthread -o "$file" rest.o half.o || abort 'no program'
}

dump() { # OPTION...: into `out`, silently
	capture "$DUMP" "$@"
	assert_status 0
	assert_empty err
}

agree() { # KIND FILE...: for read_diff.py
	python3 "$TOP/tests/e2e/read_diff.py" "$@" >wrong 2>&1 ||
		fail "$1: $(head -n 20 wrong)"
}

# All formats of OLD and NEW, and of both together, say the same.
all_agree() { # OLD NEW [OPTION...]
	local old=$1 new=$2 format
	shift 2
	for format in text folded callgrind; do
		"$DUMP" -q -f $format -o old.$format "$@" "$old"
		"$DUMP" -q -f $format -o new.$format "$@" "$new"
		dump -f $format -o diff.$format "$@" --diff "$old" "$new"
		agree $format diff.$format old.$format new.$format
	done
	"$DUMP" -q -f folded -s calls -o old.calls "$@" "$old"
	"$DUMP" -q -f folded -s calls -o new.calls "$@" "$new"
	dump -f folded -s calls -o diff.calls "$@" --diff "$old" "$new"
	agree folded diff.calls old.calls new.calls
	dump -f tree -o diff.tree "$@" --diff "$old" "$new"
	agree tree diff.tree old.calls old.folded new.calls new.folded
}

# column of FUNCTION in a comparison; alike names add up
diff_row() { # TABLE COLUMN FUNCTION
	perl -e '
		my ($table, $column, $name) = @ARGV;
		my ($at, $names, $sum);
		open(my $file, "<", $table);
		while (<$file>) {
			next if /^#/;
			if (/calls\.old/) {
				my @columns = split;
				$names = $#columns - 1;
				($at) = grep { $columns[$_] eq $column } 0 .. $#columns;
				next;
			}
			my @fields = split(" ", $_, $names + 1);
			my ($found) = split(/  /, $fields[$names]);
			$sum += $fields[$at] if $found eq $name;
		}
		print $sum if defined $sum;' "$1" "$2" "$3"
}

it 'two runs of one program: no call more or less'
for target in workers "fib 20"; do
	# shellcheck disable=SC2086 # with its arguments
	for run in one two; do
		# (what an unwinder does depends on where a thread was cancelled)
		"$RUN" -q -M '!libgcc*' -o $run "$TARGETS/"$target >/dev/null
	done
	all_agree one two
	for file in text tree; do
		awk '!/^#/ && !/calls.old/ && ($1 != $2 || $3 != "0")' \
			diff.$file >changed
		assert_empty changed
		assert_ge "$(grep -c '^ *[0-9]' diff.$file)" 4 rows
		# (a time may be too short to be told)
		perl -ne 'print if /\((new|gone)\)$/ && !/^ *0 +0 /' \
			diff.$file >changed
		assert_empty changed
	done
	awk '$(NF - 1) != $NF' diff.calls >changed
	assert_empty changed
done

it 'a profile and itself'
dump --diff one one
cp out plain
capture "$DUMP" --diff -f text one one
assert_status 2
assert_contains err "It is followed by OLD and NEW"
dump -f text --diff one one
assert_same plain out # the default
awk '!/^#/ && !/calls.old/ && ($3 != "0" || $6 != "0" || $7 != "+0.00" ||
	$10 != "0" || $11 != "+0.00")' out >changed
assert_empty changed
dump -f callgrind --diff one one -o cg
assert_matches cg '^summary: 0 0 [1-9][0-9]* [1-9][0-9]*$'

mkdir old new
build old/prog
build new/prog -DLATER
"$RUN" -o first old/prog || abort 'no profile'
"$RUN" -o second new/prog || abort 'no profile'

it 'two versions of a program'
all_agree first second --demangle=full
all_agree second first --demangle=full --no-compensate
all_agree first second --demangle=full -H 'shop::work*' 
all_agree first second --demangle=full -N 'shop::*(long)'
dump --diff first second
calls() { # FUNCTION "OLD NEW DIFFERENCE"
	assert_eq "$2" "$(diff_row out calls.old "$1") $(diff_row out calls.new "$1") $(diff_row out calls.diff "$1")" "calls of $1"
}
remark() { # FUNCTION REMARK
	assert_eq "$2" "$(sed -n "s/.*[0-9-]  $1  prog//p" out | xargs)" "$1"
}
calls shop::work '120 120 0'
calls shop::recursive '120 160 40'
calls shop::removed '30 0 -30'
calls shop::before '30 0 -30'
calls shop::after '0 40 40'
calls 'shop::price(double)' '0 40 40'
calls 'shop::price(int)' '30 40 10'
calls other_half '3 4 1'
remark shop::removed '(gone)'
remark shop::before '(gone)'
remark shop::after '(new)'
remark 'shop::price(double)' '(new)'
remark shop::work ''

it 'static functions of the same name: each is compared with itself'
# 15 calls by other_half() before; 28 of these and 40 others after
assert_eq '0 40 (new),15 28' "$(awk '/  helper(\(long\))?(@[0-9a-f]+)?  prog/ {
	print $1, $2, $NF ~ /^\(/ ? $NF : "" }' out | sed 's/ $//' | sort |
	paste -s -d ,)" helper
assert_eq '0 4 (new),0 40 (new)' "$(awk '/  added(\(long\))?(@[0-9a-f]+)?  prog/ {
	print $1, $2, $NF }' out | sort | paste -s -d ,)" added

it 'calls whose lines have moved'
dump -f callgrind -o cg --diff first second
perl -ne '
	$names{$1} = $2 if /^c?fn=\((\d+)\) (.*)/;
	$caller = $names{$1} if /^fn=\((\d+)\)/;
	$callee = $names{$1} if /^cfn=\((\d+)\)/;
	if (/^calls=(\d+)/) {
		my ($line, $more, $less, $old, $new) = split " ", <>;
		if ("$caller $callee" eq "main named") {
			$sum += $new - $old;
			$up += $more;
			$down += $less;
			print "unshared\n" if $more > $new || $less > $old;
		}
		print "$caller $callee $1 ", $old && $new ? "both" :
			$old ? "old" : "new", "\n";
	}
	END { print "main named: ", $up == ($sum > 0 ? $sum : 0) &&
		$down == ($sum < 0 ? -$sum : 0) ? "the difference" :
		"$up and $down of $sum", "\n" }' cg | sort >edges
assert_matches edges '^thread shop::recursive 40 both$'
assert_eq 'thread shop::work 40 both,thread shop::work 40 both' \
	"$(grep 'thread shop::work' edges | paste -s -d ,)"
assert_matches edges '^thread shop::removed 30 old$'
# one line in both, one before, two after
assert_contains edges 'main named: the difference'
assert_not_contains edges unshared
assert_eq 'both new new old' "$(sed -n 's/^main named 1 //p' edges | xargs)" \
	'lines of calls to named'
if have 'callgrind_annotate reads each event' callgrind_annotate; then
	for event in more less old new; do
		callgrind_annotate --sort=$event --threshold=100 --show-percs=no \
			--inclusive=yes cg >annotated 2>annotated.err ||
			fail "callgrind_annotate: status $?"
		assert_empty annotated.err
	done
	assert_eq "$(sed -n 's/^summary: //p' cg)" \
		"$(sed -n 's/ *PROGRAM TOTALS.*//p' annotated | tr -d , | xargs)"
fi
it 'KCachegrind shows it'
timeout 240 "$TOP/tests/viewers/kcachegrind" "$TMP/cg" >window 2>err
status=$?
if [ $status -ne 77 ]; then
	assert_status 0
	assert_eq "$(sed -n 's/^summary: \([0-9]*\) .*/\1/p' cg)" \
		"$(sed -n 's/^status.*Total More than before (ns) Cost: //p' window |
			tr -d ' ')" 'total of the first event'
	for function in work removed before after recursive; do
		assert_matches window "	shop::$function	prog: versions.cc$"
	done
fi

it 'a program with another name, a copy of it, and without symbols'
cp new/prog later
"$RUN" -o renamed ./later
dump --diff first renamed
calls shop::work '120 120 0'
calls other_half '3 4 1'
dump --diff second renamed
awk '!/^#/ && !/calls.old/ && ($1 != $2 || $3 != "0")' out >changed
assert_empty changed
strip -o old/bare old/prog
mkdir copy
cp old/bare copy/bare
strip -o new/bare new/prog
for dir in old new copy; do
	"$RUN" -o bare.$dir $dir/bare
done
dump --diff bare.old bare.copy
awk '!/^#/ && !/calls.old/ && ($1 != $2 || $3 != "0" || /\((new|gone)\)/)' \
	out >changed
assert_empty changed
assert_ge "$(grep -c '  sub_' out)" 8 'functions without a name'
# an address is nothing to know a function of another build by
dump --diff bare.old bare.new
awk '/  sub_/ && $1 && $2' out >changed
assert_empty changed

it 'text: order, rows, filters'
sizes() { # COLUMN: of the differences, without their sign
	awk -v at="$1" '!/^#/ && !/calls.old/ {
		sub(/^[-+]/, "", $at); print $at }' out
}
dump --diff first second
rows=$(sizes 6 | wc -l)
sizes 6 >by_self
assert_sorted by_self -n -r
dump --diff first second -s incl
sizes 10 >by_incl
assert_sorted by_incl -n -r
dump --diff first second -s calls
sizes 3 >by_calls
assert_sorted by_calls -n -r
assert_eq "$rows" "$(sizes 3 | wc -l)" rows
head -n 11 out >expected # with seven lines of heading
dump --diff first second -s calls -n 4
assert_same expected out
dump --diff first second -s name
awk '!/^#/ && !/calls.old/ { print $12 }' out >by_name
assert_sorted by_name
dump --diff first second -F 'shop::re*'
assert_eq 'shop::recursive shop::removed' \
	"$(awk '!/^#/ && !/calls.old/ { print $12 }' out | sort | xargs)"
dump --diff first second
total=$(sed -n 's/^# ...: total \([0-9]*\) ns.*/\1/p' out | sort -n | tail -n 1)
awk -v total="$total" '/^#/ || /calls.old/ ||
	($6 < 0 ? -$6 : $6) * 100 >= total' out >expected
dump --diff first second --percent-limit 1
assert_same expected out
assert_eq "# old: process $(info_value first pid): old/prog" "$(head -n 1 out)"
assert_eq "# new: process $(info_value second pid): new/prog" \
	"$(sed -n 3p out)"

it 'tree: bottom-up, callers and callees, limits'
# numbers, and the names with their indentation
tree_rows() {
	perl -ne 'print "$1 $2 $3\n" if /^ *(\d+) +(\d+)(?: +[-+0-9.]+){9}  (.*)$/' \
		"$1"
}
dump -f tree --bottom-up --diff first second
tree_rows out | grep -v '^[0-9]* [0-9]*  ' | sort >expected
dump --diff first second
tree_rows out | sort >got
assert_same expected got
dump -f tree -F shop::work --diff first second
assert_contains out '# callers of shop::work'
assert_contains out '# callees of shop::work'
sed -n '/# callers/,/# callees/p' out >part
tree_rows part >callers
assert_matches callers '^120 120 shop::work  prog$'
assert_matches callers '^60 80   thread  prog$'
assert_matches callers '^30 0   shop::before  prog  \(gone\)$'
assert_matches callers '^0 40   shop::after  prog  \(new\)$'
dump -f tree -n 5 --diff first second
assert_eq 5 "$(grep -c '^ *[0-9]' out)" lines
# a line is there if it, or one beneath it, differs by so much
dump -f tree --diff first second
perl -ne '
	BEGIN { $limit = '"$total"' * 0.01 }
	if (/^#/ || /calls\.old/) { print; next }
	/^ *(?:\S+ +){9}(\S+) +\S+  ( *)/ or die;
	push @lines, [$_, abs $1, length $2];
	END {
		for my $i (0 .. $#lines) {
			my $most = $lines[$i][1];
			for (my $j = $i + 1; $j < @lines &&
					$lines[$j][2] > $lines[$i][2]; $j++) {
				$most = $lines[$j][1] if $lines[$j][1] > $most;
			}
			print $lines[$i][0] if $most >= $limit;
		}
	}' out >expected
cp out whole
dump -f tree --percent-limit 1 --diff first second
assert_same expected out
assert_ge "$(wc -l <whole)" $(($(wc -l <out) + 2)) 'lines that are left out'

it 'threads by their names'
dump -f folded -s calls --by thread,parts --diff first second
assert_eq 'prog;main 1 1' "$(grep ';main ' out)"
assert_eq 'helper;thread;shop::work 20 40' "$(sed -n 's/^helper;.*;\(thread;shop::work \)/helper;\1/p' out)"
assert_eq '20 0' "$(sed -n 's/^early;.*;thread;shop::work //p' out)"
assert_eq '0 20' "$(sed -n 's/^late;.*;thread;shop::work //p' out)"
dump --by thread,parts --diff first second
assert_eq 4 "$(grep -c 'calls.old' out)" parts
assert_eq 'early helper helper late prog prog' \
	"$(sed -n 's/^# ...: total [1-9].* called //p' out | sort | xargs)"
dump -f callgrind --by thread,files -o cgt --diff first second
assert_eq 4 "$(find . -maxdepth 1 -name 'cgt-0*' | wc -l)" files
dump -f folded -s calls --by thread,parts --diff second renamed
awk '$(NF - 1) != $NF' out >changed
assert_empty changed

it 'a directory is one run; of several runs there are means'
mkdir both
"$RUN" -o both/swizzle.out.1 old/prog
"$RUN" -o both/swizzle.out.2 old/prog
dump --diff both second
calls shop::work '240 120 -120'
assert_matches out '^# old: 2 profiles merged$'
assert_matches out '^# total: .*; the noise is unknown'
dump --diff first -- both first
calls shop::work '120 180 60'
assert_matches out '^# total: .*; the noise is unknown'

it 'changes and noise of several runs'
for run in 1 2 3; do
	"$RUN" -o "first.$run" old/prog
	"$RUN" -o "second.$run" new/prog
done
olds=(first.1 first.2 first.3)
news=(second.1 second.2 second.3)
# what each run says by itself, and what all formats say of all
runs_agree() { # OPTION... -- OLD... -- NEW...
	local options=() format
	while [ "$1" != -- ]; do
		options+=("$1")
		shift
	done
	shift
	for format in text csv json folded tree callgrind; do
		dump -f $format -o "runs.$format" "${options[@]}" --diff "$@"
	done
	dump -q -f pprof -o runs.pprof "${options[@]}" --diff "$@"
	dump -f dot --percent-limit 0 -o runs.dot "${options[@]}" --diff "$@"
	for run in "$@"; do
		[ "$run" = -- ] || "$DUMP" -q -f text -o "$run.text" "${options[@]}" "$run"
	done
	python3 "$TOP/tests/e2e/read_runs.py" runs "$@" >wrong 2>&1 ||
		fail "$(head -n 20 wrong)"
}
runs_agree --demangle=full -- "${olds[@]}" -- "${news[@]}"
runs_agree --demangle=full -- "${olds[@]}" -- "${olds[@]}" first
runs_agree --demangle=full --no-compensate -- first.1 first.2 -- "${news[@]}"
dump --diff "${olds[@]}" -- "${news[@]}"
calls shop::work '120 120 0'
calls shop::recursive '120 160 40'
calls shop::removed '30 0 -30'
# counts that are the same in all runs are exact: a change is no noise
assert_eq '0 0 0' "$(for name in shop::work shop::recursive shop::removed; do
	echo "$(diff_row out calls.noise $name)"; done | xargs)" 'noise of calls'
remark shop::removed '(gone)'
remark 'shop::price(double)' '(new)'
assert_not_contains out 'shop::recursive  prog  (noise)'
dump --diff "${olds[@]}" -- "${olds[@]}"
# the same runs on both sides: nothing but noise
assert_matches out '^# total: [+]0 ns \([+]0.00%\), noise [1-9][0-9]* ns: no change beyond the noise$'
assert_matches out '^# functions: 0 slower .*, 0 faster .*, 0 changed otherwise, [1-9]'
awk '!/^#/ && !/calls.old/ && !/  \(noise\)$/' out >changed
assert_empty changed
dump --diff first second
assert_not_contains out noise.
dump -f dot --percent-limit 0 --diff first second
assert_contains out 'The noise is unknown'
assert_not_contains out '#eeeeee' # nor is anything grey
dump -f dot -n 2 --percent-limit 0 --diff first second
assert_eq 2 "$(grep -c '^	f[0-9]* \[' out)" boxes
# the same runs on both sides, so that no clock decides what is drawn
dump -f dot --percent-limit 0 --diff "${olds[@]}" -- "${olds[@]}"
assert_contains out 'no change beyond the noise'
if have 'graphviz draws it' dot; then
	dot -Tsvg out >picture 2>err || fail "$(head -c 200 err)"
	assert_empty err
	assert_contains picture 'no change beyond the noise'
fi

it 'a child process is no run of its own'
mkdir tree
"$RUN" -o tree/ sh -c '"$0"; exit' old/prog || abort 'no profiles'
assert_eq 2 "$(find tree -type f | wc -l)" profiles
capture "$DUMP" --diff tree/* -- first.1 first.2
assert_status 0
assert_eq 1 "$(wc -l <err)" 'one line'
assert_matches err '^swizzle: tree/[^ ]* is of a child process of tree/[^ ]*, and no run of its own: give a directory for each run$'
dump --diff tree tree -- tree tree
dump --diff first.1 first.2 -- first.3 first.1

it '--fail-above: status 1 and one line for what became slower'
g++ -O1 -o slow "$TOP/tests/e2e/slower.cc" || abort 'no program'
"$RUN" -o once ./slow || abort 'no profile'
# one run whose clock ran at so many speeds: all times are multiples of its own
python3 "$TOP/tests/e2e/at_other_speeds.py" once before 0.98 1 1.02 -- \
	after 1.98 2 2.02 || abort 'no profiles'
fails_above() { # STATUS OPTION...
	local code=$1
	shift
	capture "$DUMP" "$@"
	assert_status "$code"
}
# twice as much: the noise is 4.604 * 0.02 * sqrt(2 / 3) = 7.5% of the old time
fails_above 1 --fail-above 90% --diff before.* -- after.*
assert_eq 1 "$(wc -l <err)" 'one line'
# the first row is the largest change (which of them is, a busy machine decides)
most=$(awk '/^ *[0-9]/ { print $(NF - 1); exit }' out)
assert_matches out "^ *[0-9].*  $most  slow\$"
assert_matches err '^swizzle: slower by more than 90%: total [+]100.0% \([+][1-9][0-9]* ns, noise [1-9][0-9]* ns\); '"$most"' \(slow\): self [+]100.0% \([+][1-9][0-9]* ns, noise [1-9][0-9]* ns\); and other functions$'
awk '$2 == "old:" && $3 == "total" { old = $4 }
	$2 == "total:" {
		split($0, part, "noise ")
		share = part[2] / old
		if (share > 0.0751 && share < 0.0753)
			print "right"
		else
			print share
	}' out >noise
assert_eq right "$(cat noise)" 'noise of the total'
# the table is written all the same
assert_matches out '  heavy  slow$'
fails_above 1 -f folded --fail-above 90 --diff before.* -- after.*
assert_matches out ';heavy [1-9]'
fails_above 0 --fail-above 110% --diff before.* -- after.*
assert_empty err
fails_above 0 --fail-above 0 --diff after.* -- before.*
assert_empty err
# 5% is not beyond 7.5%, so a limit of 1% cannot be told
fails_above 3 --fail-above 1% --diff before.1 before.2 before.2 -- before.3 before.3 before.2
assert_eq 1 "$(wc -l <err)" 'one line'
assert_matches err '^swizzle: undecided, as the noise is larger than 1%: total [+-][0-9.]+% \([+-][0-9]+ ns, noise [1-9][0-9]* ns\); (heavy|steady|main) \(slow\): self .*[.] Give more runs, on a quieter machine$'
fails_above 0 --fail-above 200% --diff before.1 before.2 before.2 -- before.3 before.3 before.2
assert_empty err
# (of what is surely faster nothing is left to decide)
fails_above 0 --fail-above 1% --diff after.* -- before.*
assert_empty err
# what is filtered out is not judged, nor is the total then
fails_above 1 --fail-above 90% -F steady --diff before.* -- after.*
assert_matches err '^swizzle: slower by more than 90%: steady \(slow\): self [+]100'
fails_above 0 --fail-above 90% -F nothing --diff before.* -- after.*
# of a single run the noise is not known
fails_above 1 --fail-above 90% --diff before.1 after.1
assert_contains err 'noise unknown'
fails_above 1 --fail-above 90% --by thread,parts --diff before.* -- after.*
assert_contains err 'in threads called'
# what was not there was not checked
fails_above 1 --fail-above 90% --diff before.1 before.2 -- before.3 nothing
assert_matches err '^swizzle: nothing: No such file'

it '--fail-calls-above: status 1 and one line for what is called more often'
cat >calls.c <<'END'
#include <stdlib.h>
static volatile int sum;
__attribute__((noipa)) void leaf(void) { for (int i = 0; i < 500; i++) sum++; }
__attribute__((noipa)) void work(void) { for (int i = 0; i < 20; i++) leaf(); }
int main(int argc, char **argv)
{
	for (int i = 0; i < atoi(argv[argc - 1]); i++)
		work();
	return 0;
}
END
gcc -g -O1 -o calls calls.c || abort 'no program'
for n in 1 2; do
	"$RUN" -q -m count -o few.$n ./calls 100
	"$RUN" -q -m count -o more.$n ./calls 112
done
# exact counts are decided with a single run of each, or several
for runs in '1 -- more.1' '1 few.2 -- more.1 more.2'; do
	# shellcheck disable=SC2086 # words
	fails_above 1 --fail-calls-above 10% --diff few.$runs
	assert_eq 1 "$(wc -l <err)" 'one line'
	assert_matches err '^swizzle: more calls by more than 10%: total [+]12[.]0% \([+]252 calls, noise .*\); leaf \(calls\): [+]12[.]0% \([+]240 calls, noise .*\); and other functions$'
	# shellcheck disable=SC2086
	fails_above 0 --fail-calls-above 12% --diff few.$runs
	assert_empty err
done
fails_above 0 --fail-calls-above 0 --diff few.1 few.2 -- few.2 few.1
assert_empty err
fails_above 1 --fail-calls-above 5% -F work --diff few.1 -- more.1
assert_matches err '^swizzle: more calls by more than 5%: work \(calls\): [+]12[.]0% \([+]12 calls'
# calls that differ from run to run
"$RUN" -q -m count -o most ./calls 150
fails_above 3 --fail-calls-above 10% --diff few.1 most few.2 -- most few.1 most
assert_matches err '^swizzle: undecided, as the noise is larger than 10%: total '

it '--annotate: the same, as GitHub reads it'
fails_above 1 --annotate --fail-calls-above 10% --diff few.1 few.2 -- more.1 more.2
assert_matches err '^::error title=swizzle::total: [+]12[.]0%25 \([+]252 calls, noise 0 calls\)$'
assert_matches err '^::error file=calls.c,line=3,title=swizzle::leaf \(calls\): [+]12[.]0%25 '
assert_matches err '^::error file=calls.c,line=4,title=swizzle::work \(calls\): [+]12[.]0%25 '
assert_eq 3 "$(grep -c '^::' err)" annotations
mkdir -p elsewhere
(cd elsewhere && "$DUMP" --annotate --fail-calls-above 10% --diff ../few.1 -- ../more.1 >out 2>err)
assert_matches elsewhere/err "^::error file=$TMP/calls.c,line=3,"
GITHUB_WORKSPACE=$TMP capture "$DUMP" -q --annotate --fail-calls-above 10% --diff few.1 -- more.1
assert_matches err '^::error file=calls.c,line=3,'
fails_above 3 --annotate --fail-calls-above 10% --diff few.1 most few.2 -- most few.1 most
assert_matches err '^::warning title=swizzle::total: .* cannot be told from noise$'
capture "$DUMP" --annotate few.1
assert_refused 2 '--annotate says what --fail-above, --fail-calls-above or --budget find: give one of them'
capture "$DUMP" --fail-calls-above 3% few.1
assert_refused 2 '--fail-calls-above is for comparisons'

it '--budget: each function is held to its limit'
cat >budget <<'END'
# what this program may do
leaf    calls 2000
[lw]*k  calls 100
total   calls 2101

main    incl 100s
main    self 100%
END
"$RUN" -q -o timed ./calls 100
capture "$DUMP" --budget budget timed
assert_status 0
assert_empty err
"$RUN" -q -o timed.more ./calls 101
capture "$DUMP" --budget budget timed.more
assert_status 1
assert_eq "swizzle: over budget: leaf (calls): calls 2020, more than 2000 (budget:2)
swizzle: over budget: work (calls): calls 101, more than 100 (budget:3)
swizzle: over budget: total: calls 2122, more than 2101 (budget:4)" "$(cat err)"
assert_matches out ' 101 .*  work  calls$'
capture "$DUMP" --annotate --budget budget timed.more
assert_matches err '^::error file=calls.c,line=4,title=swizzle::work \(calls\): calls 101, more than 100 \(budget:3\)$'
# of counts no times are known, and of what was not called nothing is
capture "$DUMP" --budget budget few.1
assert_status 3
assert_eq "swizzle: undecided: budget:6: nothing was recorded of 'main' that incl could be held to
swizzle: undecided: budget:7: nothing was recorded of 'main' that self could be held to" "$(cat err)"
limit() { # STATUS TEXT LIMIT...: a budget of one line each
	local code=$1 text=$2
	shift 2
	printf '%s\n' "$@" >one
	capture "$DUMP" --budget one timed
	assert_status "$code"
	assert_contains err "$text"
}
printf 'gone calls 0\n' >one
capture "$DUMP" --budget one timed
assert_status 0
assert_empty err
limit 3 "one:1: nothing was recorded of 'gone'" 'gone calls 5'
limit 1 'over budget: main (calls): incl ' 'main incl 1ns'
limit 1 'over budget: main (calls): incl ' 'main incl 1%'
limit 1 'over budget: total: self ' 'total self 1us'
limit 2 "one:2: no time with a unit, and no percentage '10'" '#' 'main incl 10'
limit 2 "one:1: no number of calls '10ms'" 'main calls 10ms'
limit 2 "one:1: unknown metric (calls, self, incl) 'main'" 'the main 10'
limit 2 "one:1: there is no function" 'calls 10'
limit 2 'there is no limit in it' '# none'
capture "$DUMP" --budget nosuch timed
assert_refused 1 'nosuch: No such file'
capture "$DUMP" --budget budget -f info timed
assert_refused 2 'the format info has no use for --budget'
# means of several runs are held to it, too
capture "$DUMP" --budget budget --diff timed -- timed.more
assert_status 1
assert_contains err 'over budget: work (calls): calls 101, more than 100'

it 'options may stand behind the --, too'
"$DUMP" -f text -n 3 --diff first -- second >given
capture "$DUMP" --diff first -- -n 3 second -f text
assert_same given out
capture "$DUMP" --diff first -- second --form=text -n3
assert_same given out
refuses_behind() { # TEXT WORD...
	local text=$1
	shift
	capture "$DUMP" --diff first -- "$@"
	assert_refused 2 "$text"
}
refuses_behind 'unknown option --fial-above; did you mean --fail-above' second --fial-above 3
cp first ./-n
capture "$DUMP" -f csv --diff first -- -- -n
assert_status 0
rm ./-n

it 'traces, and parts of their time'
"$RUN" -m trace -o trace.first old/prog
"$RUN" -m trace -o trace.second new/prog
all_agree trace.first trace.second --demangle=full
all_agree trace.first trace.second --demangle=full --from 30% --to 80%
dump --diff first trace.first
awk '!/^#/ && !/calls.old/ && ($1 != $2 || $3 != "0")' out >changed
assert_empty changed
capture "$DUMP" --from 10% --diff first trace.second
assert_refused 2 'first: not a trace'
capture "$DUMP" --from 10% --diff trace.first second
assert_refused 2 'second: not a trace'

it 'sampled timing'
"$RUN" -q -M '!libgcc*' --timing sampled -o sampled "$TARGETS/workers" >/dev/null
"$RUN" -q -M '!libgcc*' -o exact "$TARGETS/workers" >/dev/null
dump --diff exact sampled
assert_contains out 'standard error of self.diff'
assert_matches out 'incl.% +\+/-  function  module$'
awk '!/^#/ && !/calls.old/ && ($1 != $2 || $3 != "0")' out >changed
assert_empty changed

it 'the names of files'
(cd new && "$DUMP" -f callgrind --diff ../first ../second) 2>err
assert_matches err '^swizzle: wrote callgrind\.out\.diff\.[0-9]+$'
assert_exists new/callgrind.out.diff.*

it 'sides that were recorded with other options'
"$RUN" -q -F 'shop::*' -o only new/prog
"$RUN" -q --imports -o imports new/prog
capture "$DUMP" -f text --diff first only
assert_status 0
assert_contains err 'only the new side was recorded with filters (-F, -N, -D): functions that they leave out seem gone'
capture "$DUMP" -f text --diff only first
assert_contains err 'only the old side was recorded with filters (-F, -N, -D): functions that they leave out seem new'
capture "$DUMP" -f text --diff imports second
assert_contains err 'only the old side was recorded with --imports: imported functions seem gone'
for same in 'only only' 'imports imports'; do
	# shellcheck disable=SC2086 # two words
	capture "$DUMP" -f text --diff $same
	assert_empty err
done
capture "$DUMP" -q -f text --diff imports only
assert_empty err

it 'what cannot be compared'
refuses() { # STATUS TEXT OPTION...
	local code=$1 text=$2
	shift 2
	capture timeout 120 "$DUMP" "$@"
	assert_refused "$code" "$text"
}
for format in speedscope info raw perfetto chrome archive; do
	refuses 2 "the format $format has no use for --diff; those that compare are: callgrind, table, text, tree, folded, pprof, dot, csv, json, html" \
		-f $format --diff first second
done
refuses 2 'needs two sides' --diff first
refuses 2 'needs two sides' --diff first --
refuses 2 'needs two sides' --diff first second --
refuses 2 'diff of 3 profiles needs a -- between old and new' --diff first second first
refuses 2 'diff of 3 profiles needs a -- between old and new' second first --diff first
refuses 2 'is for comparisons' -f text --fail-above 10% first
refuses 2 'not a percentage' --fail-above much --diff first second
refuses 2 'no use for --tid' --tid 1 --diff first second
refuses 2 'sorted by min' -s min --diff first second
refuses 2 "option --diff is given twice: 'first' is a second --diff" --diff first --diff first second
refuses 2 'has no use for -n' -f folded -n 3 --diff first second
refuses 1 'missing: No such file' --diff missing second
refuses 1 'nothing to compare with' --diff missing second
refuses 1 'missing: No such file' --diff first missing
echo 'Dear reader, this is no profile.' >letter
refuses 1 'letter' --diff letter second
refuses 1 'letter' --diff first letter

it 'damaged profiles'
used=$("$DUMP" -q -f raw -n 1 first | awk '$1 == "used_bytes" { print $2; exit }')
for part in 40 85; do
	head -c $((used * part / 100)) first >short
	for format in text tree folded callgrind; do
		for sides in '--diff short second' '--diff first short'; do
			# shellcheck disable=SC2086 # two words
			capture timeout 120 "$DUMP" -f $format -o whatever $sides
			# shellcheck disable=SC2154 # by capture
			[ "$status" -le 1 ] || fail "status $status"
			assert_matches err '^swizzle: short: '
			! grep -v '^swizzle: ' err || fail 'strange message'
		done
	done
done
for _ in $(seq 6); do
	cp second bad
	for _ in 1 2 3 4; do
		printf '\377\017\125' | dd of=bad bs=1 conv=notrunc \
			seek=$((4096 + (RANDOM * 32768 + RANDOM) % (used - 4100))) \
			2>/dev/null
	done
	for format in text tree callgrind; do
		capture timeout 120 "$DUMP" -q -f $format -o whatever \
			--diff bad second
		[ "$status" -le 1 ] || fail "status $status"
		capture timeout 120 "$DUMP" -q -f $format -o whatever \
			--diff first bad
		[ "$status" -le 1 ] || fail "status $status"
	done
done

finish

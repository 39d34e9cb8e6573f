# shellcheck shell=bash
# swizzle-dump --diff: the figures of both profiles, as each has them by itself,
# for the functions that are the same in two versions of a program. (Rows, limits and what
# may pass: tests/unit/test_dump_diff.c.)
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
for target in workers "fib 2"; do
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

mkdir old new
build old/prog
build new/prog -DLATER
"$RUN" -o first old/prog || abort 'no profile'
"$RUN" -o second new/prog || abort 'no profile'

it 'two versions of a program'
all_agree first second --demangle=full
all_agree second first --demangle=full --no-compensate -H 'shop::work*' -N 'shop::*(long)'
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
runs_agree --demangle=full --no-compensate -- first.1 first.2 -- "${olds[@]}" first
dump --diff "${olds[@]}" -- "${news[@]}"
# counts that are the same in all runs are exact: a change is no noise
assert_eq '0 0 0' "$(for name in shop::work shop::recursive shop::removed; do
	echo "$(diff_row out calls.noise $name)"; done | xargs)" 'noise of calls'
remark 'shop::price(double)' '(new)'
assert_not_contains out 'shop::recursive  prog  (noise)'
if have 'graphviz draws it' dot; then
	dump -f dot --percent-limit 0 --diff "${olds[@]}" -- "${olds[@]}"
	dot -Tsvg out >picture 2>err || fail "$(head -c 200 err)"
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

it '--fail-calls-above: counts of -m count are decided with a single run of each'
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
"$RUN" -q -m count -o few ./calls 100
"$RUN" -q -m count -o more ./calls 112
capture "$DUMP" --annotate --fail-calls-above 10% --diff few more
assert_status 1
assert_matches err '^::error title=swizzle::total: [+]12[.]0%25 \([+]252 calls'
assert_matches err '^::error file=calls.c,line=3,title=swizzle::leaf \(calls\): [+]12[.]0%25 '
capture "$DUMP" --fail-calls-above 12% --diff few more
assert_status 0
echo 'main incl 100s' >budget
capture "$DUMP" --budget budget few
assert_status 3 # no times are known

it 'traces, and parts of their time'
"$RUN" -m trace -o trace.first old/prog
"$RUN" -m trace -o trace.second new/prog
all_agree trace.first trace.second --demangle=full --from 30% --to 80%
dump --diff first trace.first
awk '!/^#/ && !/calls.old/ && ($1 != $2 || $3 != "0")' out >changed
assert_empty changed

it 'sampled timing'
"$RUN" -q -M '!libgcc*' --timing sampled -o sampled "$TARGETS/workers" >/dev/null
"$RUN" -q -M '!libgcc*' -o exact "$TARGETS/workers" >/dev/null
dump --diff exact sampled
assert_contains out 'standard error of self.diff'
assert_matches out 'incl.% +\+/-  function  module$'
awk '!/^#/ && !/calls.old/ && ($1 != $2 || $3 != "0")' out >changed
assert_empty changed

it 'a side that was recorded with --imports'
"$RUN" -q --imports -o imports new/prog
capture "$DUMP" -f text --diff imports second
assert_status 0
assert_contains err 'only the old side was recorded with --imports'
capture "$DUMP" -f text --diff imports imports
assert_empty err

finish

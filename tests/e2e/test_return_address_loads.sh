# shellcheck shell=bash
# Functions that load their own return address in the midst of their code load the
# real one.
. "${BASH_SOURCE%/*}/lib.sh"
. "$TOP/tests/e2e/profiles.sh"
need_targets loads
need gcc
program=$TARGETS/loads

it 'a function that loads its own return address loads the real one'
"$RUN" --no-cache --list -v "$program" >list
sed -n '/libloads.so/,/^\//p' list >functions
assert_ge "$(grep -c ' patched ' functions)" 48 'patched functions'
assert_eq 0 "$(grep -c ' patched .* no_' functions)" 'those that cannot be'
assert_eq 0 "$(awk '$1 ~ /^[0-9a-f]+$/ && $2 ~ /^[0-9]+$/ && $3 != "patched" && $NF !~ /^no_/' \
	functions | wc -l)" 'those that can be, and are not'
# planned, from the plan cache, and in other modes
export XDG_CACHE_HOME=$TMP/cache
mkdir "$XDG_CACHE_HOME"
for options in --no-cache '' '' '--timing exact' '--timing sampled' '-m trace'; do
	[ "$options${TEST_MODE:-}" != '--timing sampledtrace' ] || continue
	# shellcheck disable=SC2206
	RUN_OPTIONS=($options)
	assert_same_as_native "$program"
	assert_complete profile
	dump_table profile
	names=$("$program" | sed 's/:.*//')
	assert_ge "$(echo "$names" | wc -l)" 15 'functions that it names'
	# shellcheck disable=SC2086 # names are words
	read_calls table $names
	for name in $names; do
		case $name in
		no_*) expected= ;;
		recurses) expected=55 ;;
		at_once) expected=240 ;; # by 22 more, by one of them twice, too
		*) expected=10 ;;
		esac
		assert_eq "$expected" "${called[$name]}" "calls of $name"
	done
done
id=$(readelf -n "$TARGETS/libloads.so" | sed -n 's/.*Build ID: //p')
assert_ge "$(find "$XDG_CACHE_HOME" -name "plan-$id-*" | wc -l)" 1 'plans'
unset XDG_CACHE_HOME

it 'also in a library that is loaded later, and again'
program again.c >again.c
gcc -o again again.c -ldl || abort 'again is not built'
RUN_OPTIONS=()
assert_same_as_native ./again "$TARGETS/libloads.so"
assert_complete profile
assert_calls profile far_load 3 far_load_twice 3 far_load_and_a_number 3 \
	at_once 9

# What leads to the load is an immediate of another function; the copy is not come
# to by it.
it 'the load is a label whose address an instruction holds'
program label.S >label.S
cat >label.c <<'END'
#include <stdio.h>
char *reader(long n, void *to);
void *label_of_it(void);
int main(void)
{
	for (long n = 0; n < 10; n++)
		printf("%td %td\n", reader(n, NULL) - (char *)main,
		       reader(n, label_of_it()) - (char *)main);
	return 0;
}
END
gcc -O1 -no-pie -fno-pie -o label label.c label.S || abort 'label is not built'
RUN_OPTIONS=()
assert_same_as_native ./label
assert_complete profile
assert_calls profile label_of_it 10

# The same where it is what would be displaced with a load, far from the function's
# beginning: by a table of labels, and by one of distances from a label.
it 'what is behind the load is a label in a table'
program tabled.S >tabled.S
cat >tabled.c <<'END'
#include <stdio.h>
char *by_label(long n), *by_distance(long n);
int main(void)
{
	for (long n = 0; n < 3; n++)
		printf("%td %td\n",
		       n ? by_label(n) - (char *)0 : by_label(0) - (char *)main,
		       n ? by_distance(n) - (char *)0
			 : by_distance(0) - (char *)main);
	return 0;
}
END
gcc -O1 -no-pie -fno-pie -o tabled tabled.c tabled.S || abort 'tabled is not built'
assert_same_as_native ./tabled
assert_complete profile
assert_calls profile main 1 by_label 0 by_distance 0

# Of 16 bits each, and of 64 as distances, which are not read.
it 'what is behind the load is a label in a table of another kind'
program other_table.c >other_table.c
for flags in -O1 -O2 '-O1 -fPIC -mcmodel=large' '-O2 -mindirect-branch=thunk'; do
	# shellcheck disable=SC2086
	gcc $flags -fno-omit-frame-pointer -o other_table other_table.c ||
		abort 'other_table is not built'
	assert_same_as_native ./other_table
	assert_complete profile
	assert_calls profile main 1
done

# Without a name it is told by the red zone, which it reads.
it 'a cold part reads the return address of its function'
program cold.S >cold.S
cat >cold.c <<'END'
#include <stdio.h>
long parent(long n);
int main(void)
{
	for (long n = 0; n < 4; n++)
		printf("%ld\n", parent(n));
	return 0;
}
END
gcc -O1 -o cold cold.c cold.S || abort 'cold is not built'
for stripped in '' yes; do
	[ -z "$stripped" ] || strip cold
	assert_same_as_native ./cold
	assert_complete profile
done

it 'a filter leaves out a function that looks at its return address'
RUN_OPTIONS=(-H no_half -H at_once)
assert_same_as_native "$program"
assert_complete profile
assert_calls profile at_once 0 behind_endbr 10 no_jumps 0

finish

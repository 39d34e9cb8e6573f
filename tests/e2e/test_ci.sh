# shellcheck shell=bash
# The scripts of docs/ci.md run as they stand: they pass where nothing has changed, and
# fail where a function is called more often.
. "${BASH_SOURCE%/*}/lib.sh"
. "$TOP/tests/e2e/profiles.sh"
need gcc
status=0
unset SWIZZLE_MODE

cat >parse.c <<'END'
#include <stdlib.h>
static volatile long sum;
__attribute__((noipa)) void parse(void) { for (int i = 0; i < 30000; i++) sum = sum + i; }
int main(void)
{
	for (int i = 0; i < CALLS; i++)
		parse();
	return 0;
}
END
gcc -g -O1 -DCALLS=1000 -o app-old parse.c || abort 'no program'
gcc -g -O1 -DCALLS=2000 -o app-more parse.c || abort 'no program'
echo x >input

# scripts 1 to 4
awk '/^```/ { on = /^```sh/; n += on; next } on { print >"script." n }' "$TOP/docs/ci.md"
assert_eq 4 "$(find . -name 'script.*' | wc -l)" scripts

run_script() { # NUMBER BUILD
	rm -rf try
	mkdir try
	cp "$2" try/app
	cp app-old input try/
	capture env -C try PATH="${DUMP%/*}:$PATH" bash -e "../script.$1"
}

it 'counts'
for n in 1 2; do
	run_script $n app-old
	assert_status 0
	run_script $n app-more
	assert_status 1
done
assert_contains err 'more calls by more than 5%: '

# (On a busy machine of twice the time it cannot be told, but that does not pass silently.)
it 'times'
run_script 3 app-old
assert_status 0
run_script 4 app-old
assert_status 0
for n in 3 4; do
	run_script $n app-more
	assert_le "$status" 1 status
	[ "$status" -eq 1 ] || assert_contains err 'undecided, as the noise is larger than 20%'
	[ "$status" -eq 0 ] || assert_contains err 'slower by more than 20%'
	assert_not_contains out 'not slower'
done
finish

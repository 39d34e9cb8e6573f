# shellcheck shell=bash
# --config: what is recorded and what is shown, call by call, is what the program
# itself says that it did; narrowing while recording and later come to the same.
# (The usual files, and wrong ones: tests/unit/test_dump_options.c.)
. "${BASH_SOURCE%/*}/lib.sh"
. "$TOP/tests/e2e/profiles.sh"
need python3 gcc g++
export SWIZZLE_MODE=trace XDG_CONFIG_HOME=$PWD/none

program program.c >program.c
gcc -g -O2 -o program program.c
./program >expected
"$RUN" -q --args -o whole ./program >out

calls() { # FILE OPTION...: without times
	"$DUMP" -q -f calls "$@" | sed -nE 's/^ *[0-9.]* +([0-9.]+ .?.?s)? *//; s/ \[through [^]]*\]//; /^#/!p'
}

try() { # CONDITIONS... : of notify; recorded so, and shown so later
	{
		echo '[func@notify]'
		echo 'list_args = yes'
		printf 'only_show_if = %s\n' "$@"
	} >conditions
	capture "$RUN" -q --config conditions -o narrow ./program
	assert_status 0
	assert_same expected out
	calls narrow --config /dev/null | grep -o '^notify(.*' | sed 's/ p = 0x[0-9a-f]*/ p = P/' >narrow.calls
	calls whole --config conditions | grep -o '^notify(.*' | sed 's/ p = 0x[0-9a-f]*/ p = P/' >later.calls
	assert_same narrow.calls later.calls
	begun=$(wc -l <narrow.calls)
}

it 'records only calls whose conditions hold'
try 'arg,topic,==,"shutdown"'
assert_eq 10 "$begun"
try 'arg,topic,!=,"shutdown"'
assert_eq 10 "$begun"
try 'arg,topic,==,NULL'
assert_eq 4 "$begun"
try 'arg,topic,!=,NULL' 'arg,n,>,4'
assert_eq 10 "$begun" # 5 to 9 and 78; 5, 7, 9 and 77
try 'arg,topic,<,"start"'
assert_eq 10 "$begun"
try 'arg,x,<,2'
assert_eq 10 "$begun"
try 'arg,x,>=,2.5' 'arg,n,<=,0x3'
assert_eq 3 "$begun"
try 'arg,l,==,HIGH' 'arg,n,!=,78'
assert_eq 9 "$begun"
try 'arg,*p,==,5'
assert_eq 11 "$begun" # what cannot be read decides nothing
try 'backtrace,1,from_b'
assert_eq 10 "$begun"
try 'backtrace,2,nothing'
assert_eq 0 "$begun"
try 'backtrace,3,main' 'arg,n,<,3'
assert_eq 4 "$begun"

it 'leaves out what such calls call, and nothing else'
printf '[func@notify]\nonly_show_if = arg,n,<,0\n' >none
"$RUN" -q --config none -o narrow ./program >out
calls narrow >narrow.calls
assert_eq 0 "$(grep -c 'notify\|inner' narrow.calls)"
assert_eq 20 "$(grep -c '^from_[ab]' narrow.calls)"
assert_contains narrow.calls 'from_b [longjmp]'
assert_eq 9 "$(grep -c '^result' narrow.calls)"
assert_contains narrow.calls '} main'
assert_complete narrow
"$DUMP" -q -f csv narrow | awk -F, '/notify/ { print $0 }' | grep -q ',20,\|^20,\|,20$' ||
	fail 'the tree has not all calls'

it 'decides by results, later'
printf '[func@result]\nonly_show_if = retval,<,0\n[func@notify]\nonly_show_if = arg,topic,~,"s*n"\n' >later
capture "$DUMP" -f calls --config later -o calls whole
assert_status 0
assert_eq 3 "$(grep -c 'result(' calls)"
assert_contains calls 'result(n = 9) = -9'
assert_eq 10 "$(grep -c 'notify(' calls)"
assert_matches err '16 calls were left out by only_show_if and depth'
"$DUMP" -q -f chrome --config later -o chrome whole
assert_eq 3 "$(grep -c '"name":"result"' chrome)"
"$RUN" -q -o plain ./program >out
capture "$DUMP" -f calls --config later -o calls plain
assert_matches err 'could not be decided, as the value was not recorded'
assert_eq 9 "$(grep -c ' result' calls)"

it 'shows calls as it says'
cat >looks <<'END'
[func@result]
prefix = "-> "
colour = green
exceptional = retval,<,-5
band = results
errno = yes
[func@from_a]
depth = 1
list_args = no
[func@inner]
show = no
END
"$DUMP" -q -f calls --config looks --color=always whole >calls
assert_contains calls "$(printf '\033[32m-> result(n = 3)')"
assert_eq 2 "$(grep -c 'first returned here' calls)" # -6, -9
assert_contains calls '= -9 (-EBADF)'
assert_not_contains calls inner
assert_matches calls 'from_a.*\{$'
assert_not_contains calls 'from_a('
"$DUMP" -q -f chrome --config looks -o chrome whole
assert_eq 9 "$(grep -c '"cat":"results"' chrome)"
"$DUMP" -q -f perfetto --config looks -o perfetto whole
grep -q results perfetto || fail 'no band in perfetto'
"$DUMP" -q -f text --config looks whole >text
assert_not_contains text inner

it 'hides while recording'
printf '[func@*]\nshow = no\n[func@notify]\nshow = yes\n' >only
"$RUN" -q --config only -o hidden ./program >out
calls hidden >calls
assert_eq 20 "$(grep -c '^notify' calls)"
assert_eq 0 "$(grep -vc notify calls)"
printf '[func@notify]\nshow = no_calls\n' >without
"$RUN" -q --config without -o hidden ./program >out
calls hidden >calls
assert_not_contains calls inner
"$RUN" -q -m profile --config without -o hidden ./program >out
"$DUMP" -q -f text hidden >text
assert_not_contains text inner
assert_contains text from_a

it 'dumps objects, and has printers'
program objects.cc >objects.cc
g++ -g -O2 -o objects objects.cc
cat >printers <<'END'
[printer@text]
text = d.chars
length = d.length
[printer@buf*]
text = str
[printer@many]
size = n
[class@shape]
dump_this = area,open
END
"$RUN" -q --args --config printers -o profile ./objects
calls profile >calls
assert_matches calls 'take\(t = "hello", b = 0x[0-9a-f]+, \*b = "hello world", m = \{size = 4\}\) = 20'
assert_matches calls 'grow\(this = 0x[0-9a-f]+, \*this = \{area = 1, open = true\}, n = 5\) = 6  \*this: area: 1 -> 6'
"$RUN" -q --config printers -o profile ./objects
calls profile >calls
assert_contains calls '*this: area: 1 -> 6'
assert_not_contains calls 'take('

it 'says what is wrong'
printf '[func@x]\nlist_agrs = yes\n' >wrong.conf
capture "$RUN" --config wrong.conf ./program
assert_refused 2 "wrong.conf:2: unknown key 'list_agrs'; did you mean 'list_args'?"
capture "$RUN" --config nothing ./program
assert_refused 2 'nothing: No such file'

finish

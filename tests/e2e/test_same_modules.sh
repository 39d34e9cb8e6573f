# shellcheck shell=bash
# A program that was profiled at two paths is one module, by its build-id; different
# programs with one name are shown with their paths.
. "${BASH_SOURCE%/*}/lib.sh"
. "$TOP/tests/e2e/profiles.sh"
need gcc strip readelf

cat >prog.c <<'END'
#define KEEP __attribute__((noinline, noclone))
static volatile unsigned long sink;
#ifdef SIZE
char room[SIZE] = {1};
#endif
static KEEP void inner(int n) { for (int i = 0; i < n; i++) sink += i; }
KEEP void work(int n) { inner(n); inner(n + 1); }
int main(void) { for (int i = 0; i < COUNT; i++) work(i); return 0; }
END
build() { # PROGRAM OPTION...
	mkdir -p "${1%/*}"
	gcc -O1 -Wl,--build-id "${@:2}" -o "$1" prog.c || abort "no $1"
}
build one/prog -DCOUNT=10
build other/prog -DCOUNT=30
mkdir two bare
cp one/prog two/prog
strip -o bare/prog one/prog
id() { readelf -n "$1" | sed -n 's/.*Build ID: //p'; }
[ "$(id one/prog)" = "$(id bare/prog)" ] || abort 'strip changes the build-id'
[ "$(id one/prog)" != "$(id other/prog)" ] || abort 'different programs have one build-id'
for name in one two other bare; do
	"$RUN" -q -o $name.profile $name/prog || abort "no profile of $name"
done
table() { # PROFILE...: calls, function, module
	capture "$DUMP" -f text "$@"
	assert_status 0
	assert_empty err
	awk '!/^#/ && $1 ~ /^[0-9]+$/ && $4 !~ /^\[/ { print $1, $4, $5 }' out |
		grep -E ' (main|work|inner|sub_[0-9a-f]+) ' | sort -k 2 >rows
}
both='40 inner prog
2 main prog
20 work prog'

it 'one program at two paths: one row for each function, calls added up'
table one.profile two.profile
assert_eq "$both" "$(cat rows)" 'rows'
other_process two.profile three.profile 1
table two.profile one.profile three.profile
assert_eq '60 inner prog' "$(head -n 1 rows)" 'rows of three'
capture "$DUMP" --by module -f csv one.profile two.profile
assert_eq 1 "$(grep -c '/prog' out)" 'modules'
capture "$DUMP" -f callgrind -o - one.profile two.profile
assert_eq 1 "$(grep -c '^c\{0,1\}ob=([0-9]*) .*/prog$' out)" 'objects'
capture "$DUMP" -f json -o - one.profile two.profile
assert_eq 1 "$(grep -o '"name":"work"' out | wc -l)" 'functions in json'

it 'the names come from where the file still is'
mv one gone
table one.profile two.profile
assert_eq "$both" "$(cat rows)" 'rows'
mv gone one

it 'and from the copy that has its symbol table'
table bare.profile one.profile
assert_eq "$both" "$(cat rows)" 'rows'
table one.profile bare.profile
assert_eq "$both" "$(cat rows)" 'rows'

it 'different programs with one name: their paths are shown'
table one.profile two.profile other.profile
for row in "60 inner $TMP/other/prog" "40 inner $TMP/one/prog" \
	"1 main $TMP/other/prog" "2 main $TMP/one/prog" \
	"30 work $TMP/other/prog" "20 work $TMP/one/prog"; do
	grep -q -x -F "$row" rows || fail "no row '$row': $(cat rows)"
done
assert_eq 6 "$(wc -l <rows)" 'rows'
capture "$DUMP" --by module -f text one.profile other.profile
assert_matches out "  $TMP/one/prog\$"
assert_matches out "  $TMP/other/prog\$"
# of one name in two modules: neither is taken for the other
capture "$DUMP" -f folded -o - one.profile other.profile
assert_matches out "work \\($TMP/other/prog\\)"
capture "$DUMP" -f callgrind -o - one.profile other.profile
assert_contains out "($TMP/other/prog)"

it 'a single one has its short name'
table other.profile
assert_eq '60 inner prog' "$(head -n 1 rows)" 'row'

it 'a program that was built anew at its path: the build-id tells which'
build again/prog -DCOUNT=10
"$RUN" -q -o before.profile again/prog
before=$(id again/prog)
build again/prog -DCOUNT=30
"$RUN" -q -o after.profile again/prog
after=$(id again/prog)
capture "$DUMP" -q -f text before.profile after.profile
assert_matches out " work  prog@${after:0:8}\$"
assert_matches out "  prog@${before:0:8}\$"
capture "$DUMP" -q --by module -f csv before.profile after.profile
assert_contains out "$TMP/again/prog@${before:0:8}"
assert_contains out "$TMP/again/prog@${after:0:8}"

it 'in a comparison they are versions of one'
capture "$DUMP" --diff one.profile -f text other.profile
assert_status 0
assert_matches out ' work +prog$'
assert_not_contains out "$TMP/other/prog "
capture "$DUMP" --diff one.profile -f text two.profile
awk '!/^#/ && !/calls.old/ && ($1 != $2 || $3 != "0")' out >changed
assert_empty changed
assert_matches out ' work +prog$'

it 'a build-id that somebody made up does not make two programs one'
build made/prog -DCOUNT=10 -Wl,--build-id=0x12345678
build up/prog -DCOUNT=30 -DSIZE=100000 -Wl,--build-id=0x12345678
for name in made up; do
	"$RUN" -q -o $name.profile $name/prog
done
table made.profile up.profile
assert_contains rows "10 work $TMP/made/prog"
assert_contains rows "30 work $TMP/up/prog"

it 'without a build-id the path says which it is'
for name in plain1 plain2; do
	build $name/prog -DCOUNT=10 -Wl,--build-id=none
	"$RUN" -q -o $name.profile $name/prog
done
other_process plain1.profile again.profile 1
table plain1.profile again.profile
assert_contains rows '20 work prog'
table plain1.profile plain2.profile
assert_contains rows "10 work $TMP/plain1/prog"
assert_contains rows "10 work $TMP/plain2/prog"

it 'traces: each event has its module'
"$RUN" -q -m trace -o one.trace one/prog
"$RUN" -q -m trace -o other.trace other/prog
capture "$DUMP" -f chrome -o trace.json one.trace other.trace
assert_contains trace.json "\"name\":\"work\",\"cat\":\"$TMP/one/prog\""
assert_contains trace.json "\"name\":\"work\",\"cat\":\"$TMP/other/prog\""

it 'embedded names of both are used'
cp one.profile kept1
cp other.profile kept2
capture "$DUMP" --embed kept1 kept2
assert_status 0
mv one two1
mv two two2
mv other two3
table kept1 kept2
assert_matches rows "^20 inner $TMP/one/prog\$"
assert_matches rows "^60 inner $TMP/other/prog\$"
table kept1 two.profile
assert_eq "$both" "$(cat rows)" 'rows'
finish

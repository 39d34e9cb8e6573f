# shellcheck shell=bash
# A program that was profiled at two paths is one module, by its build-id, and names come
# from whichever file is there. (Rows and modules: tests/unit/test_dump_by.c.)
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

it 'a build-id that somebody made up does not make two programs one'
build made/prog -DCOUNT=10 -Wl,--build-id=0x12345678
build up/prog -DCOUNT=30 -DSIZE=100000 -Wl,--build-id=0x12345678
for name in made up; do
	"$RUN" -q -o $name.profile $name/prog
done
table made.profile up.profile
assert_contains rows "10 work $TMP/made/prog"
assert_contains rows "30 work $TMP/up/prog"

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

# shellcheck shell=bash
# --args: what 200 functions with random arguments and results were given and
# returned, as they print it themselves; by gcc and clang, with and without
# optimisation, in C and C++.
. "${BASH_SOURCE%/*}/lib.sh"
. "$TOP/tests/e2e/profiles.sh"
need python3 gcc g++
export SWIZZLE_MODE=trace

calls_of_functions() { # FILE
	sed -nE 's/.* (function[0-9]+(\(.*)? = .*)  from main$/\1/p' "$1"
}

seed=1
for compiler in gcc g++ clang-14 clang++-14; do
	command -v $compiler >/dev/null || continue
	for level in -O0 -O2; do
		it "shows what functions print: $compiler $level"
		language=c
		case $compiler in *++*) language=c++ ;; esac
		# clang 14 has rules of its own for __int128 on the stack
		without=
		case $compiler in clang*) without=__int128 ;; esac
		python3 "$TOP/tests/e2e/generate_signatures.py" 200 $seed $without >program.c
		seed=$((seed + 1))
		$compiler -x $language -w -g $level -o program program.c ||
			abort "$compiler failed"
		./program | grep '^function' >expected
		capture "$RUN" -q --args='function*' -o profile ./program
		assert_status 0
		assert_empty err
		"$DUMP" --calls-of 'function*' -s start -n 0 profile >calls || fail 'calls'
		calls_of_functions calls >got
		assert_ge "$(wc -l <got)" 200 'calls'
		assert_same expected got
	done
done

it 'shows objects of C++'
cat >objects.cc <<'END'
#include <memory>
#include <string>
#include <string_view>
#include <vector>
enum class state { idle, busy };
struct point { int x, y; };
struct shape {
	int sides;
	__attribute__((noipa)) bool grow(int by) { sides += by; return sides > 5; }
};
#define F __attribute__((noipa))
F std::string join(const std::string &a, std::string b, std::string_view c)
{ return a + b + std::string(c); }
F size_t count(const std::vector<int> &v, state s) { return s == state::busy ? v.size() : 0; }
F int deref(std::unique_ptr<point> p) { return p ? p->x : -1; }
F point swap_point(const point &p) { return {p.y, p.x}; }
F void twice(int *n, const int *m) { *n = 2 * *m; }
F int apply(int (*f)(int), int n) { return f(n); }
F int negate(int n) { return -n; }
int main()
{
	shape s{3};
	int n = 0, m = 21;

	join("a string that is too long to be in place", "b", "see");
	count({1, 2, 3}, state::busy);
	deref(std::make_unique<point>(point{7, 8}));
	deref(nullptr);
	swap_point({1, 2});
	twice(&n, &m);
	s.grow(1);
	apply(negate, 4);
	return 0;
}
END
for level in -O0 -O2; do
	for abi in 1 0; do
		g++ -std=c++17 -g $level -D_GLIBCXX_USE_CXX11_ABI=$abi -o objects objects.cc
		capture "$RUN" -q --args='[!_]*' -o profile ./objects
		assert_status 0
		"$DUMP" --calls-of '[!_]*' -s start -n 0 profile >calls
		assert_contains calls 'join(a = "a string that is too long to be in place", b = "b", c = "see") = "a string that is too long to be in placebsee"'
		assert_contains calls 'count(v = {size = 3}, s = busy) = 3'
		assert_matches calls 'deref\(p = 0x[0-9a-f]+\) = 7'
		assert_contains calls 'deref(p = NULL) = -1'
		assert_contains calls 'swap_point(p = {x = 1, y = 2}) = {x = 2, y = 1}'
		assert_matches calls 'twice\(n = 0x[0-9a-f]+, \*n = 0, m = 0x[0-9a-f]+\)   \*n = 42'
		assert_matches calls 'shape::grow\(this = 0x[0-9a-f]+, by = 1\) = false'
		assert_contains calls 'apply(f = negate, n = 4) = -4'
	done
done

it 'says what is missing'
gcc -w -s -o stripped program.c 2>/dev/null || g++ -x c++ -w -s -o stripped program.c
capture "$RUN" --args ./stripped
assert_refused 126 'has no debug information'
capture "$RUN" --args=nothing ./program
assert_refused 126 'no function of'
capture "$RUN" -m profile --args ./program
assert_refused 2 'for --mode trace only'
capture "$RUN" --args -p $$
assert_refused 2 'not for -p'

finish

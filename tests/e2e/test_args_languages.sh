# shellcheck shell=bash
# --args in Rust and Fortran: what 200 functions with random arguments and results
# were given and returned, as they print it themselves.
. "${BASH_SOURCE%/*}/lib.sh"
. "$TOP/tests/e2e/profiles.sh"
need python3
export SWIZZLE_MODE=trace

calls_of_functions() { # FILE
	sed -nE 's/.*[ :](function[0-9]+(\(.*)? = .*)  from .*$/\1/p' "$1"
}

record() { # PROGRAM
	"./$1" | grep '^function' >expected
	assert_ge "$(wc -l <expected)" 200 'functions that print'
	capture "$RUN" -q --args='*function*' -o profile "./$1"
	assert_status 0
	assert_empty err
	"$DUMP" --calls-of '*function*' -s start -n 0 profile >calls || fail 'calls'
	calls_of_functions calls >got
}

seed=1
if command -v gfortran >/dev/null; then
	python3 "$TOP/tests/e2e/generate_fortran.py" --helpers >helpers.c
	gcc -O2 -c helpers.c
	for level in -O0 -O2; do
		it "shows what procedures of Fortran print: $level"
		python3 "$TOP/tests/e2e/generate_fortran.py" 200 $seed >program.f90
		seed=$((seed + 1))
		gfortran -g $level -o program program.f90 helpers.o || abort 'gfortran failed'
		record program
		assert_ge "$(wc -l <got)" 200 'calls'
		assert_same expected got
	done

	it 'shows what a procedure of Fortran has changed, and arrays'
	program changes.f90 >changes.f90
	for level in -O0 -O2; do
		gfortran -g $level -fno-inline -fno-ipa-cp -fno-ipa-sra -o changes changes.f90
		capture "$RUN" -q --args='*twice' -o profile ./changes
		assert_status 0
		"$DUMP" --calls-of '*twice' -s start profile >calls
		assert_matches calls 'twice\(name = "some text", x = 1.5, n = 0, v = 0x[0-9a-f]+.*, fixed = \[5, 6, 7\], opt = 4\)   x: 1.5 -> 3, n: 0 -> 9, opt: 4 -> 5  from'
		assert_matches calls 'twice\(name = "", x = 3, n = 9, v = 0x[0-9a-f]+.*, fixed = \[5, 6, 7\], opt = \?\)   x: 3 -> 6, n: 9 -> 0  from'
	done
fi

command -v rustc >/dev/null || PATH=$PATH:${HOME:-}/.cargo/bin
if command -v rustc >/dev/null; then
	for level in 0 2; do
		it "shows what functions of Rust print: opt-level=$level"
		python3 "$TOP/tests/e2e/generate_rust.py" 200 $seed >program.rs
		seed=$((seed + 1))
		compile_rust program.rs -g -C opt-level=$level -o rusty ||
			abort 'rustc failed'
		record rusty
		assert_ge "$(wc -l <got)" 150 'calls'
		# what a version of rustc may do in its own way is left out
		python3 "$TOP/tests/e2e/compare_signatures.py" expected got >whole ||
			fail "$(cat whole)"
		assert_ge "$(cat whole)" 150 'calls with all of their values'
	done
fi

finish

# shellcheck shell=bash
# Each unwinder that a program may be built with, dynamic, static, exported or
# stripped: what is thrown, forced and walked goes as without us.
# run: first
. "${BASH_SOURCE%/*}/lib.sh"
. "$TOP/tests/e2e/profiles.sh"
need g++ strip
need_targets unwinders

LIBDIR=/usr/lib/x86_64-linux-gnu
LLVM=${XDG_CACHE_HOME:-$HOME/.cache}/swizzle/llvm-14/usr/lib/llvm-14
[ -d "$LLVM" ] || LLVM=/usr/lib/llvm-14
FLAGS='-O2 -pthread -fno-inline-functions -fnon-call-exceptions -w'
GXX="g++ $FLAGS -fno-ipa-icf -fno-ipa-cp"
CLANG="clang++-14 $FLAGS -nostdinc++ -isystem $LLVM/include/c++/v1"
SOURCES="$TOP/tests/targets"

# LLVM's shared libraries by their full names: nongnu's is called -lunwind too.
build() { # FLAVOUR: of unwinders, and of cancel
	local name
	for name in unwinders cancel; do
		link "$1" $name "$name.$1" || return 1
	done
}

link() { # FLAVOUR NAME OUT
	local static="$LLVM/lib/libc++.a $LLVM/lib/libc++abi.a $LLVM/lib/libunwind.a"
	# shellcheck disable=SC2086 # lists of words
	case $1 in
	libgcc) $GXX -o "$3" "$2.o" ;;
	libgcc-static) $GXX -o "$3" "$2.o" -static-libgcc ;;
	libgcc-all-static)
		$GXX -o "$3" "$2.o" -static-libgcc -static-libstdc++ ;;
	libgcc-all-static-exported)
		$GXX -o "$3" "$2.o" -static-libgcc -static-libstdc++ \
			-rdynamic ;;
	llvm-under-libstdc++) $GXX -o "$3" "$2.o" -l:libunwind.so.1 ;;
	llvm-static-under-libstdc++)
		$GXX -o "$3" "$2.o" "$LLVM/lib/libunwind.a" -ldl ;;
	llvm)
		$CLANG -nostdlib++ -o "$3" "$2.llvm.o" -l:libc++.so.1 \
			-l:libc++abi.so.1 -l:libunwind.so.1 ;;
	llvm-static) $CLANG -nostdlib++ -o "$3" "$2.llvm.o" $static -ldl ;;
	llvm-static-exported)
		$CLANG -nostdlib++ -rdynamic -o "$3" "$2.llvm.o" $static -ldl ;;
	nongnu) $GXX -o "$3" "$2.o" -Wl,--no-as-needed -l:libunwind.so.8 ;;
	nongnu-static) # the archive is not position-independent
		$GXX -no-pie -o "$3" "$2.o" -Wl,--whole-archive \
			$LIBDIR/libunwind.a -Wl,--no-whole-archive -llzma ;;
	esac >build.log 2>&1
}

for name in unwinders cancel; do
	# shellcheck disable=SC2086
	$GXX -fPIE -c -o $name.o "$SOURCES/$name.cc" ||
		abort "$name.cc does not compile"
	# shellcheck disable=SC2086
	[ ! -d "$LLVM/include/c++/v1" ] ||
		$CLANG -c -o $name.llvm.o "$SOURCES/$name.cc" >build.log 2>&1
done

# What all can do.
throws() { # PROGRAM-SUFFIX [stripped]
	local p=./unwinders.$1
	assert_same_as_native "$p" caught 100
	assert_contains out '100 100'
	assert_complete profile
	[ -n "${2:-}" ] || assert_calls profile catcher 100 rethrower 100 \
		between 100 thrower 100 'guard::~guard' 100
	assert_same_as_native "$p" pointer
	assert_complete profile
	[ -n "${2:-}" ] || assert_calls profile fail_in_thread 50 \
		rethrow_passed 50 catch_passed 50 'guard::~guard' 100
	assert_same_as_native "$p" statics
	[ -n "${2:-}" ] || assert_calls profile try_reluctant 12 \
		'reluctant::reluctant' 10
	for mode in thread global promise; do
		assert_same_end "$p" $mode
		assert_readable profile
	done
	assert_same_as_native "$p" walk
	[ -n "${2:-}" ] || assert_calls profile walker 3100
}

# Natively a process with two unwinders cannot do that everywhere.
forces() { # PROGRAM-SUFFIX [stripped]
	local p=./unwinders.$1
	assert_same_as_native "$p" foreign 50
	assert_contains out '100 600 100'
	assert_complete profile
	[ -n "${2:-}" ] || assert_calls profile foreign_nest 600 \
		raise_foreign 100 'guard::~guard' 600
	assert_same_as_native "$p" forced 20
	assert_contains out '20 420 every frame was seen'
	assert_complete profile
	[ -n "${2:-}" ] || assert_calls profile forced_nest 420 swallow 20 \
		force 20 'guard::~guard' 420
}

# nongnu libunwind stores where it lands in the place where it has read where that
# frame goes on: in a thunk's data, of a function that is called again.
lands_next() { # PROGRAM-SUFFIX
	local p=./unwinders.$1
	assert_same_as_native "$p" next 100
	assert_contains out '50 3650 150'
	assert_complete profile
	assert_calls profile may_raise 100 levels 6100 raise_foreign 150
	# with no frames before that are hooked, which would be passed instead
	RUN_OPTIONS=(-q -M "unwinders.$1")
	assert_same_as_native "$p" next 100
	assert_contains out '50 3650 150'
	assert_calls profile may_raise 100 levels 6100 raise_foreign 150
	RUN_OPTIONS=()
}

ends() { # PROGRAM-SUFFIX: threads that exit and are cancelled
	local mode
	for mode in exit deferred asynchronous; do
		assert_same_end "./cancel.$1" $mode
		assert_readable profile
	done
}

for flavour in libgcc libgcc-static libgcc-all-static \
	libgcc-all-static-exported llvm llvm-static llvm-static-exported \
	llvm-under-libstdc++ llvm-static-under-libstdc++ nongnu nongnu-static
do
	if ! build $flavour; then
		echo "not tested: $flavour, which cannot be built here"
		continue
	fi
	it "$flavour: exceptions"
	throws $flavour
	case $flavour in
	libgcc-static) ;; # two unwinders
	*)
		it "$flavour: foreign exceptions, forced unwinding"
		forces $flavour
		it "$flavour: foreign exceptions that the next frame catches"
		lands_next $flavour
		it "$flavour: thrown by a signal handler on a stack of its own"
		assert_same_as_native ./unwinders.$flavour aside
		assert_eq '150 150' "$(xargs <out)" 'what was caught'
		assert_calls profile seldom_faulty 200 catch_aside 200 on_fault 100
		;;
	esac
	case $flavour in
	# pthread_exit is libgcc_s's, which another's context does not suit
	libgcc-all-static* | llvm* | nongnu*) ;;
	*)
		it "$flavour: threads that end early"
		ends $flavour
		;;
	esac
	case $flavour in
	*static*)
		strip -o "unwinders.$flavour.stripped" "unwinders.$flavour"
		case ${TEST_LONG:-$flavour} in libgcc-static | libgcc-all-static-* | llvm-*) continue ;; esac
		it "$flavour, stripped: exceptions"
		throws "$flavour.stripped" stripped
		;;
	esac
done

it 'libgcc: a signal handler throws'
assert_same_as_native ./unwinders.libgcc handler
assert_contains out '300 100'
assert_calls profile faulty 100 catch_fault 100 'guard::~guard' 100

most_kb=256
# the chunks of a trace that are being written lie in memory; it has 20 MB
[ "${TEST_MODE:-}" != trace ] || most_kb=$((most_kb + 4096))
for program in libgcc libgcc-all-static.stripped; do
	it "$program: the memory for 10,000 exceptions is that for a few"
	assert_same_as_native ./unwinders.$program bounded 20000 $most_kb
	assert_contains out flat
	assert_complete profile
done

it 'an unwinder that is jumped to through a pointer'
program before.cc >before.cc
for flags in '' -static-libgcc '-static-libgcc -s' "$LLVM/lib/libunwind.a"; do
	# shellcheck disable=SC2086
	$GXX -o unwinders.before unwinders.o before.cc -static-libstdc++ \
		-Wl,--wrap=_Unwind_RaiseException \
		-Wl,--wrap=_Unwind_Resume_or_Rethrow $flags >build.log 2>&1 ||
		continue
	assert_same_as_native ./unwinders.before caught 100
	assert_contains out '100 100'
	assert_complete profile
	case $flags in *-s) continue ;; esac
	assert_calls profile catcher 100 rethrower 100 thrower 100
	assert_ge "$(row table calls __wrap__Unwind_RaiseException)" 100 raised
done

# Each throws to the very next frame, by its own unwinder.
it 'eight libraries with unwinders of their own, and the program'
program own.cc >own.cc
{
	echo '#include <cstdio>'
	printf 'extern "C" int own_%s(int);\n' {0..8}
	echo 'int main() { int sum = 0;'
	printf 'sum += own_%s(1);\n' {0..8}
	echo 'printf("%d\n", sum); }'
} >owners.cc
for n in {1..8}; do
	g++ -O2 -fPIC -shared -DNAME="own_$n" -o "libown_$n.so" own.cc \
		-static-libgcc -static-libstdc++ -Wl,--exclude-libs,ALL \
		-Wl,-Bsymbolic || abort 'no library'
done
# the shared ones first: others are not asked for what they have
g++ -O2 -DNAME=own_0 -o owners owners.cc own.cc -Wl,--no-as-needed -lstdc++ \
	-lgcc_s ./libown_{1..8}.so || abort 'no program'
assert_same_as_native ./owners
assert_eq 18 "$(cat out)" sum
assert_complete profile
assert_calls profile main 1 raise_it 9 own_0 1 own_8 1

it 'one of them comes, goes and comes again, to the same place'
program again.cc >again.cc
g++ -O2 -o again again.cc -ldl || abort 'no program'
assert_same_as_native ./again
assert_complete profile
assert_calls profile raise_it 3 own_1 3

finish

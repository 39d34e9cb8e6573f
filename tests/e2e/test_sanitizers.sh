# shellcheck shell=bash
# Programs built with a sanitizer run as ever, find what they find, and name the
# program's functions in their reports.
. "${BASH_SOURCE%/*}/lib.sh"
. "$TOP/tests/e2e/profiles.sh"

if too_random_for_sanitizers && [ -z "${NOT_RANDOM:-}" ]; then
	setarch -R true 2>/dev/null || skip 'addresses are too random for sanitizers'
	NOT_RANDOM=1 setarch -R bash "$TOP/tests/e2e/test_sanitizers.sh"
	exit
fi

program faulty.c >faulty.c

# What a report says, without addresses, ids and frames of ours.
report_of() { # FILE
	grep -v -e ' in swz_arena_start ' "$1" |
		sed -E -e 's/0x[0-9a-f]+/ADDRESS/g' -e 's/==[0-9]+==/==/' \
			-e 's/\([^()]*\+ADDRESS\)//' -e 's/pid=[0-9]+/pid/g' \
			-e 's/tid=[0-9]+/tid/g' | grep -E "$2"
}

# The same end and output; of the report, its kind and the program's functions.
check() { # PROGRAM MODE FUNCTION...
	local native ours lines='ERROR|WARNING|SUMMARY|runtime error'
	native=$(end_of "$1" "$2")
	cp out native.out
	report_of err "$lines" >native.report
	ours=$(end_of "$RUN" -o profile "$1" "$2")
	assert_eq "$native" "$ours" "end of $*"
	assert_same native.out out
	report_of err "$lines" >our.report
	assert_same native.report our.report
	if [ "$2" = good ]; then
		assert_empty err
	fi
	if [ -s native.report ]; then
		shift 2
		for name; do
			assert_contains err " in $name "
		done
	fi
	# LeakSanitizer looks at memory from a thread that shares the thread-local
	# storage of ours: the calls it makes may be lost, which is said
	assert_converts profile
}

build() { # NAME COMPILER...
	local name=$1
	shift
	command -v "$1" >/dev/null && "$@" -g -O1 -fno-omit-frame-pointer \
		-pthread -o "$name" faulty.c >build.log 2>&1 && return
	echo "skipped: $name cannot be built here"
	return 1
}

shared=$(dirname "$(clang-14 -print-file-name=libclang_rt.asan-x86_64.so \
	2>/dev/null)")
for variant in 'gcc gcc' 'clang clang-14' \
	"clang-shared clang-14 -shared-libasan -Wl,-rpath,$shared"; do
	# shellcheck disable=SC2086
	set -- $variant
	name=$1
	shift
	it "AddressSanitizer, $name"
	if build asan-$name "$@" -fsanitize=address; then
		check ./asan-$name good
		check ./asan-$name overrun leaf middle main
		check ./asan-$name leak forget
	fi
done

program throwing.cc >throwing.cc

# Its runtime stands before the unwinder's functions.
it 'exceptions under AddressSanitizer'
for variant in 'g++' 'g++ -static-libasan' 'clang++-14' \
	"clang++-14 -shared-libasan -Wl,-rpath,$shared"; do
	# shellcheck disable=SC2086
	$variant -g -O1 -fsanitize=address -o throwing throwing.cc \
		>build.log 2>&1 || continue
	for mode in exact trace; do
		RUN_OPTIONS=(-m trace)
		[ $mode = trace ] || RUN_OPTIONS=()
		# (The leak checker's thread shares the storage of ours: what both
		# call at the same moment is lost.)
		ASAN_OPTIONS=detect_leaks=0 assert_same_as_native ./throwing
		assert_calls profile catches 100 throws 100
	done
done
RUN_OPTIONS=()

for compiler in gcc clang-14; do
	it "ThreadSanitizer, $compiler"
	if build tsan-$compiler $compiler -fsanitize=thread; then
		check ./tsan-$compiler good
		assert_empty err
	fi
	it "UndefinedBehaviorSanitizer, $compiler"
	if build ubsan-$compiler $compiler -fsanitize=undefined; then
		check ./ubsan-$compiler good
		assert_empty err
		check ./ubsan-$compiler undefined
		assert_calls profile shift 1 leaf 2
	fi
	it "LeakSanitizer alone, $compiler"
	if build lsan-$compiler $compiler -fsanitize=leak; then
		check ./lsan-$compiler good
		# clang's is linked into the program, and has options of its own
		if [ $compiler = gcc ]; then
			check ./lsan-$compiler leak forget
		else
			check ./lsan-$compiler leak
		fi
	fi
done
it 'MemorySanitizer'
if build msan clang-14 -fsanitize=memory; then
	check ./msan good
	assert_empty err
fi

# A stack is recorded with each allocation, by frame pointers.
program stacks.c >stacks.c

all_of() { # FILE: a report but for what differs from run to run
	sed -E -e 's/0x[0-9a-f]+/ADDRESS/g' -e 's/[0-9]+==/==/' -e 's/T[0-9]+//g' \
		"$1"
}

for variant in 'gcc -fsanitize=address' 'clang-14 -fsanitize=address' \
	'gcc -fsanitize=leak' 'clang-14 -fsanitize=leak'; do
	for frames in '' -fno-omit-frame-pointer; do
		it "stacks of allocations are the native ones ($variant $frames)"
		# shellcheck disable=SC2086
		if ! $variant $frames -g -O1 -o stacks stacks.c 2>build.log; then
			echo "skipped: $variant does not build here"
			continue
		fi
		# where no runtime has the symbol, unwind tables serve
		if ! nm -D ./stacks | grep -q 'U __[al]san_init' ||
			nm "$(ldd ./stacks | awk '/lib[al]san/ { print $3 }')" |
			grep -q 10UnwindFastE; then
			for argument in '' use; do
				# shellcheck disable=SC2086
				native=$(end_of ./stacks $argument)
				all_of err >native.report
				# shellcheck disable=SC2086
				ours=$(end_of "$RUN" -o profile ./stacks $argument)
				all_of err >our.report
				assert_eq "$native" "$ours" "end of stacks $argument"
				assert_same native.report our.report
				assert_contains our.report ERROR
			done
		fi
	done
done

it "the program's own options come before ours"
cat >options.c <<'END'
const char *__asan_default_options(void)
{
	return "exitcode=55:verify_asan_link_order=0";
}
END
if gcc -g -O1 -fsanitize=address -pthread -o own faulty.c options.c 2>/dev/null
then
	check ./own overrun leaf middle
	assert_eq 'exit 55' "$(cat end)"
fi

finish

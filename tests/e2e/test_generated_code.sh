# shellcheck shell=bash
# Runtimes that make code and look for the return addresses that it leaves:
# HotSpot, Mono.
. "${BASH_SOURCE%/*}/lib.sh"
. "$TOP/tests/e2e/profiles.sh"
need_targets generated libgenerated.so
PROGRAM=$TARGETS/generated
need gcc

library() { # NAME FLAG...
	local name=$1
	shift
	gcc -O1 -fno-inline -fno-optimize-sibling-calls -shared -fPIC \
		-Wl,--hash-style=gnu -o "lib$name.so" "$@" \
		"$TOP/tests/targets/libgenerated.c" ||
		abort "lib$name.so cannot be built"
}

library java -DMARK=gHotSpotVMStructs
library mono -DMARK=mono_add_internal_call
library compiled -DCOMPILED -DMARK=mono_aot_file_info

assert_calls_of() { # NAME EXPECTED
	local calls
	calls=$(row table calls "$1")
	assert_eq "$2" "${calls:-0}" "calls of $1"
}

for cache in 0 1 1; do
	export SWIZZLE_CACHE=$cache
	it "its own functions are called by code that HotSpot made (cache $cache)"
	assert_same_as_native "$PROGRAM" ./libjava.so
	assert_contains out 3500 # each at 34, and other's 1
	assert_complete profile
	dump_table profile
	# only the program's own calls of the one; all that it calls; all others
	assert_calls_of runtime_entry 5
	assert_calls_of look 105
	assert_calls_of other 100

	it "any function is called by code that Mono made (cache $cache)"
	assert_same_as_native "$PROGRAM" ./libmono.so ./libcompiled.so
	assert_complete profile
	dump_table profile
	assert_calls_of runtime_entry 5
	assert_calls_of look 205
	assert_calls_of other 0
	assert_calls_of compiled 0
	"$DUMP" -f info profile >info
	assert_matches info '/libcompiled.so +4 +0 +4$'
done
unset SWIZZLE_CACHE

it 'code that others made: all calls are recorded'
"$RUN" -o profile "$PROGRAM" "$TARGETS/libgenerated.so" >out
dump_table profile
assert_calls_of runtime_entry 105
assert_calls_of other 100

if have 'a program in Java' java; then
	cat >T.java <<-'END'
		public class T {
			static int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
			static int deep(int n) { return deep(n + 1) + 1; }
			public static void main(String[] a) throws Exception {
				Thread t = new Thread(() -> System.out.println(fib(20)));
				t.start();
				t.join();
				try { deep(0); } catch (StackOverflowError e) { System.out.println("deep"); }
				int n = 0;
				for (int i = 0; i < 3000; i++)
					try { throw new Exception(); } catch (Exception e) { n += e.getStackTrace().length; }
				System.out.println(n > 0);
				byte[][] b = new byte[100][];
				for (int i = 0; i < 10000; i++) b[i % 100] = new byte[10000];
				System.gc();
				System.exit(6);
			}
		}
	END
	if java T.java >/dev/null 2>&1 || [ $? -eq 6 ]; then
		assert_same_as_native java -XX:+UseSerialGC T.java
		assert_status 6
		"$DUMP" -f info profile >info
		assert_matches info '/libjvm\.so +[0-9]+ +[0-9]{4,} '
		assert_matches info '^lost calls: 0$'
	else
		echo 'not tested: a program in Java does not run here'
	fi
fi

finish

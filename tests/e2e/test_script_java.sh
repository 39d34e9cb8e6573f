# shellcheck shell=bash
# -m sample: the methods of a Java program without any option, interpreted, compiled
# and inlined: their shares, the stacks that the program itself sees, the lines that
# are executed; lambdas, callbacks, exceptions, threads; by both engines.
# run: alone
. "${BASH_SOURCE%/*}/lib.sh"
. "$TOP/tests/e2e/profiles.sh"
. "$TOP/tests/e2e/script_shares.sh"
need java javac
unset SWIZZLE_MODE
"$RUN" -q -m sample -o try true 2>err || skip "cannot sample here: $(cat err)"

SCRIPT=Script.java
cat >Script.java <<'END'
import java.lang.management.*;
import java.util.*;
import java.util.stream.*;

public class Script {
	static final Map<String, Double> own = new LinkedHashMap<>();
	static final Set<String> stacks = new TreeSet<>();
	static volatile long sink;

	static double now() {
		return ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime() / 1e6;
	}

	static void note() {
		StringBuilder names = new StringBuilder();
		StackTraceElement[] frames = Thread.currentThread().getStackTrace();
		for (int i = frames.length - 1; i >= 2; i--)
			names.append(';').append(frames[i].getClassName()).append('.').append(frames[i].getMethodName());
		synchronized (stacks) {
			stacks.add(names.substring(1));
		}
	}

	static long spin(boolean first) {
		if (first)
			note();
		long s = 0;
		for (int i = 0; i < 20000; i++)
			s += i & sink; // HOT
		return s;
	}

	static void busy(double ms) {
		double end = now() + ms;
		sink = spin(true) & 3;
		while (now() < end)
			for (int i = 0; i < 20; i++)
				sink = spin(false) & 3;
	}

	static void sixty(int n, double ms) {
		if (n > 0)
			sixty(n - 1, ms);
		else
			busy(ms);
	}

	static class Thing {
		void thirty(double ms) {
			Runnable closure = () -> busy(ms);
			closure.run();
		}
		static void made(double ms) {
			busy(ms);
		}
	}

	static void ten(double ms) {
		try {
			throw new RuntimeException("x");
		} catch (RuntimeException e) {
			busy(ms);
		}
	}

	static void sorting(double ms) {
		boolean[] done = {false};
		new ArrayList<>(List.of(3, 1, 2)).sort((a, b) -> {
			if (!done[0]) {
				done[0] = true;
				busy(ms);
			}
			return a - b;
		});
	}

	static void streaming(double ms) {
		sink = IntStream.range(0, 1).map(i -> { busy(ms); return i; }).sum();
	}

	static void threaded(double ms) {
		busy(ms);
	}

	static void timed(String name, Runnable call) {
		double start = now();
		call.run();
		own.put(name, now() - start);
	}

	public static void main(String[] args) throws Exception {
		timed("Script.sixty", () -> sixty(200, 600));
		timed("Script$Thing.thirty", () -> new Thing().thirty(300));
		timed("Script.ten", () -> ten(100));
		timed("Script$Thing.made", () -> Thing.made(60));
		timed("Script.sorting", () -> sorting(60));
		timed("Script.streaming", () -> streaming(60));
		double[] used = {0};
		Thread thread = new Thread(() -> { timed("Script.threaded", () -> threaded(60)); used[0] = now(); });
		thread.start();
		thread.join();
		own.forEach((name, ms) -> System.out.println(name + " " + ms));
		stacks.forEach(stack -> System.out.println("stack " + stack));
		System.out.println("process " + (now() + used[0]));
	}
}
END
javac Script.java 2>err || skip "needs a JDK: $(cat err)"
case $(java -XshowSettings:properties -version 2>&1 | awk '/java.specification.version/ { print $3 }') in
17 | 18 | 19 | 2[0-5]) ;;
*) skip 'needs Java 17 to 25' ;;
esac
NAMES=(Script.sixty "Script\$Thing.thirty" Script.ten "Script\$Thing.made" Script.sorting Script.streaming Script.threaded)

# (frames that the program itself does not see: of lambdas, and what has @Hidden)
HIDDEN='s/[^;]*[$][$]Lambda[^;]*;//g; s/java.lang.Thread.runWith[^;]*;//'

# (machines with one processor have the serial collector, with which no loop says
# which inlined method it is of)
it 'shares of methods'
SWIZZLE_SUMMARY=1 "$RUN" -m sample -o profile java -XX:+UseG1GC Script >printed 2>err || fail "exit status $?"
assert_not_contains err 'without names'
assert_shares "${NAMES[@]}"

it 'the stacks that the program sees'
assert_stacks Script.spin "$HIDDEN"

it 'file and line'
assert_eq "$PWD/Script.java" "$(row Script.spin 9)" 'file'
hot=$(grep -n HOT Script.java | cut -d : -f 1)
assert_eq $((hot - 4)) "$(row Script.spin 10)" 'line'
assert_hot_lines $((hot - 1)) "$hot"

it '--script: the methods alone'
assert_script_alone '^(java$|lib.*[.]so|ld-|\\[vdso)'

it 'nearly all stacks are whole'
"$DUMP" -f info profile | awk '/^samples:/ { all = $2 + 0 } /^cut stacks:/ { cut = $3 + 0 } END { exit !(cut <= all / 50) }' ||
	fail "$("$DUMP" -f info profile | grep 'cut stacks')"

it 'methods that are interpreted'
"$RUN" -q -m sample -o profile java -Xint Script >printed 2>err || fail "exit status $?"
assert_shares "${NAMES[@]}"
assert_stacks Script.spin "$HIDDEN"
assert_hot_lines $((hot - 1)) "$hot"

it 'pauses'
"$RUN" -q -m sample --engine pause -r 500 -o profile java -XX:+UseG1GC Script >printed 2>err || fail "exit status $?"
assert_shares "${NAMES[@]}"
assert_stacks Script.spin "$HIDDEN"

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

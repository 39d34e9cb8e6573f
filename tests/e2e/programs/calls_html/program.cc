#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <string>
#include <vector>
#define F __attribute__((noipa))
#define NOTE static inline __attribute__((always_inline))

struct noted { int depth; std::string call, result; };
static std::vector<noted> all;
static int depth;
volatile unsigned sum;

NOTE size_t enter(const char *name, long n)
{
	char text[100];
	snprintf(text, sizeof text, "%s(n = %ld)", name, n);
	all.push_back({depth++, text, "! int"}); // unless it returns
	return all.size() - 1;
}

NOTE int leave(size_t call, int result)
{
	depth--;
	all[call].result = "= " + std::to_string(result);
	return result;
}

NOTE void spin(unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		sum = sum + i;
}

extern "C" {
F int leaf(int n) { size_t c = enter("leaf", n); spin(n * 100); return leave(c, n); }
F int fails(int n) { size_t c = enter("fails", n); return leave(c, -n); }
F int throws(int n)
{
	enter("throws", n);
	throw n;
}
F int fib(int n)
{
	size_t c = enter("fib", n);
	return leave(c, n < 2 ? leaf(n) : fib(n - 1) + fib(n - 2));
}
F int work(int n)
{
	size_t c = enter("work", n);
	int result = 0;
	if (n % 3 == 0)
		result = fails(n + 1);
	if (n % 5 == 1)
		throws(n);
	if (n % 4 == 2)
		result += work(n + 2);
	spin(n * 1000);
	return leave(c, result < 0 ? result : fib(n % 6));
}
}

int main(int argc, char **argv)
{
	int rounds = atoi(argv[1]);

	for (int i = 0; i < rounds; i++) {
		depth = 0;
		try {
			work(i);
		} catch (int) {
		}
	}
	for (noted &n : all)
		printf("%d\t%s\t%s\n", n.depth, n.call.c_str(), n.result.c_str());
	return 0;
}

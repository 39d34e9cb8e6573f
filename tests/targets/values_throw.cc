/* Calls that exceptions end, whose arguments and results are recorded. */

#include <cstdio>
#include <stdexcept>
#include <string>

struct shape_error : std::runtime_error {
	using std::runtime_error::runtime_error;
};

__attribute__((noinline)) int innermost(int kind)
{
	if (kind == 1)
		throw shape_error("one");
	if (kind == 2)
		throw 7;
	return kind;
}

__attribute__((noinline)) int middle(int kind)
{
	int result = innermost(kind);

	asm volatile("" : "+r"(result));
	return result + 1;
}

__attribute__((noinline)) int outermost(const std::string &name, int kind)
{
	try {
		return middle(kind) + (int)name.size();
	} catch (const shape_error &) {
		return -1;
	} catch (int value) {
		return -value;
	}
}

int main()
{
	std::string name = "a name that is longer than what fits in place";
	int sum = 0;

	for (int kind = 0; kind < 3; kind++)
		sum += outermost(kind ? name : "short", kind);
	std::printf("%d\n", sum);
	return 0;
}

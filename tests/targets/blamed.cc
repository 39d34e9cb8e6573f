/* Functions that fail, are tried again, hand errors on, or do not. The program
 * prints the way of each error, as it knows it itself. */

#include <cstdio>
#include <string>

#define FUNCTION __attribute__((noinline, noclone))

static std::string way;

static void fails(const std::string &call)
{
	way = call;
}

static void hands_on(const std::string &call)
{
	way += " < " + call;
}

static void ends_in(const std::string &call)
{
	std::printf("%s < %s\n", way.c_str(), call.c_str());
}

FUNCTION int close_file(int file)
{
	asm volatile("");
	return file;
}

FUNCTION void free_all()
{
	asm volatile("");
}

FUNCTION int read_header(int file)
{
	if (file != 2)
		return 0;
	fails("read_header(arg1 = 2) = -22");
	return -22;
}

/* Cleans up before it hands the error on, in another type. */
FUNCTION long load(int file)
{
	long result = read_header(file);

	close_file(file);
	free_all();
	if (result < 0)
		hands_on("load(arg1 = 2) = -22");
	return result;
}

FUNCTION int try_once(int round)
{
	if (round == 2)
		return 0;
	fails("try_once(arg1 = " + std::to_string(round) + ") = -11");
	return -11;
}

/* Its own error has the value of those that it got over. */
FUNCTION int poll_it(int rounds)
{
	for (int i = 0; i < rounds; i++)
		if (try_once(i) < 0)
			ends_in("poll_it(arg1 = 3)");
	fails("poll_it(arg1 = 3) = -11");
	return -11;
}

FUNCTION int find(int key)
{
	fails("find(arg1 = 7) = -2");
	return key > 100 ? key : -2;
}

FUNCTION int translate(int key)
{
	if (find(key) < 0) {
		ends_in("translate(arg1 = 7) = -5");
		fails("translate(arg1 = 7) = -5");
		return -5;
	}
	return 0;
}

FUNCTION int thrower(int value)
{
	fails("thrower(arg1 = 9) ! int");
	if (value)
		throw value;
	return 1;
}

FUNCTION int passes(int value)
{
	int result;

	result = thrower(value);
	asm volatile("" : "+r"(result));
	return result + 1;
}

FUNCTION int run(int what)
{
	int result = what + 1;

	try {
		if (what == 0) {
			if (load(1) < 0 || load(2) < 0)
				ends_in("run(arg1 = 0) = 1");
		} else if (what == 1) {
			if (poll_it(3) < 0)
				ends_in("run(arg1 = 1) = 2");
		} else if (what == 2) {
			if (translate(7) < 0)
				ends_in("run(arg1 = 2) = 3");
		} else if (passes(9)) {
			return -100;
		}
	} catch (int) {
		hands_on("passes(arg1 = 9) ! int");
		ends_in("run(arg1 = 3) = 4");
	}
	return result;
}

int main()
{
	for (int i = 0; i < 4; i++)
		run(i);
	return 0;
}

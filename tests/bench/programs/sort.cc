// Sorting with comparators that are functions of their own, as without inlining.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#define NOINLINE __attribute__((noinline))

struct record {
	unsigned key;
	std::string name;
};

NOINLINE static bool by_key(const record *a, const record *b)
{
	return a->key < b->key;
}

NOINLINE static bool by_name(const record *a, const record *b)
{
	return a->name < b->name;
}

NOINLINE static bool by_last_digit(const record *a, const record *b)
{
	return a->key % 10 < b->key % 10;
}

int main(int argc, char **argv)
{
	int times = argc > 1 ? atoi(argv[1]) : 1;
	std::vector<record> records(50000);
	std::vector<record *> order;
	unsigned seed = 1, check = 0;

	for (auto &r : records) {
		seed = seed * 1103515245 + 12345;
		r.key = seed >> 8;
		r.name = std::to_string(r.key);
		order.push_back(&r);
	}
	for (int i = 0; i < times; i++) {
		std::sort(order.begin(), order.end(), by_key);
		std::stable_sort(order.begin(), order.end(), by_last_digit);
		std::sort(order.begin(), order.end(), by_name);
		check += order[static_cast<size_t>(i) % order.size()]->key;
	}
	std::printf("%u\n", check);
	return 0;
}

/* build: -O1 -g -fno-ipa-cp -fno-ipa-sra */
// Strings, vectors and objects that pointers and references lead to.
#include <cstdio>
#include <map>
#include <ostream>
#include <string>
#include <vector>

#define API __attribute__((noinline, used))

struct account {
	int id;
	std::string owner;
	const char *bank;
};

API size_t by_pointer(const std::string *text)
{
	return text->size();
}

API void append(std::string *text)
{
	*text += "!";
}

API void extend(std::string &text)
{
	text += "?";
}

API size_t by_reference(const std::string &text)
{
	return text.size();
}

API size_t elements(std::vector<int> *numbers, std::map<int, int> *names)
{
	return numbers->size() + names->size();
}

API void rename(account &a, int &count)
{
	a.owner = "Eve";
	count++;
}

API int show(const account *a)
{
	return a->id;
}

int main()
{
	std::string text = "text", long_text(30, 'x');
	std::vector<int> numbers{1, 2, 3};
	std::map<int, int> names{{1, 1}};
	account a{1, "Ann", "north"};
	int count = 4;

	append(&text);
	extend(text);
	rename(a, count);
	std::printf("%zu %zu %zu %d\n", by_pointer(&text),
		    by_reference(long_text), elements(&numbers, &names),
		    show(&a) + count);
	return 0;
}

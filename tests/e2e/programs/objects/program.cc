#include <array>
#include <atomic>
#include <map>
#include <stdio.h>
#include <string>
#include <string_view>
#include <vector>
#define F __attribute__((noipa))
#define NOTE inline __attribute__((always_inline))

enum mode { IDLE, BUSY, CLOSED };
struct point { int x, y; };
struct place { point at; double height; };
struct base { int id; F virtual ~base() {} base(int n) : id(n) {} };

struct account : base {
	place where{{1, 2}, 0.5};
	std::string owner;
	std::string_view view = "seen";
	const char *note = "a note";
	mode state = IDLE;
	bool open = true;
	unsigned low : 3, high : 5;
	short list[3] = {1, 2, 3};
	std::vector<int> log;
	std::map<int, int> limits;
	std::atomic<int> count{0};
	std::pair<int, char> pair{4, 'p'};
	std::u16string wide = u"wide";
	int account::*field = nullptr;
	account *next = nullptr;

	NOTE void tell(const char *what, const char *when)
	{
		static const char *const modes[] = {"IDLE", "BUSY", "CLOSED"};
		char pointer[40] = "NULL";
		if (next)
			snprintf(pointer, sizeof pointer, "%p", (void *)next);
		printf("%s\t%s\t{id = %d, where.at.x = %d, where.at.y = %d, where.height = %g, "
			"owner = \"%s\", view = \"%s\", note = \"%s\", state = %s, open = %s, low = %u, "
			"high = %u, list = [%d, %d, %d], log = {size = %zu}, limits = {size = %zu}, "
			"count = %d, pair.first = %d, pair.second = '%c', wide = {size = 4}, "
			"field = 0xffffffffffffffff, next = %s}\n", what, when,
			id, where.at.x, where.at.y, where.height, owner.c_str(), view.data(), note,
			modes[state], open ? "true" : "false", low, high, list[0], list[1], list[2],
			log.size(), limits.size(), count.load(), pair.first, pair.second, pointer);
	}

	F account(int n, const char *name) : base(n), owner(name), low(1), high(2)
	{
		tell("account", "return");
	}
	F ~account()
	{
		tell("~account", "entry");
	}
	F int deposit(int n)
	{
		tell("deposit", "entry");
		if (!open || state == CLOSED) {
			tell("deposit", "return");
			return -1;
		}
		where.at.x += n;
		log.push_back(n);
		limits[n] = 1;
		count++;
		high = n;
		tell("deposit", "return");
		return n;
	}
	F void rename(const char *name)
	{
		tell("rename", "entry");
		owner = name;
		list[1]++;
		pair.second++;
		tell("rename", "return");
	}
	F int look() const
	{
		const_cast<account *>(this)->tell("look", "entry");
		const_cast<account *>(this)->tell("look", "return");
		return id;
	}
};

int main()
{
	account a(1, "short"), b(2, "a name that is too long to be in the object itself");

	a.deposit(3);
	b.deposit(4);
	b.next = &a;
	b.where.height = 1.25;
	a.deposit(5);
	b.rename("brief");
	a.rename("another name that does not fit in place");
	a.look();
	b.open = false;
	b.deposit(6);
	a.state = CLOSED;
	a.note = "closed";
	a.deposit(7);
	b.look();
	return 0;
}

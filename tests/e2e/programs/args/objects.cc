#include <memory>
#include <string>
#include <optional>
#include <string_view>
#include <tuple>
#include <variant>
#include <vector>
enum class state { idle, busy };
struct point { int x, y; };
struct shape {
	int sides;
	__attribute__((noipa)) bool grow(int by) { sides += by; return sides > 5; }
};
#define F __attribute__((noipa))
F std::string join(const std::string &a, std::string b, std::string_view c)
{ return a + b + std::string(c); }
F size_t count(const std::vector<int> &v, state s) { return s == state::busy ? v.size() : 0; }
F int deref(std::unique_ptr<point> p) { return p ? p->x : -1; }
struct closer { int how; void operator()(point *p) const { delete p; } };
F int closed(std::unique_ptr<point, closer> p) { return p->y; }
F int bump(const std::unique_ptr<int> &p) { return ++*p; }
F std::unique_ptr<point> make(int x) { return std::unique_ptr<point>(new point{x, x + 1}); }
F size_t named(const std::shared_ptr<std::string> &s) { return s->size(); }
F int taken(std::unique_ptr<point> p) { std::unique_ptr<point> own = std::move(p); return own->x; }
F point swap_point(const point &p) { return {p.y, p.x}; }
F void twice(int *n, const int *m) { *n = 2 * *m; }
F int apply(int (*f)(int), int n) { return f(n); }
F int negate(int n) { return -n; }
volatile long seen;
F std::string_view view(std::string_view s) { seen = seen + s.size(); return s; }
F std::optional<int> maybe(std::optional<int> o) { seen = seen + 1; return o; }
F std::tuple<int, double> both(std::tuple<int, double> t) { seen = seen + 1; return t; }
F int which(std::variant<int, double> v) { return (int)v.index() + 10; }
struct left { int a; };
struct right { int b; };
struct nothing {};
struct derived : nothing, left, right { int c; };
F int inherits(const derived &d) { return d.a + d.b + d.c; }
F derived valued(derived d) { seen = seen + 1; return d; }
struct shared : virtual left { int d; };
F int virtually(const shared &s) { return s.a + s.d; }
struct __attribute__((packed)) large { long first[15]; int second; double third; int fourth; };
F int too_large(const large &l) { return l.fourth; }
F int letters(char32_t a, char32_t b, char16_t c) { return (int)a + (int)b + (int)c; }
int main()
{
	shape s{3};
	int n = 0, m = 21;

	join("a string that is too long to be in place", "b", "see");
	count({1, 2, 3}, state::busy);
	deref(std::make_unique<point>(point{7, 8}));
	deref(nullptr);
	closed(std::unique_ptr<point, closer>(new point{3, 4}, closer{9}));
	bump(std::make_unique<int>(41));
	make(5);
	named(std::make_shared<std::string>("a name"));
	taken(std::make_unique<point>(point{1, 2}));
	swap_point({1, 2});
	twice(&n, &m);
	s.grow(1);
	apply(negate, 4);
	view("a view");
	view({});
	maybe(5);
	maybe({});
	both({1, 2.5});
	which(3);
	which(2.5);
	derived d;
	d.a = 1, d.b = 2, d.c = 3;
	inherits(d);
	valued(d);
	shared v;
	v.a = 4, v.d = 5;
	virtually(v);
	too_large({{}, 6, 7.5, 8});
	letters(U'\U0001f600', U'\n', u'\u20ac');
	return 0;
}

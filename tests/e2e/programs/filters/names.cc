#define KEEP __attribute__((noinline, noclone))
static int sum;
static KEEP void writer(void *) { sum = sum + 1; }
namespace { KEEP void hidden() { sum = sum + 2; } }
struct left { virtual void turn() { sum = sum + 3; } };
struct right { virtual void stay() { sum = sum + 4; } };
struct both : left, right {
	KEEP void stay() override { sum = sum + 5; }
	template <int n> KEEP void add() { sum = sum + n; }
};
static KEEP void call(right *r) { r->stay(); }
int main()
{
	both b;
	writer(&b);
	hidden();
	b.add<10>();
	call(&b);
	return sum == 18 ? 0 : 1;
}

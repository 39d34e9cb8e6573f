#include <stdexcept>
#include <string>
#include <vector>
struct shape {
	virtual ~shape() {}
	virtual int area() const = 0;
	virtual int corners() const { return 0; }
};
struct square : shape {
	int side;
	explicit square(int s) : side(s) {}
	int area() const override { return side * side; }
	int corners() const override { return 4; }
};
struct circle : shape {
	int area() const override { return 3; }
};
static int fails(int n)
{
	if (n > 1)
		throw std::runtime_error("n");
	return n;
}
int main()
{
	square s(3);
	const shape &any = s;
	try {
		return fails(any.area());
	} catch (const std::exception &) {
		return 0;
	}
}

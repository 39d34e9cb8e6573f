#define F __attribute__((noipa))
struct data { int ref; unsigned length; char *chars; };
struct text { data d; };
struct buffer { char *str; unsigned long len; };
struct many { long n; void *p; };
struct shape { int id = 3; long area = 1; bool open = true; F long grow(int n) { return area += n; } };
F int take(const text &t, buffer *b, const many &m) { return (int)(t.d.length + b->len + (unsigned long)m.n); }
int main()
{
	char chars[] = "hello world";
	text t{{1, 5, chars}};
	buffer b{chars, 11};
	shape s;

	take(t, &b, {4, nullptr});
	s.grow(5);
	return 0;
}

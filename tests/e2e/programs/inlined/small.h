void leaf(int n);
void visit_one(int n);
void visit_two(int n);
void plain_leaf(int n);

static inline __attribute__((always_inline)) void small(int n)
{
	leaf(n); /* in small */
}

static inline __attribute__((always_inline)) void outer(int n)
{
	small(n); /* in outer */
	leaf(n + 1); /* second */
}

static inline __attribute__((always_inline)) void dispatch(int n)
{
	if (n % 2)
		visit_one(n); /* one */
	else
		visit_two(n); /* two */
}

/* For tests/targets/located.c. */

extern volatile long located_sink;

/* At the very beginning of what uses it. */
static inline __attribute__((always_inline)) void from_header(long n)
{
	located_sink = n;
}

/* A function of its own, of this file; each user names it. */
static __attribute__((noinline)) long HEADER_FUNCTION(long n)
{
	located_sink = n + 1;
	return n + 1;
}

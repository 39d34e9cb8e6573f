/* build: -O1 -g -fno-ipa-cp -fno-ipa-sra -fno-ipa-modref */
/* Structs that arguments and results point at or are, and what configurations
 * ask of them: fields, names of values, values that are watched. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define API __attribute__((noinline, noclone, used))

typedef uint32_t status_t;
typedef int32_t result_t;
typedef unsigned int flags_t;

enum stage { STAGE_IDLE, STAGE_BUSY, STAGE_DONE };

struct point {
	int x, y;
};

struct request {
	int id;
	char *uri;
	struct point at;
	enum stage stage;
};

struct context {
	struct request *request;
	int depth;
	struct context *parent;
	const char *name;
};

struct pair { /* 16 bytes: in two registers */
	const char *key;
	long value;
};

struct wide { /* on the stack */
	long numbers[3];
	char *label;
};

API int look(const struct request *request)
{
	return request->id + request->at.x;
}

API void advance(struct request *request, int by)
{
	request->at.x += by;
	request->stage = STAGE_DONE;
}

API void touch(struct request *request)
{
	__asm__ volatile("nop\n\tnop\n\tnop\n\tnop\n\tnop\n\tnop\n\tnop\n\tnop"
			 :
			 : "r"(request)
			 : "memory");
}

API int enter(struct context *ctx, struct request req)
{
	ctx->depth++;
	return ctx->depth + req.id;
}

API void leave(struct context *ctx)
{
	ctx->depth--;
}

API long take_pair(struct pair pair)
{
	return pair.value;
}

API struct pair make_pair(const char *key, long value)
{
	struct pair made = {key, value};

	return made;
}

API long take_wide(struct wide wide)
{
	return wide.numbers[2] + (wide.label != NULL);
}

API status_t check(int n, flags_t flags)
{
	return n == 1 ? 0x80004005u : n == 2 ? 0x80070057u : flags == 0 ? 7 : 0;
}

API result_t try(int n)
{
	return n ? -5 : 0;
}

API int close_log(FILE *stream)
{
	return fflush(stream);
}

int main(void)
{
	struct request request = {.id = 7, .uri = "/index", .at = {1, 2}};
	struct context outer = {.request = &request, .name = "outer"};
	struct context inner = {&request, 4, &outer, NULL};
	struct pair pair = {"key", 3};
	struct wide wide = {{1, 2, 3}, "label"};
	long sum = 0;

	sum += look(&request);
	advance(&request, 5);
	touch(&request);
	sum += enter(&inner, request) + enter(&outer, request);
	sum += enter(&inner, request);
	leave(&inner);
	sum += take_pair(pair) + make_pair("made", 4).value + take_wide(wide);
	for (int n = 0; n < 4; n++)
		sum += check(n, (flags_t)n) != 0;
	sum += try(0) + try(1);
	sum += close_log(stdout);
	printf("%ld\n", sum);
	return 0;
}

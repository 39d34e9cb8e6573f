#include "base/signature_exchange.h"

#include <fcntl.h>
#include <linux/futex.h>
#include <string.h>

#include "base/basics.h"
#include "base/syscall.h"

#define MOST_SECONDS 60u

/* --------------------------------------------------------- the descriptors */

static char *put_number(char *to, unsigned number)
{
	char digits[12];
	unsigned count = 0;

	do
		digits[count++] = (char)('0' + number % 10);
	while (number /= 10);
	while (count)
		*to++ = digits[--count];
	return to;
}

/* "/proc/SERVER/fd/N" */
static int open_of(const struct swz_exchange_place *place, int descriptor,
		   int flags)
{
	char path[64] = "/proc/", *at = path + 6;

	if (!place->server)
		return descriptor;
	at = put_number(at, (unsigned)place->server);
	memcpy(at, "/fd/", 4);
	at = put_number(at + 4, (unsigned)descriptor);
	*at = '\0';
	return (int)SWZ_SYSCALL(SYS_openat, AT_FDCWD, path, flags | O_CLOEXEC,
				0);
}

static void *map_of(const struct swz_exchange_place *place, uint64_t bytes,
		    uint64_t offset, int protection)
{
	int file = open_of(place, place->file, O_RDWR);
	void *mapped = NULL;

	if (file < 0)
		return NULL;
	if (SWZ_SYSCALL(SYS_lseek, file, 0, 2) >= (long)(bytes + offset))
		mapped = swz_sys_mmap(NULL, bytes, protection, MAP_SHARED, file,
				      offset);
	if (place->server)
		SWZ_SYSCALL(SYS_close, file);
	return mapped;
}

static void ring(const struct swz_exchange_place *place, int32_t pid)
{
	int bell = place->bell ? open_of(place, place->bell, O_WRONLY) : -1;

	if (bell < 0)
		return;
	SWZ_SYSCALL(SYS_write, bell, &pid, sizeof(pid));
	if (place->server)
		SWZ_SYSCALL(SYS_close, bell);
}

static bool number(const char **text, unsigned *value)
{
	const char *s = *text;

	for (*value = 0; *s >= '0' && *s <= '9' && *value < 100000000; s++)
		*value = *value * 10 + (unsigned)(*s - '0');
	if (s == *text)
		return false;
	*text = s + (*s == ' ');
	return true;
}

bool swz_exchange_open(const char *text, struct swz_exchange_place *place)
{
	unsigned numbers[3];

	for (unsigned i = 0; i < 3; i++)
		if (!number(&text, &numbers[i]))
			return false;
	if (*text)
		return false;
	*place = (struct swz_exchange_place){
		.server = (int32_t)numbers[0],
		.file = (int)numbers[1],
		.bell = (int)numbers[2],
	};
	if (!place->server) {
		long size = SWZ_SYSCALL(SYS_lseek, place->file, 0, 2);

		if (size > 0)
			place->bytes = (uint64_t)size;
	} else {
		place->bytes = sizeof(*place->table);
	}
	if (place->bytes >= sizeof(*place->table))
		place->table = map_of(place, place->bytes, 0,
				      PROT_READ | PROT_WRITE);
	if (!place->server)
		SWZ_SYSCALL(SYS_close, place->file);
	if (place->table)
		ring(place, (int32_t)SWZ_SYSCALL(SYS_getpid));
	return place->table != NULL;
}

/* --------------------------------------------------------------- questions */

static bool is_of(const struct swz_question *q,
		  const struct swz_exchange_module *m)
{
	/* swizzle-run does not know that of the program */
	return (!q->build_id_bytes ||
		(q->build_id_bytes == m->build_id_bytes &&
		 memcmp(q->build_id, m->build_id, m->build_id_bytes) == 0)) &&
	       strncmp(q->path, m->path, sizeof(q->path)) == 0;
}

static void fill(struct swz_question *q, const struct swz_exchange_module *m)
{
	q->build_id_bytes = m->build_id_bytes;
	memcpy(q->build_id, m->build_id, m->build_id_bytes);
	q->is_program = m->is_program;
	q->pid = m->pid;
	memcpy(q->path, m->path, strlen(m->path) + 1);
	__atomic_store_n(&q->state, SWZ_QUESTION_ASKED, __ATOMIC_RELEASE);
}

/* The module's, or a new one; NULL: the table is full. */
static struct swz_question *find(const struct swz_exchange_place *place,
				 const struct swz_exchange_module *m)
{
	for (unsigned i = 0; i < SWZ_EXCHANGE_QUESTIONS; i++) {
		struct swz_question *q = &place->table->questions[i];
		uint32_t state = __atomic_load_n(&q->state, __ATOMIC_ACQUIRE);

		/* two may ask the same at once: each is answered */
		if (state >= SWZ_QUESTION_ASKED && is_of(q, m))
			return q;
		if (state != SWZ_QUESTION_FREE)
			continue;
		if (!place->bell)
			return NULL;
		if (!__atomic_compare_exchange_n(
			    &q->state, &state, SWZ_QUESTION_CLAIMED, false,
			    __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
			continue;
		fill(q, m);
		ring(place, m->pid);
		return q;
	}
	return NULL;
}

const struct swz_question *swz_exchange_ask(
	const struct swz_exchange_place *place,
	const struct swz_exchange_module *m)
{
	const struct timespec second = {1, 0};
	struct swz_question *q;

	if (strlen(m->path) >= sizeof(q->path) ||
	    m->build_id_bytes > sizeof(q->build_id))
		return NULL;
	q = find(place, m);
	for (unsigned i = 0; q && (m->is_program || i < MOST_SECONDS); i++) {
		uint32_t state = __atomic_load_n(&q->state, __ATOMIC_ACQUIRE);

		if (state == SWZ_QUESTION_ANSWERED)
			return q;
		/* a wake-up may be early or missed: it looks again */
		SWZ_SYSCALL(SYS_futex, &q->state, FUTEX_WAIT, state, &second);
		if (place->server &&
		    SWZ_SYSCALL(SYS_kill, place->server, 0) == -ESRCH)
			return NULL;
	}
	return NULL;
}

/* ----------------------------------------------------------------- answers */

uint64_t swz_signature_file_body(const struct swz_signature_file *f)
{
	return f->parts * sizeof(struct swz_value_part) +
	       f->types * sizeof(struct swz_value_type) +
	       f->members * sizeof(struct swz_value_member) + f->text;
}

const struct swz_signature_file *swz_exchange_map(
	const struct swz_exchange_place *place, const struct swz_question *q)
{
	const struct swz_signature_file *f;

	if (q->answer != SWZ_ANSWER_SIGNATURES || q->offset % SWZ_PAGE ||
	    q->bytes < sizeof(*f) || q->bytes > UINT32_MAX)
		return NULL;
	if (place->server)
		f = map_of(place, q->bytes, q->offset, PROT_READ);
	else
		f = q->offset + q->bytes <= place->bytes
			    ? (const void *)((const uint8_t *)place->table +
					     q->offset)
			    : NULL;
	if (!f || memcmp(f->magic, SWZ_SIGNATURES_MAGIC, 8) != 0 ||
	    q->bytes != sizeof(*f) +
				f->checks * sizeof(struct swz_value_check) +
				f->marks * sizeof(struct swz_value_mark) +
				f->count * sizeof(struct swz_signature) +
				swz_signature_file_body(f))
		return NULL;
	return f;
}

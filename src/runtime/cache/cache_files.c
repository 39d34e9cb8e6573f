/* The cache's directory, its files, and their keys (docs/cache.md). Everything
 * in it is checked as if somebody else had written it: only files of this user
 * are read, and a file that is not as it should be is as good as none. */

#include "runtime/cache/plan_cache.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>

#include "base/syscall.h"
#include "image/elf_view.h"
#include "image/cursor.h"
#include "runtime/module/loaded.h"
#include "runtime/module/module.h"
#include "runtime/record/annotations.h"
#include "runtime/record/events.h"
#include "runtime/record/sampling.h"
#include "runtime/record/thread.h"
#include "runtime/support/config.h"
#include "runtime/support/scratch_memory.h"
#include "thunks/saved_plan.h"
#include "thunks/trampoline.h"

/* --- the directory and its files ------------------------------------------ */

/* ------------------------------------------------------------------- files */

/* A file is written under a name of its own and renamed when it is whole; none
 * is ever changed. So a reader sees all of one file or all of another, and
 * writers do not meet. What a crash leaves of one is found by its checksum.
 *
 * The time of the last change tells when a file was last used, to the hour. */

#define MOST_BYTES (UINT64_C(256) << 20) /* of all files together */
#define KEPT_BYTES (UINT64_C(192) << 20) /* when there are more */
#define MOST_OF_ONE (UINT64_C(64) << 20)
#define SMALL_BYTES (UINT64_C(32) << 10)
#define MOST_FILES 8192u
#define HOUR 3600

static const char temporary[] = "new-";
static char directory[1024]; /* ends in a slash; empty: there is no cache */
static uint64_t device, inode;
static uint32_t user; /* effective, when the directory was last looked at */

/* Ours, and nobody else may change what is in it. */
static bool is_own(const struct stat *st)
{
	return st->st_uid == user && !(st->st_mode & (S_IWGRP | S_IWOTH));
}

static bool look_at_directory(struct stat *st)
{
	user = (uint32_t)SWZ_SYSCALL(SYS_geteuid);
	return directory[0] && SWZ_SYSCALL(SYS_stat, directory, st) == 0 &&
	       S_ISDIR(st->st_mode) && is_own(st);
}

/* Makes a directory, in one of this user's only: one who acts for another (as
 * sudo may) leaves nothing of his own there. */
static void make(const char *parent, const char *path)
{
	struct stat st;

	if (SWZ_SYSCALL(SYS_stat, parent, &st) == 0 && st.st_uid == user)
		SWZ_SYSCALL(SYS_mkdir, path, 0700);
}

static void append(char *path, const char *part)
{
	size_t used = strlen(path), length = strlen(part);

	if (used + length < sizeof(directory))
		memcpy(path + used, part, length + 1);
	else
		path[0] = '\0';
}

/* `base` without its last part. */
static void parent_of(char *path, const char *base)
{
	size_t length = strlen(base);

	while (length > 1 && base[length - 1] == '/')
		length--;
	while (length > 1 && base[length - 1] != '/')
		length--;
	memcpy(path, base, length);
	path[length] = '\0';
}

/* `base` must be there, or the directory in which it is made. */
static void begin_in(const char *base)
{
	char path[sizeof(directory)], parent[sizeof(directory)];
	struct stat st;

	memcpy(path, base, strlen(base) + 1);
	append(path, "/swizzle/");
	if (!path[0])
		return;
	memcpy(directory, path, sizeof(path));
	if (!look_at_directory(&st)) {
		parent_of(parent, base);
		make(parent, base);
		make(base, path);
		if (!look_at_directory(&st)) {
			directory[0] = '\0';
			return;
		}
	}
	device = st.st_dev;
	inode = st.st_ino;
}

void swz_cache_files_begin(void)
{
	const char *home = swz_config.home, *base = swz_config.cache_home;
	char path[sizeof(directory)] = "";

	if (!swz_config.cache)
		return;
	if (base && base[0] == '/') { /* others are not valid */
		append(path, base);
		if (path[0])
			begin_in(path);
	} else if (home && home[0] == '/') {
		append(path, home);
		if (path[0])
			append(path, "/.cache");
		if (path[0])
			begin_in(path);
	}
}

bool swz_cache_files_begun(void)
{
	return directory[0] != '\0';
}

bool swz_cache_files_are_there(void)
{
	struct stat st;

	return look_at_directory(&st) && st.st_dev == device &&
	       st.st_ino == inode;
}

static bool path_of(char *path, const char *prefix, const char *name)
{
	memcpy(path, directory, strlen(directory) + 1);
	append(path, prefix);
	append(path, name);
	return path[0] == '/';
}

/* ---------------------------------------------------------------- reading */

static uint64_t seconds(void)
{
	struct timespec now;

	if (!swz_clock_read(CLOCK_REALTIME, &now))
		return 0;
	return (uint64_t)now.tv_sec;
}

static bool read_all(int fd, void *to, size_t bytes)
{
	uint8_t *at = to;

	while (bytes) {
		long n = SWZ_SYSCALL(SYS_read, fd, at, bytes);

		if (n == -EINTR)
			continue;
		if (n <= 0)
			return false;
		at += n;
		bytes -= (size_t)n;
	}
	return true;
}

bool swz_cache_files_read(struct swz_cache_file *file, void *to, size_t bytes)
{
	if (!file->whole)
		return read_all(file->fd, to, bytes);
	if (bytes > file->left)
		return false;
	memcpy(to, file->whole + file->bytes - file->left, bytes);
	file->left -= bytes;
	return true;
}

/* One system call for all parts of a small plan. */
static void read_small(struct swz_cache_file *file)
{
	uint8_t *whole = file->bytes <= SMALL_BYTES
				 ? swz_scratch_alloc(file->bytes)
				 : NULL;

	file->whole = NULL;
	if (!whole)
		return;
	/* one that cannot be read has nothing in it */
	file->left = read_all(file->fd, whole, file->bytes) ? file->bytes : 0;
	file->whole = whole;
}

static bool is_usable(struct swz_cache_file *file)
{
	struct stat st;

	if (SWZ_SYSCALL(SYS_fstat, file->fd, &st) != 0 ||
	    !S_ISREG(st.st_mode) || !is_own(&st) || st.st_size <= 0 ||
	    (uint64_t)st.st_size > MOST_OF_ONE)
		return false;
	if ((uint64_t)st.st_mtim.tv_sec + HOUR < seconds())
		SWZ_SYSCALL(SYS_utimensat, file->fd, NULL, NULL, 0);
	file->bytes = (uint64_t)st.st_size;
	return true;
}

bool swz_cache_files_open(const char *name, struct swz_cache_file *file)
{
	char path[sizeof(directory)];

	if (!path_of(path, name, ""))
		return false;
	file->fd = (int)SWZ_SYSCALL(
		SYS_open, path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
	if (file->fd < 0)
		return false;
	if (is_usable(file)) {
		read_small(file);
		return true;
	}
	swz_cache_files_close(file);
	return false;
}

void swz_cache_files_close(const struct swz_cache_file *file)
{
	SWZ_SYSCALL(SYS_close, file->fd);
}

/* ---------------------------------------------------------------- writing */

/* Past that the process would get a signal. */
static bool may_write(uint64_t bytes)
{
	struct rlimit limit;

	return bytes <= MOST_OF_ONE &&
	       SWZ_SYSCALL(SYS_prlimit64, 0, RLIMIT_FSIZE, NULL, &limit) == 0 &&
	       bytes <= limit.rlim_cur;
}

static bool write_all(long fd, const uint8_t *from, size_t bytes)
{
	while (bytes) {
		long n = SWZ_SYSCALL(SYS_write, fd, from, bytes);

		if (n == -EINTR)
			continue;
		if (n <= 0)
			return false;
		from += n;
		bytes -= (size_t)n;
	}
	return true;
}

static void hex(char *to, uint64_t value)
{
	for (int i = 15; i >= 0; i--, value >>= 4)
		to[i] = "0123456789abcdef"[value & 15];
	to[16] = '\0';
}

/* The name is the same for two processes at the same moment: one of them then
 * writes nothing. */
static bool temporary_path(char *path)
{
	char number[17];

	hex(number, swz_ticks());
	if (!path_of(path, temporary, number))
		return false;
	hex(number, (uint64_t)SWZ_SYSCALL(SYS_getpid));
	append(path, number);
	return path[0] == '/';
}

bool swz_cache_files_write(const char *name, const struct swz_bytes *parts,
			   unsigned count)
{
	char path[sizeof(directory)], place[sizeof(directory)];
	uint64_t bytes = 0;
	bool written = true;
	long fd;

	for (unsigned i = 0; i < count; i++)
		bytes += parts[i].size;
	if (!may_write(bytes) || !temporary_path(path) ||
	    !path_of(place, name, ""))
		return false;
	fd = SWZ_SYSCALL(SYS_open, path,
			 O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
			 0600);
	if (fd < 0)
		return false;
	/* whatever the program's umask is */
	SWZ_SYSCALL(SYS_fchmod, fd, 0600);
	for (unsigned i = 0; i < count && written; i++)
		written = write_all(fd, parts[i].data, parts[i].size);
	SWZ_SYSCALL(SYS_close, fd);
	if (written && SWZ_SYSCALL(SYS_rename, path, place) == 0)
		return true;
	SWZ_SYSCALL(SYS_unlink, path);
	return false;
}

/* ------------------------------------------------------------ the least used
 */

struct entry {
	uint64_t used; /* seconds */
	uint64_t bytes;
	char name[SWZ_CACHE_NAME_BYTES];
};

struct listing {
	struct entry *entries;
	uint32_t count;
	uint64_t bytes;
};

struct kernel_dirent {
	uint64_t inode;
	int64_t offset;
	uint16_t bytes;
	uint8_t type;
	char name[];
};

static bool begins_with(const char *name, const char *prefix)
{
	return strncmp(name, prefix, strlen(prefix)) == 0;
}

static void list_one(struct listing *l, const char *name)
{
	bool is_new = begins_with(name, temporary);
	struct entry *e = &l->entries[l->count];
	char path[sizeof(directory)];
	struct stat st;

	if (l->count == MOST_FILES || strlen(name) >= sizeof(e->name) ||
	    !(is_new || begins_with(name, SWZ_CACHE_PLAN) ||
	      begins_with(name, SWZ_CACHE_START_PREFIX)) ||
	    !path_of(path, name, "") ||
	    SWZ_SYSCALL(SYS_lstat, path, &st) != 0 || !S_ISREG(st.st_mode))
		return;
	memcpy(e->name, name, strlen(name) + 1);
	e->used = (uint64_t)st.st_mtim.tv_sec;
	e->bytes = (uint64_t)st.st_blocks * 512;
	/* a process that was killed has left it */
	if (is_new && e->used + HOUR < seconds())
		e->used = 0;
	l->bytes += e->bytes;
	l->count++;
}

static void list(struct listing *l)
{
	long fd = SWZ_SYSCALL(SYS_open, directory,
			      O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	char *buffer = swz_scratch_alloc(32768);
	long n;

	if (fd < 0)
		return;
	while (buffer &&
	       (n = SWZ_SYSCALL(SYS_getdents64, fd, buffer, 32768)) > 0)
		for (long at = 0; at < n;) {
			struct kernel_dirent *d = (void *)(buffer + at);

			list_one(l, d->name);
			at += d->bytes;
		}
	SWZ_SYSCALL(SYS_close, fd);
}

static void remove_oldest(struct listing *l)
{
	struct entry *oldest = l->entries;
	char path[sizeof(directory)];

	for (uint32_t i = 1; i < l->count; i++)
		if (l->entries[i].used < oldest->used)
			oldest = &l->entries[i];
	if (path_of(path, oldest->name, ""))
		SWZ_SYSCALL(SYS_unlink, path);
	l->bytes -= oldest->bytes;
	*oldest = l->entries[--l->count];
}

void swz_cache_files_tidy(void)
{
	struct listing l = {0};

	l.entries = swz_scratch_alloc(MOST_FILES * sizeof(*l.entries));
	if (!l.entries)
		return;
	list(&l);
	if (l.bytes <= MOST_BYTES && l.count < MOST_FILES)
		return;
	while (l.count && (l.bytes > KEPT_BYTES || l.count > MOST_FILES / 2))
		remove_oldest(&l);
}

/* -------------------------------------------------------------------- keys */

#define SETTLED_NS UINT64_C(2000000000)

static uint8_t ours[sizeof(((struct swz_saved_key *)0)->ours)]; /* build-id */

bool swz_cache_key_begin(struct swz_bytes build_id)
{
	if (!build_id.size || build_id.size > sizeof(ours))
		return false;
	memcpy(ours, build_id.data, build_id.size);
	return true;
}

static uint64_t hash_string(uint64_t seed, const char *string)
{
	struct swz_bytes bytes = {(const uint8_t *)string,
				  string ? strlen(string) + 1 : 0};

	return swz_hash(seed, bytes);
}

static uint64_t hash_of_options(const struct swz_module *m)
{
	uint64_t numbers[] = {swz_config.min_size, swz_config.test_tactic,
			      swz_config.sampled, swz_config.first_calls,
			      (uint64_t)m->flows_only << swz_config.flows
						      << 2 * swz_config.prints};

	return swz_hash(
		hash_string(0, swz_config.hide),
		(struct swz_bytes){(const uint8_t *)numbers, sizeof(numbers)});
}

void swz_cache_key_make(struct swz_saved_key *key, const struct swz_module *m)
{
	memset(key, 0, sizeof(*key));
	memcpy(key->build_id, m->build_id.data, m->build_id.size);
	memcpy(key->ours, ours, sizeof(key->ours));
	key->device = m->identity.device;
	key->inode = m->identity.inode;
	key->file_bytes = m->identity.bytes;
	key->mtime_ns = m->identity.mtime_ns;
	key->ctime_ns = m->identity.ctime_ns;
	key->options = m->in_scope ? hash_of_options(m) : 0;
	key->flags = (m->in_scope ? SWZ_SAVED_IN_SCOPE : 0) |
		     (m->late || swz_config.attached ? SWZ_SAVED_LATE : 0) |
		     (swz_config.count && m->in_scope ? SWZ_SAVED_COUNTS : 0) |
		     (swz_config.count ? SWZ_SAVED_NO_WALKERS : 0) |
		     (swz_config.at_fixed_address && !m->in_scope
			      ? SWZ_SAVED_FIXED
			      : 0) |
		     (swz_has_shadow_stack() ? SWZ_SAVED_SHADOW_STACK : 0);
	_Static_assert(SWZ_MAX_TEXT_RANGES <= SWZ_SAVED_MOST_TEXTS,
		       "the texts of any module fit into a key");
	key->text_count = m->text_count;
	for (unsigned i = 0; i < m->text_count; i++) {
		key->texts[i].start = m->text[i].start;
		key->texts[i].end = m->text[i].end;
	}
}

static char *put_hex(char *to, const uint8_t *bytes, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		*to++ = "0123456789abcdef"[bytes[i] >> 4];
		*to++ = "0123456789abcdef"[bytes[i] & 15];
	}
	return to;
}

/* A changed file's plan takes the place of the old one's. */
void swz_cache_key_name(const char *prefix, const struct swz_saved_key *key,
			size_t build_id_bytes, char *name)
{
	struct swz_saved_key of_file = *key;
	uint64_t hash;

	of_file.file_bytes = of_file.mtime_ns = of_file.ctime_ns = 0;
	memset(of_file.texts, 0, sizeof(of_file.texts));
	hash = swz_hash(0, (struct swz_bytes){(const uint8_t *)&of_file,
					      sizeof(of_file)});
	memcpy(name, prefix, strlen(prefix));
	name = put_hex(name + strlen(prefix), key->build_id, build_id_bytes);
	*name++ = '-';
	*put_hex(name, (const uint8_t *)&hash, sizeof(hash)) = '\0';
}

/* If both are the file's, nothing of the text need be read, and a page that is
 * going to be patched is not mapped before it gets its copy. */
bool swz_cache_text_is_that_of(const struct swz_module *m,
			       const struct swz_saved_header *h)
{
	return (h->facts & SWZ_SAVED_OF_FILE && swz_module_is_untouched(m)) ||
	       swz_module_text_hash(m, 0) == h->text_hash;
}

/* True if a change of the module's file would show in its times: they are not
 * exact. */
static bool cache_file_is_settled(const struct swz_module *m)
{
	struct timespec now;
	uint64_t ns;

	if (!swz_clock_read(CLOCK_REALTIME, &now))
		return false;
	ns = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
	return ns > m->identity.ctime_ns + SETTLED_NS &&
	       ns > m->identity.mtime_ns + SETTLED_NS;
}

bool swz_cache_text_is_of_file(const struct swz_module *m)
{
	return cache_file_is_settled(m) && swz_module_is_untouched(m);
}

/* --- the record of earlier starts ----------------------------------------- */

/* One small file with facts of earlier starts: the cost of a call, the linker's
 * call sites, and what is known of modules out of scope. It is read whole, and
 * written only if something in it has changed. */

#define SWZ_FACTS_MAGIC "SWZfact\n"
/* How long costs are good for: a processor's clock changes with what else there
 * is to do. Those that were measured amid too much else, only for what starts
 * at the same time. */
#define CONFIRMED_NS UINT64_C(60000000000)
#define UNCONFIRMED_NS UINT64_C(2000000000)
/* More than any machine takes for a call: 16,384 ticks. */
#define MOST_COST (UINT64_C(16384) << 10)
/* Clocks are slewed. */
#define SAME_BOOT_NS UINT64_C(500000000)

/* As it was found, or would be but for the facts. */
static struct swz_start_record_file known;
static char name[SWZ_CACHE_NAME_BYTES];
static bool more; /* is known of modules than was found */
static const struct swz_module *linker_described; /* in known.linker */

/* Another kernel may run on another machine. When it began, by this machine's
 * clock, tells it well enough; a clock that is set meanwhile makes all new. */
static bool read_boot(uint64_t *boot_ns)
{
	struct timespec now, since;

	if (!swz_clock_read(CLOCK_REALTIME, &now) ||
	    !swz_clock_read(CLOCK_BOOTTIME, &since))
		return false;
	*boot_ns = (uint64_t)(now.tv_sec - since.tv_sec) * 1000000000u +
		   (uint64_t)now.tv_nsec - (uint64_t)since.tv_nsec;
	return true;
}

/* The linker is a file of that identity, opened or not. */
static bool describe(const struct swz_module *linker)
{
	struct swz_module m;

	if (!swz_cache_files_begun() || !linker || !linker->build_id.size ||
	    linker->build_id.size > sizeof(known.linker.build_id))
		return false;
	m = *linker;
	m.text_count = 0;
	if (!swz_file_identify(m.path, &m.identity) ||
	    !read_boot(&known.boot_ns))
		return false;
	memcpy(known.magic, SWZ_FACTS_MAGIC, sizeof(known.magic));
	swz_cache_key_make(&known.linker, &m);
	linker_described = linker;
	known.linker.options = (swz_sampling ? 1u : 0) |
			       (swz_tracing ? 2u : 0) |
			       (swz_ids_filtered ? 4u : 0);
	swz_cache_key_name(SWZ_CACHE_START_PREFIX, &known.linker,
			   m.build_id.size, name);
	return true;
}

static bool read_file(struct swz_start_record_file *file)
{
	struct swz_cache_file f;
	bool whole;

	if (!swz_cache_files_open(name, &f))
		return false;
	whole = f.bytes == sizeof(*file) &&
		swz_cache_files_read(&f, file, sizeof(*file));
	swz_cache_files_close(&f);
	return whole && file->hash == swz_start_record_file_hash(file);
}

static bool is_same_boot(uint64_t boot_ns)
{
	uint64_t later = boot_ns - known.boot_ns;

	return later < SAME_BOOT_NS || -later < SAME_BOOT_NS;
}

/* All before the facts but the hash. */
static bool is_for_us(const struct swz_start_record_file *file)
{
	return memcmp(file->magic, known.magic, sizeof(file->magic)) == 0 &&
	       memcmp(&file->linker, &known.linker, sizeof(file->linker)) ==
		       0 &&
	       is_same_boot(file->boot_ns) &&
	       file->other_count <= SWZ_MOST_OTHERS;
}

static bool are_good(const struct swz_costs *costs)
{
	uint64_t age = swz_clock_monotonic_ns() - costs->measured_ns;

	return costs->measured_ns &&
	       age < (costs->confirmed ? CONFIRMED_NS : UNCONFIRMED_NS) &&
	       costs->inside <= MOST_COST && costs->outside <= MOST_COST &&
	       costs->untimed <= MOST_COST && costs->leaf <= MOST_COST;
}

void swz_start_record_begin(const struct swz_modules *modules)
{
	struct swz_start_record_file file;

	if (describe(swz_linker_module(modules)) && read_file(&file) &&
	    is_for_us(&file))
		known = file;
}

static bool is_same_file(const struct swz_file_identity *a,
			 const struct swz_file_identity *b)
{
	return a->device == b->device && a->inode == b->inode &&
	       a->bytes == b->bytes && a->mtime_ns == b->mtime_ns &&
	       a->ctime_ns == b->ctime_ns;
}

/* (That of the linker has just been looked at.) */
static bool identify(const struct swz_module *m, struct swz_file_identity *file)
{
	const struct swz_saved_key *key = &known.linker;

	if (m != linker_described)
		return swz_file_identify(m->path, file);
	*file = (struct swz_file_identity){key->device, key->inode,
					   key->file_bytes, key->mtime_ns,
					   key->ctime_ns};
	return true;
}

const struct swz_other_module *swz_start_record_of(const struct swz_module *m)
{
	uint64_t build = swz_hash(0, m->build_id);
	struct swz_file_identity file;

	for (uint32_t i = 0; i < known.other_count; i++) {
		const struct swz_other_module *o = &known.others[i];

		if (o->build == build && m->build_id.size)
			return identify(m, &file) &&
					       is_same_file(&o->file, &file)
				       ? o
				       : NULL;
	}
	return NULL;
}

static void forget(uint32_t at)
{
	known.other_count--;
	memmove(&known.others[at], &known.others[at + 1],
		(known.other_count - at) * sizeof(known.others[0]));
}

void swz_start_record_note(const struct swz_module *m,
			   struct swz_other_module other)
{
	if (!name[0] || !m->build_id.size || !m->identity.bytes ||
	    !cache_file_is_settled(m))
		return;
	other.file = m->identity;
	other.build = swz_hash(0, m->build_id);
	for (uint32_t i = 0; i < known.other_count; i++)
		if (known.others[i].build == other.build)
			forget(i);
	if (known.other_count == SWZ_MOST_OTHERS)
		forget(0);
	known.others[known.other_count++] = other;
	more = true;
}

void swz_start_record_find(struct swz_start_record *facts)
{
	*facts = known.facts;
	if (!are_good(&facts->costs))
		memset(&facts->costs, 0, sizeof(facts->costs));
}

static bool is_known(const struct swz_start_record *facts)
{
	return facts->costs.measured_ns == known.facts.costs.measured_ns &&
	       memcmp(&facts->calls, &known.facts.calls,
		      sizeof(facts->calls)) == 0;
}

void swz_start_record_keep(const struct swz_start_record *facts)
{
	struct swz_bytes part = {(const uint8_t *)&known, sizeof(known)};

	if (!name[0] || (is_known(facts) && !more))
		return;
	known.facts = *facts;
	known.hash = swz_start_record_file_hash(&known);
	(void)swz_cache_files_write(name, &part, 1);
}

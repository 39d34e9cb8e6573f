#include "runtime/cache/key.h"

#include <string.h>
#include <time.h>

#include "image/hash.h"
#include "runtime/support/clock.h"
#include "runtime/support/config.h"
#include "thunks/trampoline.h"

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
			      swz_config.sampled,
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

bool swz_cache_file_is_settled(const struct swz_module *m)
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
	return swz_cache_file_is_settled(m) && swz_module_is_untouched(m);
}

/* The loaded modules are found without calling the dynamic linker: it may hold
 * its locks, and its functions are not async-signal-safe. Hooks ask in any
 * thread, and in signal handlers. So the table takes no lock: an entry is
 * complete before its state says that it is there, and none is ever moved. */

#include "runtime/module/loaded.h"

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "swizzle/format.h"
#include "base/syscall.h"
#include "image/cursor.h"
#include "runtime/module/module.h"
#include "runtime/support/config.h"
#include "thunks/maps.h"

/* ------------------------------------------------------ the hash of a text */

/* Apart from the rest of module.h: what knows the loaded modules needs it,
 * which those who list modules need in turn. */

uint64_t swz_module_text_hash(const struct swz_module *m, uint64_t seed)
{
	for (unsigned i = 0; i < m->text_count; i++)
		seed = swz_hash(seed,
				(struct swz_bytes){
					swz_module_bytes(m, m->text[i].start),
					m->text[i].end - m->text[i].start});
	return seed;
}

/* ---------------------------------------------------- the table of modules */

#define MOST_MODULES (1u << 16)

bool swz_loaded_out_of_date;
uint32_t swz_loaded_recorded;
static struct swz_loaded *loaded_table; /* room for MOST_MODULES */
static _Atomic uint32_t loaded_used;

size_t swz_loaded_bytes(void)
{
	return MOST_MODULES * sizeof(*loaded_table);
}

void swz_loaded_begin(void *room)
{
	loaded_table = room;
}

bool swz_loaded_map_at(uint64_t address, const struct link_map **map,
		       uint64_t *end)
{
	uint32_t among = atomic_load_explicit(&loaded_used,
					      memory_order_acquire);

	*map = NULL;
	if (swz_loaded_out_of_date)
		return false;
	for (uint32_t i = 0; i < among; i++) {
		const struct swz_loaded *l = &loaded_table[i];

		if (atomic_load_explicit(&l->state, memory_order_acquire) !=
			    SWZ_LOADED_PRESENT ||
		    address < l->start || address >= l->end)
			continue;
		*map = l->map;
		*end = l->end;
		break;
	}
	return among != 0;
}

struct swz_loaded *swz_loaded_find(const struct link_map *map)
{
	for (uint32_t i = 0; i < loaded_used; i++)
		if (loaded_table[i].state == SWZ_LOADED_PRESENT &&
		    loaded_table[i].map == map &&
		    loaded_table[i].load_bias == map->l_addr)
			return &loaded_table[i];
	return NULL;
}

void swz_loaded_set_present(struct swz_loaded *l)
{
	/* release: matches the acquire in swz_loaded_map_at */
	atomic_store_explicit(&l->state, SWZ_LOADED_PRESENT,
			      memory_order_release);
	if (l == &loaded_table[loaded_used])
		atomic_store_explicit(&loaded_used, loaded_used + 1,
				      memory_order_release);
}

struct swz_loaded *swz_loaded_next(struct swz_loaded *after,
				   enum swz_loaded_state state)
{
	struct swz_loaded *l = after ? after + 1 : loaded_table;

	for (; l < loaded_table + loaded_used; l++)
		if (l->state == state)
			return l;
	return NULL;
}

struct swz_loaded *swz_loaded_new(void)
{
	for (uint32_t i = 0; i < loaded_used; i++)
		if (loaded_table[i].state == SWZ_LOADED_FREE)
			return &loaded_table[i];
	return loaded_used < MOST_MODULES ? &loaded_table[loaded_used] : NULL;
}

uint64_t swz_loaded_identity(const struct swz_module *m)
{
	struct swz_bytes path = {(const uint8_t *)m->path, strlen(m->path)};
	uint64_t hash = swz_hash(m->in_scope, path);

	return swz_module_text_hash(m, swz_hash(hash, m->build_id));
}

struct swz_loaded *swz_loaded_find_dormant(const struct swz_module *m,
					   uint64_t identity)
{
	for (uint32_t i = 0; i < loaded_used; i++)
		if (loaded_table[i].state == SWZ_LOADED_DORMANT &&
		    loaded_table[i].identity == identity &&
		    loaded_table[i].load_bias == m->load_bias)
			return &loaded_table[i];
	return NULL;
}

/* ----------------------------------------------------------------- binding */

/* The rules are those of glibc's do_lookup_x and check_match: a reference with
 * a version takes a definition with the same one, or an unversioned one; one
 * without takes the base or default version. */

/* DT_RELRSZ and DT_RELR: not in all headers yet. */
enum { TAG_RELRSZ = 35, TAG_RELR = 36 };

static uint64_t distance(uint64_t a, uint64_t b)
{
	return a > b ? a - b : b - a;
}

/* True if the linker has relocated the pointer in place: then it leads near to
 * where it is. (The bias of a module that is linked at a higher address than
 * it is mapped at is a negative number.) */
static bool is_relocated(const struct swz_dynamic *d, const ElfW(Dyn) * entry)
{
	uint64_t place = (uintptr_t)entry, to = entry->d_un.d_ptr;

	return distance(to, place) <= distance(to + d->load_bias, place);
}

static void note(struct swz_dynamic *d, const ElfW(Dyn) * entry)
{
	const void *p = (const void *)entry->d_un.d_ptr;

	if (entry->d_tag == DT_RELASZ)
		d->rela_count = entry->d_un.d_val / sizeof(Elf64_Rela);
	if (entry->d_tag == DT_PLTRELSZ)
		d->jmprel_count = entry->d_un.d_val / sizeof(Elf64_Rela);
	if (entry->d_tag == TAG_RELRSZ)
		d->relr_count = entry->d_un.d_val / sizeof(uint64_t);
	/* the linker relocates all but these in place (but for the vdso's) */
	if (entry->d_tag == DT_VERNEED || entry->d_tag == DT_VERDEF) {
		if (!is_relocated(d, entry))
			p = (const char *)p + d->load_bias;
	} else if (!is_relocated(d, entry)) {
		return;
	}
	switch (entry->d_tag) {
	case DT_SYMTAB:
		d->symbols = p;
		break;
	case DT_STRTAB:
		d->strings = p;
		break;
	case DT_GNU_HASH:
		d->hash = p;
		break;
	case DT_VERSYM:
		d->versyms = p;
		break;
	case DT_VERNEED:
		d->verneed = p;
		break;
	case DT_VERDEF:
		d->verdef = p;
		break;
	case DT_RELA:
		d->rela = p;
		break;
	case DT_JMPREL:
		d->jmprel = p;
		break;
	case TAG_RELR:
		d->relr = p;
		break;
	}
}

bool swz_dynamic_read(uint64_t load_bias, const ElfW(Dyn) * entry,
		      struct swz_dynamic *dynamic)
{
	memset(dynamic, 0, sizeof(*dynamic));
	dynamic->load_bias = load_bias;
	for (; entry && entry->d_tag != DT_NULL; entry++)
		note(dynamic, entry);
	if (!dynamic->rela)
		dynamic->rela_count = 0;
	if (!dynamic->jmprel)
		dynamic->jmprel_count = 0;
	if (!dynamic->relr)
		dynamic->relr_count = 0;
	return dynamic->symbols && dynamic->strings;
}

/* The version that a reference asks for; NULL: none. */
static const char *wanted_version(const struct swz_dynamic *from,
				  uint32_t symbol)
{
	uint16_t index;

	if (!from->versyms || !from->verneed)
		return NULL;
	index = from->versyms[symbol] & 0x7fff;
	if (index < 2)
		return NULL;
	for (const Elf64_Verneed *n = from->verneed;;) {
		const Elf64_Vernaux *a = (const void *)((const char *)n +
							n->vn_aux);

		for (unsigned i = 0; i < n->vn_cnt; i++) {
			if ((a->vna_other & 0x7fff) == index)
				return from->strings + a->vna_name;
			a = (const void *)((const char *)a + a->vna_next);
		}
		if (!n->vn_next)
			return NULL;
		n = (const void *)((const char *)n + n->vn_next);
	}
}

static const char *defined_version(const struct swz_dynamic *m, uint16_t index)
{
	for (const Elf64_Verdef *d = m->verdef; d;) {
		if (d->vd_ndx == index) {
			const Elf64_Verdaux *a =
				(const void *)((const char *)d + d->vd_aux);

			return m->strings + a->vda_name;
		}
		if (!d->vd_next)
			break;
		d = (const void *)((const char *)d + d->vd_next);
	}
	return "";
}

static bool has_version(const struct swz_dynamic *m, uint32_t symbol,
			const char *wanted)
{
	bool hidden;
	uint16_t index;

	if (!m->versyms)
		return true;
	hidden = m->versyms[symbol] & 0x8000;
	index = m->versyms[symbol] & 0x7fff;
	if (!wanted)
		return index < 3 || !hidden;
	return strcmp(defined_version(m, index), wanted) == 0 ||
	       (index < 2 && !hidden);
}

static bool is_definition(const Elf64_Sym *s)
{
	unsigned binding = ELF64_ST_BIND(s->st_info);

	return s->st_shndx != SHN_UNDEF && s->st_value &&
	       (binding == STB_GLOBAL || binding == STB_WEAK ||
		binding == STB_GNU_UNIQUE);
}

const Elf64_Sym *swz_dynamic_find(const struct swz_dynamic *module,
				  const struct swz_dynamic *from,
				  uint32_t symbol)
{
	const char *name = from->strings + from->symbols[symbol].st_name;
	const uint32_t *table = module->hash, *bucket, *chain;
	const uint64_t *bloom;
	const char *version;
	uint32_t hash = 5381, i;
	uint64_t word;

	if (!table || !table[0] || !table[2])
		return NULL;
	for (const char *c = name; *c; c++)
		hash = hash * 33 + (uint8_t)*c;
	/* buckets, first symbol, words of the Bloom filter, its second shift */
	bloom = (const uint64_t *)(const void *)(table + 4);
	word = bloom[hash / 64 % table[2]];
	if (!(word >> (hash % 64) & word >> ((hash >> table[3]) % 64) & 1))
		return NULL;
	bucket = table + 4 + 2 * (size_t)table[2];
	chain = bucket + table[0];
	i = bucket[hash % table[0]];
	if (i < table[1])
		return NULL;
	version = wanted_version(from, symbol);
	for (;; i++) {
		uint32_t h = chain[i - table[1]];
		const Elf64_Sym *s = &module->symbols[i];

		if ((h | 1) == (hash | 1) && is_definition(s) &&
		    strcmp(module->strings + s->st_name, name) == 0 &&
		    has_version(module, i, version))
			return s;
		if (h & 1)
			return NULL;
	}
}

/* --------------------------------------------------------- dynamic symbols */

/* The GNU hash table: buckets of chains of hashes, a chain's last odd. */
void *swz_map_symbol_sized(const struct link_map *map, const char *name,
			   uint64_t *bytes)
{
	struct swz_dynamic d;
	uint32_t hash = 5381, buckets, offset, i;
	const uint32_t *bucket, *chain;

	if (!swz_dynamic_read(map->l_addr, map->l_ld, &d) || !d.hash ||
	    !d.hash[0])
		return NULL;
	for (const char *c = name; *c; c++)
		hash = hash * 33 + (uint8_t)*c;
	buckets = d.hash[0];
	offset = d.hash[1];
	bucket = d.hash + 4 + 2 * (size_t)d.hash[2];
	chain = bucket + buckets;
	i = bucket[hash % buckets];
	if (i < offset)
		return NULL;
	for (;; i++) {
		uint32_t h = chain[i - offset];
		const Elf64_Sym *s = &d.symbols[i];

		if ((h | 1) == (hash | 1) && s->st_shndx != SHN_UNDEF &&
		    strcmp(d.strings + s->st_name, name) == 0) {
			*bytes = s->st_size;
			return (void *)(map->l_addr + s->st_value);
		}
		if (h & 1)
			return NULL;
	}
}

void *swz_map_symbol(const struct link_map *map, const char *name)
{
	uint64_t bytes;

	return swz_map_symbol_sized(map, name, &bytes);
}

const struct link_map *swz_map_at(uint64_t address, uint64_t *end)
{
	const struct link_map *best = NULL;

	/* without a walk through a list that others may be changing */
	if (swz_loaded_map_at(address, &best, end))
		return best;
	*end = UINT64_MAX;
	for (const struct link_map *m = _r_debug.r_map; m; m = m->l_next) {
		if (m->l_addr <= address && (!best || m->l_addr > best->l_addr))
			best = m;
		if (m->l_addr > address && m->l_addr < *end)
			*end = m->l_addr;
	}
	return best;
}

extern ElfW(Dyn) _DYNAMIC[] __attribute__((visibility("hidden")));

void *swz_next_symbol(const char *name)
{
	const struct link_map *m = _r_debug.r_map;
	void *found = NULL;

	/* in a process that ran already, all were there before us */
	while (m && m->l_ld != _DYNAMIC && !swz_config.attached)
		m = m->l_next;
	for (; m && !found; m = m->l_next)
		if (m->l_ld != _DYNAMIC)
			found = swz_map_symbol(m, name);
	return found;
}

int swz_next_iterate_phdr(swz_phdr_visitor *visit, void *data)
{
	static _Atomic(void *) known;
	int (*iterate)(swz_phdr_visitor * visitor, void *context);
	/* relaxed: whoever looks it up finds the same */
	void *function = atomic_load_explicit(&known, memory_order_relaxed);

	if (!function) {
		function = swz_next_symbol("dl_iterate_phdr");
		atomic_store_explicit(&known, function, memory_order_relaxed);
	}
	*(void **)&iterate = function;
	return iterate ? iterate(visit, data) : 0;
}

/* ------------------------------------------------- how the library came in */

extern const char swz_image_start[];

/* The linker puts itself behind all that it loads at the start. */
bool swz_came_late(void)
{
	bool linker_seen = false;

	for (const struct link_map *m = _r_debug.r_map; m; m = m->l_next) {
		if (m->l_addr == (uintptr_t)swz_image_start)
			return linker_seen;
		if (m->l_addr == _r_debug.r_ldbase)
			linker_seen = true;
	}
	return false;
}

bool swz_is_linked(void)
{
	for (const struct link_map *m = _r_debug.r_map; m; m = m->l_next) {
		struct swz_dynamic d;

		if (!swz_dynamic_read(m->l_addr, m->l_ld, &d))
			continue;
		for (const ElfW(Dyn) *e = m->l_ld; e->d_tag != DT_NULL; e++)
			if (e->d_tag == DT_NEEDED &&
			    strstr(d.strings + e->d_un.d_val, "libswizzle.so"))
				return true;
	}
	return false;
}

/* ------------------------------------------------ the program and its file */

/* The file that the kernel was asked to execute (AT_EXECFN) may be a script:
 * its first line names the interpreter, which is the program. */

/* As many levels of #! as the kernel takes. */
#define MOST_LEVELS 5

static char asked_for[1024];

/* The entry of the auxiliary vector for TYPE; NULL: there is none. */
static const Elf64_auxv_t *auxiliary(uint64_t type)
{
	char **end = swz_config.envp;
	const Elf64_auxv_t *aux;

	while (*end)
		end++;
	for (aux = (const Elf64_auxv_t *)(const void *)(end + 1); aux->a_type;
	     aux++)
		if (aux->a_type == type)
			return aux;
	return NULL;
}

static const char *executed(void)
{
	const Elf64_auxv_t *aux = auxiliary(AT_EXECFN);

	return aux ? (const char *)(uintptr_t)aux->a_un.a_val : "";
}

/* The kernel has loaded no dynamic linker, yet there is one: it was executed
 * itself, with the program as its argument (ld.so(8)). */
static bool is_begun_by_linker(void)
{
	const Elf64_auxv_t *aux = auxiliary(AT_BASE);

	return aux && !aux->a_un.a_val;
}

/* asked_for = PATH, absolute; "" if that is not to be had. */
static void set(const char *path)
{
	size_t length, used = 0;
	long n;

	while (path[0] == '.' && path[1] == '/')
		path += 2;
	length = strlen(path) + 1;
	if (*path != '/') {
		n = SWZ_SYSCALL(SYS_getcwd, asked_for, sizeof(asked_for) - 1);
		used = n > 1 ? (size_t)n - 1 : 0;
		if (used > 1)
			asked_for[used++] = '/';
		if (!used || !*path)
			length = sizeof(asked_for);
	}
	if (length > sizeof(asked_for) - used)
		*asked_for = '\0';
	else
		memcpy(asked_for + used, path, length);
}

/* True if it is a script; *LINE is then what it says behind the #!. */
static bool is_script(const char *path, char *line, size_t room)
{
	long fd = SWZ_SYSCALL(SYS_open, path, O_RDONLY | O_CLOEXEC);
	long n = fd < 0 ? 0 : SWZ_SYSCALL(SYS_read, fd, line, room - 1);
	size_t from = 2, to;

	if (fd >= 0)
		SWZ_SYSCALL(SYS_close, fd);
	if (n < 3 || line[0] != '#' || line[1] != '!')
		return false;
	line[n] = '\0';
	while (line[from] == ' ' || line[from] == '\t')
		from++;
	to = from;
	while (line[to] && line[to] != ' ' && line[to] != '\t' &&
	       line[to] != '\n')
		to++;
	line[to] = '\0';
	memmove(line, line + from, to - from + 1);
	return true;
}

static void find(void)
{
	char line[256];

	set(executed());
	for (int i = 0; i < MOST_LEVELS; i++)
		if (is_script(asked_for, line, sizeof(line)))
			set(line);
}

size_t swz_program_file(char *path, size_t room, const void *inside)
{
	size_t length;
	long n;

	if (is_begun_by_linker()) {
		length = swz_mapped_path((uintptr_t)inside, path, room);
		if (length)
			return length;
	}
	n = SWZ_SYSCALL(SYS_readlink, "/proc/self/exe", path, room - 1);
	if (n > 0) {
		path[n] = '\0';
		return (size_t)n;
	}
	if (!*asked_for)
		find();
	length = strlen(asked_for);
	if (length >= room)
		length = 0;
	memcpy(path, asked_for, length);
	path[length] = '\0';
	return length;
}

static bool is_same_file(const char *path, const char *other)
{
	struct stat a, b;

	return SWZ_SYSCALL(SYS_stat, path, &a) == 0 &&
	       SWZ_SYSCALL(SYS_stat, other, &b) == 0 && a.st_dev == b.st_dev &&
	       a.st_ino == b.st_ino;
}

const char *swz_program_called(const char *own)
{
	static bool known;
	static const char *called;

	if (known)
		return called;
	known = true;
	if (strcmp(executed(), own) == 0)
		return NULL;
	if (!*asked_for)
		find();
	if (*asked_for && strcmp(asked_for, own) != 0 &&
	    is_same_file(asked_for, own))
		called = asked_for;
	return called;
}

#include "thunks/maps.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>

#include "base/syscall.h"

static bool open_file(struct swz_maps *maps, const char *path)
{
	maps->length = maps->at = 0;
	maps->fd = SWZ_SYSCALL(SYS_openat, AT_FDCWD, path,
			       O_RDONLY | O_CLOEXEC);
	if (maps->fd < 0)
		return false;
	maps->length = SWZ_SYSCALL(SYS_read, maps->fd, maps->text,
				   sizeof(maps->text));
	if (maps->length > 0)
		return true;
	swz_maps_close(maps);
	return false;
}

/* "self" is the first thread, which has no memory once it has ended. */
bool swz_maps_open(struct swz_maps *maps)
{
	return open_file(maps, "/proc/self/maps") ||
	       open_file(maps, "/proc/thread-self/maps");
}

void swz_maps_close(struct swz_maps *maps)
{
	SWZ_SYSCALL(SYS_close, maps->fd);
}

static int next_char(struct swz_maps *r)
{
	if (r->at == r->length) {
		r->length = SWZ_SYSCALL(SYS_read, r->fd, r->text,
					sizeof(r->text));
		r->at = 0;
		if (r->length <= 0) {
			r->length = 0; /* also after an error */
			return -1;
		}
	}
	return (unsigned char)r->text[r->at++];
}

static bool read_hex(struct swz_maps *r, uint64_t *value, int end)
{
	*value = 0;
	for (;;) {
		int c = next_char(r);

		if (c == end)
			return true;
		if (c >= '0' && c <= '9')
			*value = *value * 16 + (uint64_t)(c - '0');
		else if (c >= 'a' && c <= 'f')
			*value = *value * 16 + (uint64_t)(c - 'a' + 10);
		else
			return false;
	}
}

/* rwxp */
static void read_rights(struct swz_maps *r, struct swz_mapping *line)
{
	line->protection = next_char(r) == 'r' ? PROT_READ : 0;
	line->protection |= next_char(r) == 'w' ? PROT_WRITE : 0;
	line->protection |= next_char(r) == 'x' ? PROT_EXEC : 0;
	line->is_private = next_char(r) == 'p';
	(void)next_char(r);
}

/* Up to the offset, with the space behind it. */
static bool read_range(struct swz_maps *r, struct swz_mapping *line)
{
	if (!read_hex(r, &line->low, '-') || !read_hex(r, &line->high, ' '))
		return false;
	read_rights(r, line);
	return read_hex(r, &line->offset, ' ');
}

bool swz_maps_next(struct swz_maps *r, struct swz_mapping *line)
{
	uint64_t latest = 0;
	char tail[8];
	int c;

	if (!read_range(r, line))
		return false;
	while ((c = next_char(r)) != '\n' && c >= 0)
		latest = latest >> 8 | (uint64_t)c << 56;
	memcpy(tail, &latest, sizeof(tail));
	line->is_stack = memcmp(tail + 1, "[stack]", 7) == 0;
	return true;
}

/* Behind the device, the inode and blanks, to the end of the line. */
static size_t read_path(struct swz_maps *r, char *path, size_t room)
{
	size_t length = 0;
	int c = 0;

	for (int field = 0; field < 2 && c >= 0; field++)
		while ((c = next_char(r)) != ' ' && c != '\n' && c >= 0)
			;
	while (c == ' ')
		c = next_char(r);
	for (; c != '\n' && c >= 0 && length < room; c = next_char(r))
		path[length++] = (char)c;
	if (length == room)
		return 0;
	path[length] = '\0';
	return length;
}

size_t swz_mapped_path(uint64_t address, char *path, size_t room)
{
	struct swz_mapping line;
	struct swz_maps maps;
	size_t length = 0;

	if (!swz_maps_open(&maps))
		return 0;
	while (read_range(&maps, &line)) {
		bool found = address >= line.low && address < line.high;

		length = read_path(&maps, path, room);
		if (found)
			break;
		length = 0;
	}
	swz_maps_close(&maps);
	return length;
}

bool swz_mapping_of(uint64_t address, uint64_t *low, uint64_t *high)
{
	struct swz_mapping mapping;
	struct swz_maps maps;
	bool found = false;

	if (!swz_maps_open(&maps))
		return false;
	while (!found && swz_maps_next(&maps, &mapping))
		found = address >= mapping.low && address < mapping.high;
	swz_maps_close(&maps);
	if (found) {
		*low = mapping.low;
		*high = mapping.high;
	}
	return found;
}

uint64_t swz_heap_end(void)
{
	uint64_t end = (uint64_t)SWZ_SYSCALL(SYS_brk, 0);

	return (end + 4095) & ~(uint64_t)4095;
}

#include "base/basics.h"
#include "runtime/record/values.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>

#include "base/syscall.h"
#include "runtime/record/record_file.h"
#include "runtime/support/config.h"
#include "swizzle/values.h"

/* ------------------------------------------------------- files and sockets */

/* An inode is given to one socket at a time, and the addresses of one that is
 * connected do not change. So a socket is looked at once by each thread. */

/* fstat of the descriptor; of one that is not open all is 0 but its number. */
static void file_value_read(int32_t fd, struct swz_file_value *value)
{
	struct stat s;

	*value = (struct swz_file_value){.fd = fd};
	if (fd < 0 || SWZ_SYSCALL(SYS_fstat, fd, &s) != 0)
		return;
	value->mode = s.st_mode;
	value->device = s.st_dev;
	value->inode = s.st_ino;
}

/* The kernel's answer to getsockname or getpeername, if it is one that tells
 * sockets apart. */
static uint16_t address_of(long call, int32_t fd, uint8_t out[28],
			   uint16_t *family)
{
	struct sockaddr_storage address;
	uint32_t bytes = sizeof(address);

	if (SWZ_SYSCALL(call, fd, &address, &bytes) != 0)
		return 0;
	*family = address.ss_family;
	if ((address.ss_family != AF_INET && address.ss_family != AF_INET6) ||
	    bytes > 28)
		return 0;
	memcpy(out, &address, bytes);
	return (uint16_t)bytes;
}

bool swz_socket_is_new(struct swz_met_sockets *met,
		       const struct swz_file_value *value,
		       struct swz_socket_value *socket)
{
	size_t count = sizeof(met->inodes) / sizeof(*met->inodes);
	uint64_t *met_there = &met->inodes[value->inode & (count - 1)];
	uint32_t type = 0, bytes = sizeof(type);
	uint16_t family = 0;

	if (!S_ISSOCK(value->mode) || *met_there == value->inode)
		return false;
	memset(socket, 0, sizeof(*socket));
	socket->inode = value->inode;
	socket->peer_bytes = address_of(SYS_getpeername, value->fd,
					socket->peer, &family);
	if (!family)
		return false; /* no peer yet */
	socket->family = family;
	socket->own_bytes = address_of(SYS_getsockname, value->fd, socket->own,
				       &family);
	if (SWZ_SYSCALL(SYS_getsockopt, value->fd, SOL_SOCKET, SO_TYPE, &type,
			&bytes) == 0)
		socket->type = (uint16_t)type;
	*met_there = value->inode;
	return true;
}

/* ------------------------------------------------------- reading the parts */

size_t swz_recording_read(uint64_t from, void *to, size_t size)
{
	size_t first = SWZ_PAGE - from % SWZ_PAGE;
	struct iovec local = {to, size};
	struct iovec remote[2] = {{(void *)(uintptr_t)from, size}};
	unsigned pieces = 1;
	long got;

	if (from < SWZ_PAGE || from >> 47)
		return 0;
	if (first < size) {
		remote[0].iov_len = first;
		remote[1].iov_base = (void *)(uintptr_t)(from + first);
		remote[1].iov_len = size - first;
		pieces = 2;
	}
	got = SWZ_SYSCALL(SYS_process_vm_readv, swz_file->pid, &local, 1,
			  remote, pieces, 0);
	if (got == -ESRCH) { /* the first thread has ended */
		long self = SWZ_SYSCALL(SYS_gettid);

		got = SWZ_SYSCALL(SYS_process_vm_readv, self, &local, 1, remote,
				  pieces, 0);
	}
	return got > 0 ? (size_t)got : 0;
}

static const void *recording_address_of(const struct swz_recording *r,
					unsigned place, int32_t offset)
{
	static const uint8_t below[] = {5, 4, 3, 2, 6, 7, 1, 3};
	static const uint64_t none;

	if (place < SWZ_PLACE_VECTOR)
		return r->slot - below[place];
	if (place < SWZ_PLACE_STACK)
		return r->vectors
			       ? r->vectors + 16ul * (place - SWZ_PLACE_VECTOR)
			       : NULL;
	if (place == SWZ_PLACE_STACK)
		return (const uint8_t *)(r->slot + 1) + offset;
	if (place < SWZ_PLACE_KEPT)
		return r->x87 ? r->x87 + 32 + 16ul * (place - SWZ_PLACE_X87)
			      : NULL;
	return r->kept ? &r->kept[place - SWZ_PLACE_KEPT] : &none;
}

static uint64_t word_at(const struct swz_recording *r, unsigned place,
			int32_t offset)
{
	const void *from = recording_address_of(r, place, offset);
	uint64_t word = 0;

	if (from)
		memcpy(&word, from, sizeof(word));
	return word;
}

static bool has_room(const struct swz_recording *r, size_t bytes)
{
	return sizeof(r->bytes) - r->used >= bytes;
}

/* As swz_recording_read(), but what has just been read is copied: texts of an
 * object, short ones, too, lie in it. */
static size_t read_near(const struct swz_recording *r, uint64_t from, void *to,
			size_t size)
{
	uint64_t at;

	if (!r->object_bytes || size > r->object_bytes)
		return swz_recording_read(from, to, size);
	at = from - r->object;
	if (at > r->object_bytes - size)
		return swz_recording_read(from, to, size);
	memcpy(to, r->bytes + r->object_at + at, size);
	return size;
}

void swz_recording_text(struct swz_recording *r, uint64_t from, uint64_t length,
			bool ends)
{
	size_t most = swz_config.string_bytes, got;
	uint8_t *to = r->bytes + r->used + 2;
	uint16_t head;

	if (!has_room(r, 2))
		return;
	if (!has_room(r, 2 + most))
		most = sizeof(r->bytes) - r->used - 2;
	if (!ends && length < most)
		most = (size_t)length;
	got = most ? read_near(r, from, to, most) : 0;
	head = (uint16_t)(got < most ? SWZ_TEXT_BAD : 0);
	if (!ends && length > got && !head)
		head = SWZ_TEXT_CUT;
	for (size_t i = 0; ends && i < got; i++)
		if (!to[i]) {
			got = i;
			head = 0;
			ends = false;
		}
	if (ends && !head)
		head = SWZ_TEXT_CUT;
	if (ends && !from)
		head = SWZ_TEXT_BAD | SWZ_TEXT_CUT;
	head |= (uint16_t)got;
	memcpy(to - 2, &head, 2);
	r->used += 2 + got;
}

static void add_bad_text(struct swz_recording *r)
{
	uint16_t head = SWZ_TEXT_BAD;

	if (!has_room(r, 2))
		return;
	memcpy(r->bytes + r->used, &head, 2);
	r->used += 2;
}

static void add_counted(struct swz_recording *r, const struct swz_value_part *p,
			uint64_t object)
{
	uint64_t words[2] = {0, 0};
	size_t bytes = p->bytes == 4 ? 4 : 8;

	if (read_near(r, object + (uint64_t)(int64_t)p->offset, &words[0], 8) !=
	    8)
		add_bad_text(r);
	else if (read_near(r,
			   p->kind == SWZ_PART_OLD_STRING ? words[0] - 24
							  : object + p->other,
			   &words[1], bytes) != bytes)
		add_bad_text(r);
	else
		swz_recording_text(r, words[0], words[1], false);
}

static void add_field(struct swz_recording *r, const struct swz_value_part *p,
		      uint64_t object)
{
	uint64_t text;

	if (read_near(r, object + (uint64_t)(int64_t)p->offset, &text, 8) == 8)
		swz_recording_text(r, text, 0, true);
	else
		add_bad_text(r);
}

static void add_memory(struct swz_recording *r, const struct swz_value_part *p,
		       uint64_t object)
{
	uint8_t *to = r->bytes + r->used;
	bool whole;

	if (!has_room(r, 1u + p->bytes))
		return;
	whole = swz_recording_read(object + (uint64_t)(int64_t)p->offset,
				   to + 1, p->bytes) == p->bytes;
	*to = whole;
	r->object = object + (uint64_t)(int64_t)p->offset;
	r->object_at = r->used + 1;
	r->object_bytes = whole ? p->bytes : 0;
	r->used += whole ? 1u + p->bytes : 1;
}

static void add_plain(struct swz_recording *r, const struct swz_value_part *p)
{
	const void *from = recording_address_of(r, p->place, p->offset);

	if (!has_room(r, p->bytes))
		return;
	if (p->place >= SWZ_PLACE_KEPT || !from)
		memset(r->bytes + r->used, 0, p->bytes);
	if (from && p->bytes <= (p->place == SWZ_PLACE_STACK ? UINT16_MAX : 16))
		memcpy(r->bytes + r->used, from, p->bytes);
	r->used += p->bytes;
}

static void add_file(struct swz_recording *r, int32_t fd)
{
	if (!has_room(r, sizeof(r->file)))
		return;
	file_value_read(fd, &r->file);
	memcpy(r->bytes + r->used, &r->file, sizeof(r->file));
	r->used += sizeof(r->file);
}

static void add_file_at(struct swz_recording *r, uint64_t from)
{
	int32_t fd;

	add_file(r, swz_recording_read(from, &fd, sizeof(fd)) == sizeof(fd)
			    ? fd
			    : -1);
}

/* At the place of the stack the offset is that of the place. */
static uint64_t pointer_of(const struct swz_recording *r,
			   const struct swz_value_part *p)
{
	uint64_t pointer = word_at(r, p->place,
				   p->place == SWZ_PLACE_STACK ? p->offset : 0);

	if (p->through &&
	    swz_recording_read(pointer + p->through - 1, &pointer, 8) != 8)
		return 0;
	return pointer;
}

static uint64_t length_of(const struct swz_recording *r,
			  const struct swz_value_part *p)
{
	return p->other < SWZ_PLACES
		       ? word_at(r, p->other, 0)
		       : word_at(r, SWZ_PLACE_STACK, p->other - SWZ_PLACES);
}

static uint64_t span_of(const struct swz_recording *r,
			const struct swz_value_part *p)
{
	uint64_t length = length_of(r, p), times = 1;

	if (p->offset > 0 && p->offset <= 6)
		times = word_at(r, SWZ_PLACE_INTEGER + (unsigned)p->offset - 1,
				0);
	/* (more than is ever read of it) */
	return length > UINT32_MAX || times > UINT32_MAX ? UINT32_MAX
							 : length * times;
}

void swz_recording_parts(struct swz_recording *r,
			 const struct swz_value_part *parts, unsigned count)
{
	for (unsigned i = 0; i < count; i++) {
		struct swz_value_part p = parts[i];
		uint64_t pointer = p.kind ? pointer_of(r, &p) : 0;

		if (r->places && i < SWZ_MOST_PLACED)
			r->places[i] = (uint16_t)r->used;
		if (p.place == SWZ_PLACE_STACK && p.kind != SWZ_PART_PLAIN)
			p.offset = 0;
		switch (p.kind) {
		case SWZ_PART_PLAIN:
			add_plain(r, &p);
			break;
		case SWZ_PART_MEMORY:
			add_memory(r, &p, pointer);
			break;
		case SWZ_PART_STRING:
			swz_recording_text(r, pointer, 0, true);
			break;
		case SWZ_PART_COUNTED:
		case SWZ_PART_OLD_STRING:
			add_counted(r, &p, pointer);
			break;
		case SWZ_PART_SPAN:
			swz_recording_text(r, pointer, span_of(r, &p), false);
			break;
		case SWZ_PART_FIELD:
			add_field(r, &p, pointer);
			break;
		case SWZ_PART_KEEP:
			if (r->keep && p.other < SWZ_MOST_KEPT)
				r->keep[p.other] = pointer;
			break;
		case SWZ_PART_FILE:
			add_file(r, (int32_t)pointer);
			break;
		case SWZ_PART_FILE_AT:
			add_file_at(r, pointer + (uint64_t)(int64_t)p.offset);
			break;
		}
	}
}

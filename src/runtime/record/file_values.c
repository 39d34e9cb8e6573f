/* An inode is given to one socket at a time, and the addresses of one that is
 * connected do not change. So a socket is looked at once by each thread. */

#include "runtime/record/file_values.h"

#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "base/syscall.h"

void swz_file_value_read(int32_t fd, struct swz_file_value *value)
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

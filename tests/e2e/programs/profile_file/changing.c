#include <fcntl.h>
#include <stddef.h>
#include <sys/wait.h>
#include <unistd.h>
#include "swizzle/format.h"
static const off_t place = offsetof(struct swz_file_header, used_bytes);
static int file, go[2];
static uint64_t used, length;
__attribute__((noipa)) int leaf(int n) { return n * 3 + 1; }
static int set_used(uint64_t to)
{
	return pwrite(file, &to, sizeof(to), place) == sizeof(to);
}
static int put(uint64_t at, uint32_t type, uint64_t bytes)
{
	struct swz_chunk c = {.magic = SWZ_CHUNK_MAGIC, .type = type, .bytes = bytes};
	return pwrite(file, &c, sizeof(c), (off_t)at) == sizeof(c);
}
static int cut(void)
{
	return set_used(used | SWZ_USED_CLOSED) &&
	       !ftruncate(file, (off_t)((used + 4095) & -4096ul));
}
static int grow(void) /* by a chunk half of which is new to the child */
{
	return !ftruncate(file, (off_t)length + 4096) &&
	       put(used, SWZ_CHUNK_PADDING, length - 512 - used) &&
	       put(length - 512, SWZ_CHUNK_LABELS, 1024) && set_used(length + 512);
}
int main(int argc, char **argv)
{
	int cuts = argc > 2 && argv[2][0] == 'c', status = 0;
	char byte;
	leaf(2);
	file = open(argv[1], O_RDWR);
	if (file < 0 || pipe(go) || pread(file, &used, sizeof(used), place) != sizeof(used))
		return 3;
	length = (uint64_t)lseek(file, 0, SEEK_END);
	if (cuts && !cut())
		return 4;
	pid_t child = fork();
	if (!child) {
		if (read(go[0], &byte, 1) != 1)
			_exit(6);
		leaf(2);
		_exit(5);
	}
	if ((!cuts && !grow()) || write(go[1], "", 1) != 1)
		return 4;
	waitpid(child, &status, 0);
	if (ftruncate(file, (off_t)length) || !set_used(used))
		return 6;
	return status == 5 << 8 ? 0 : 7;
}

#include "profile/file/run_profiles.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool is_of_run(const struct swz_file_header *h,
		      const struct swz_run *run)
{
	return memcmp(h->magic, SWZ_FILE_MAGIC, sizeof(h->magic)) == 0 &&
	       h->version == SWZ_FILE_VERSION && h->root_pid == run->root_pid &&
	       h->root_start == run->root_start && !h->snapshot_ticks;
}

static void look_at(const struct swz_run *run, int folder, const char *name,
		    swz_run_profile_visitor *visit, void *context)
{
	struct swz_file_header header;
	struct stat st;
	int fd = openat(folder, name,
			O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY |
				O_CLOEXEC);

	if (fd < 0)
		return;
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
	    pread(fd, &header, sizeof(header), 0) == sizeof(header) &&
	    is_of_run(&header, run))
		visit(context, &(struct swz_run_profile){.folder = folder,
							 .fd = fd,
							 .name = name,
							 .status = &st,
							 .header = &header});
	close(fd);
}

void swz_run_profiles_each(const struct swz_run *run,
			   swz_run_profile_visitor *visit, void *context)
{
	const char *slash = strrchr(run->output, '/');
	char *path = slash ? strndup(run->output,
				     (size_t)(slash - run->output) + 1)
			   : NULL;
	DIR *folder = path ? opendir(path) : NULL;
	struct dirent *entry;

	while (folder && (entry = readdir(folder)))
		if (entry->d_type == DT_REG || entry->d_type == DT_UNKNOWN)
			look_at(run, dirfd(folder), entry->d_name, visit,
				context);
	if (folder)
		closedir(folder);
	free(path);
}

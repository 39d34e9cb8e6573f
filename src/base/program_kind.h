#ifndef SWZ_BASE_PROGRAM_KIND_H
#define SWZ_BASE_PROGRAM_KIND_H

/* Tells if glibc can preload a library of 64 bits into a program. */

enum swz_program {
	SWZ_PROGRAM_FITS,
	SWZ_PROGRAM_IS_NO_ELF,
	SWZ_PROGRAM_IS_SHORT, /* of its ELF header a part is missing */
	SWZ_PROGRAM_IS_32_BIT,
	SWZ_PROGRAM_IS_FOREIGN, /* for another architecture */
	SWZ_PROGRAM_IS_NONE,    /* an object or core file */
	SWZ_PROGRAM_IS_STATIC,
	SWZ_PROGRAM_IS_LINKER, /* glibc's dynamic linker: it fits as well */
	SWZ_PROGRAM_IS_MUSL,   /* has musl's dynamic linker */
};

/* Looks at an open file, whose position stays. Parts that cannot be read count
 * as missing. By system calls alone, so safe in signal handlers and between
 * vfork and exec; little stack. */
enum swz_program swz_program_of(int fd);

#endif

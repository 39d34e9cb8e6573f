# swizzle: one non-recursive Makefile.  Everything built lies in build/, laid
# out as `make install` lays it out; objects are in build/obj, test programs in
# build/test.  Source lists are wildcards over the folders: a folder says in
# which process its code runs (docs/internals/README.md).
#
#   build/obj/offline  the tools' and tests' objects
#   build/obj/target   the same sources as libswizzle.so needs them
#   build/obj/asan     the tools' and tests' objects with ASan and UBSan

.DEFAULT_GOAL := all
.DELETE_ON_ERROR:
.SUFFIXES:
MAKEFLAGS += --no-builtin-rules

B := build

# --- configuration ---------------------------------------------------------
# config.mk makes itself: from configure, which is made from configure.ac.
NO_CONFIG := clean distclean help uninstall check-fresh check-deb install-deps
ifneq ($(filter-out $(NO_CONFIG),$(or $(MAKECMDGOALS),all)),)
include config.mk
endif
PREFIX ?= /usr/local

config.mk: configure config.mk.in
	@if test -x config.status && test -f $@; then \
		./config.status --recheck && ./config.status; \
	else ./configure; fi
	@touch $@

configure: configure.ac
	@command -v autoconf >/dev/null || { \
		echo "autoconf is missing: package autoconf" \
		     "(scripts/install-deps installs all that is needed)" >&2; \
		exit 1; }
	autoconf
	@touch $@

# --- where things go ---------------------------------------------------------

DESTDIR    ?=
BINDIR     ?= $(PREFIX)/bin
LIBDIR     ?= $(PREFIX)/lib
INCLUDEDIR ?= $(PREFIX)/include
MANDIR     ?= $(PREFIX)/share/man
COMPDIR    ?= $(PREFIX)/share/bash-completion/completions
ZSHDIR     ?= $(PREFIX)/share/zsh/site-functions
FISHDIR    ?= $(PREFIX)/share/fish/vendor_completions.d
PCDIR      ?= $(LIBDIR)/pkgconfig
DOCDIR     ?= $(PREFIX)/share/doc/swizzle

# swizzle-run finds its library in these (src/launch/library.c); any other LIBDIR
# is compiled in, so name it to `make`, too.
USUAL_LIBDIRS = $(addprefix $(patsubst %/,%,$(dir $(BINDIR)))/, \
		  lib lib/x86_64-linux-gnu lib64)
OTHER_LIBDIR  = $(filter-out $(USUAL_LIBDIRS),$(LIBDIR))

# --- flags -------------------------------------------------------------------

WARNINGS := -Wall -Wextra -Wshadow -Wconversion -Wstrict-prototypes \
	    -Wmissing-prototypes -Wvla
CPPFLAGS_ALL := -D_GNU_SOURCE -Iinclude -Isrc -I. \
		-DSWZ_VERSION='"$(VERSION)"' $(CPPFLAGS)
CFLAGS_ALL := -std=gnu11 -O2 -g $(WARNINGS) $(CPPFLAGS_ALL) $(CFLAGS)
# Whatever the directory, the programs are the same. (Tests look their own lines up.)
SAME_PATHS = '-ffile-prefix-map=$(CURDIR)=.'
$(B)/obj/offline/tests/%.o: SAME_PATHS =
# The tools read profiles and programs that others may have made.
HARDENING := -fstack-protector-strong -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2
HARD_LINK := -Wl,-z,relro -Wl,-z,now -Wl,--gc-sections
DEPFLAGS = -MMD -MP -MF $(@:.o=.d)

# Code in the target: no vector register, no libc behind our back, no PLT call
# for thread-local storage (design: what hooks may touch). What is cleared is
# short: `rep stos`, which is GCC's choice without vectors, takes 30 cycles to begin.
TARGET_CFLAGS := -fPIC -ffreestanding -mgeneral-regs-only \
		 -fno-stack-protector -fcf-protection=none \
		 -ftls-model=initial-exec -fvisibility=hidden -fbuiltin \
		 -fno-tree-loop-distribute-patterns -fno-exceptions \
		 -fasynchronous-unwind-tables \
		 -mmemset-strategy=unrolled_loop:256:noalign,libcall:-1:noalign

SWZ_LDSCRIPT := $(wildcard asm/x86_64/libswizzle.lds)
SO_LDFLAGS := -shared -nostartfiles -Wl,--exclude-libs,ALL -Wl,-Bsymbolic -Wl,-z,now \
	      -Wl,-z,relro -Wl,-z,initfirst -Wl,-z,noexecstack \
	      -Wl,--no-undefined -Wl,--build-id -Wl,-soname,libswizzle.so \
	      $(SWZ_LDSCRIPT:%=-Wl,-T,%)

OFFLINE_LIBS = $(CAPSTONE_A) $(DW_LIBS) $(IBERTY_LIBS) $(ZSTD_LIBS) $(Z_LIBS) \
	       $(SQLITE_LIBS) -lm
SANITIZE := -fsanitize=address,undefined -fno-sanitize-recover=undefined \
	    -fno-omit-frame-pointer -O1

# --- sources -----------------------------------------------------------------

# The programs that run beside the profiled one link what they use of all folders
# but src/runtime/: each src/tools/*.c is one, the rest is in an archive.
TOOLS_SRC   := $(wildcard src/tools/*.c)
OFFLINE_SRC := $(filter-out src/runtime/% $(TOOLS_SRC),$(wildcard src/*/*.c \
		 src/*/*/*.c src/*/*/*/*.c src/*/*.S) thunks/counting.c)
# libswizzle.so.
TARGET_SRC  := $(wildcard asm/x86_64/*.S thunks/*.c src/runtime/*.c \
		 src/runtime/*/*.c src/image/*.c src/base/*.c)
# The page that `swizzle-dump -f html` fills: its parts, and the object that
# holds it in two pieces, before and after the data.
PAGE_PARTS  := $(wildcard src/html/*.html src/html/*.css src/html/*.js)
HEADERS     := $(wildcard include/*.h include/*/*.h)
MAN_SRC     := $(wildcard man/*.1 man/*.7)
man_path = $(foreach page,$(1),man$(subst .,,$(suffix $(page)))/$(notdir $(page)))
# As they lie in the tree, so that their links work where they are installed.
DOCS        := LICENSE $(wildcard *.md docs/*.md docs/*/* tests/README.md)
SCRIPTS     := $(wildcard scripts/*) completions/make src/html/assemble .ci/run \
	       tests/run tests/run-unit tests/busy tests/loaded tests/bench/run tests/bench/startup tests/bench/starts \
	       tests/bench/memory tests/bench/calls_view tests/bench/dump tests/bench/merge tests/bench/stacks tests/viewers/kcachegrind \
	       $(wildcard tests/e2e/*.sh)

offline = $(patsubst %,$(B)/obj/offline/%.o,$(basename $(1)))
target  = $(patsubst %,$(B)/obj/target/%.o,$(basename $(1)))
asan    = $(patsubst %,$(B)/obj/asan/%.o,$(basename $(1)))

# --- all ---------------------------------------------------------------------

TOOLS := $(patsubst src/tools/%.c,$(B)/bin/%,$(TOOLS_SRC))
LIB   := $(B)/lib/libswizzle.so
INCLUDES := $(patsubst %,$(B)/%,$(HEADERS))
# As they lie below $(B)/share.
NAMES := $(notdir $(TOOLS))
COMPLETIONS := $(NAMES:%=$(B)/share/bash-completion/completions/%)
ZSH_COMPLETIONS := $(NAMES:%=$(B)/share/zsh/site-functions/_%)
FISH_COMPLETIONS := $(NAMES:%=$(B)/share/fish/vendor_completions.d/%.fish)
SHELLS := $(COMPLETIONS) $(ZSH_COMPLETIONS) $(FISH_COMPLETIONS)
MANPAGES := $(addprefix $(B)/share/man/,$(call man_path,$(MAN_SRC)))

.PHONY: all tools lib
all: tools lib $(INCLUDES) $(MANPAGES) $(SHELLS)	## build everything into build/ (default)
tools: $(TOOLS)			#: build only the tools
lib: $(LIB)			#: build only libswizzle.so

# What a program does not use is left out (--gc-sections): swizzle-run and
# swizzle-ctl need libc alone, so that a program that they start begins sooner.
$(TOOLS): $(B)/bin/%: $(B)/obj/offline/src/tools/%.o $(B)/obj/offline/tools.a
	@mkdir -p $(@D)
	$(CC) $(HARD_LINK) $(LDFLAGS) -o $@ $^ $(TOOL_LIBS)

$(B)/bin/swizzle-dump: TOOL_LIBS = $(OFFLINE_LIBS)
$(B)/bin/swizzle-top: TOOL_LIBS = $(OFFLINE_LIBS) $(CURSES_LIBS)

# Where swizzle-run looks for its library.
$(call offline,$(wildcard src/launch/*.c)): $(B)/obj/libdir
$(B)/obj/offline/src/launch/%.o: CPPFLAGS_ALL += -DSWZ_LIBDIR='"$(OTHER_LIBDIR)"'
.PHONY: FORCE
$(B)/obj/libdir: FORCE
	@mkdir -p $(@D)
	@echo '$(OTHER_LIBDIR)' | cmp -s - $@ || echo '$(OTHER_LIBDIR)' >$@

# A program that starts meanwhile loads the old one or the new one, never a half.
$(B)/lib/libswizzle.so: $(call target,$(TARGET_SRC)) $(SWZ_LDSCRIPT)
	@mkdir -p $(@D)
	$(CC) $(SO_LDFLAGS) $(LDFLAGS) -o $@.new $(filter %.o,$^) \
		$(CAPSTONE_A) $(IBERTY_LIBS)
	mv -f $@.new $@

$(INCLUDES): $(B)/include/%: include/%
	@mkdir -p $(@D)
	cp $< $@

$(filter %.1,$(MANPAGES)): $(B)/share/man/man1/%: man/%
	@mkdir -p $(@D)
	cp $< $@

$(filter %.7,$(MANPAGES)): $(B)/share/man/man7/%: man/%
	@mkdir -p $(@D)
	cp $< $@

# The shells know the options from the tables that the tools read.
GENERATE := $(B)/obj/completions
$(GENERATE): $(B)/obj/offline/completions/generate.o $(B)/obj/offline/tools.a
	$(CC) $(HARD_LINK) $(LDFLAGS) -o $@ $^ $(OFFLINE_LIBS)

completion = @mkdir -p $(@D); completions/make $(1) $* $(GENERATE) >$@
$(SHELLS): $(GENERATE) $(wildcard completions/*)
$(COMPLETIONS): $(B)/share/bash-completion/completions/%:
	$(call completion,bash)
$(ZSH_COMPLETIONS): $(B)/share/zsh/site-functions/_%:
	$(call completion,zsh)
$(FISH_COMPLETIONS): $(B)/share/fish/vendor_completions.d/%.fish:
	$(call completion,fish)

# --- objects -----------------------------------------------------------------

OBJ_DEPS := Makefile config.mk

# A function, a section: links leave out what is not used.
SECTIONS := -ffunction-sections -fdata-sections

# archive LIST: made anew, so that nothing stays in it.
archive = @rm -f $@; mkdir -p $(@D); printf '%s\n' $^ >$@.list; $(AR) rcs $@ @$@.list

$(B)/obj/offline/tools.a: $(call offline,$(OFFLINE_SRC))
	$(archive)

$(B)/obj/asan/tools.a: $(call asan,$(OFFLINE_SRC))
	$(archive)

$(B)/obj/offline/%.o: %.c $(OBJ_DEPS)
	@mkdir -p $(@D)
	$(CC) $(HARDENING) $(SECTIONS) $(SAME_PATHS) $(CFLAGS_ALL) $(DEPFLAGS) -c -o $@ $<

$(B)/obj/offline/%.o: %.S $(OBJ_DEPS)
	@mkdir -p $(@D)
	$(CC) -g $(SAME_PATHS) $(CPPFLAGS_ALL) $(DEPFLAGS) -c -o $@ $<

$(B)/obj/target/%.o: %.c $(OBJ_DEPS)
	@mkdir -p $(@D)
	$(CC) $(SAME_PATHS) $(CFLAGS_ALL) $(TARGET_CFLAGS) $(DEPFLAGS) -c -o $@ $<

# It defines what builtins may call.
$(B)/obj/target/src/runtime/support/string.o: TARGET_CFLAGS += -fno-builtin

$(B)/obj/target/%.o: %.S $(OBJ_DEPS)
	@mkdir -p $(@D)
	$(CC) -g $(SAME_PATHS) -fPIC $(CPPFLAGS_ALL) $(DEPFLAGS) -c -o $@ $<

$(B)/obj/asan/%.o: %.c $(OBJ_DEPS)
	@mkdir -p $(@D)
	$(CC) $(SECTIONS) $(CFLAGS_ALL) $(SANITIZE) $(DEPFLAGS) -c -o $@ $<

$(B)/obj/asan/%.o: %.S $(OBJ_DEPS)
	@mkdir -p $(@D)
	$(CC) -g $(SAME_PATHS) $(CPPFLAGS_ALL) $(DEPFLAGS) -c -o $@ $<

-include $(shell test -d $(B)/obj && find $(B)/obj -name '*.d')

$(B)/html/tail: src/html/assemble $(PAGE_PARTS)
	@mkdir -p $(@D)
	src/html/assemble $(B)/html

$(foreach kind,offline asan fuzz,$(B)/obj/$(kind)/src/html/page.o): $(B)/html/tail

include tests/rules.mk

# --- format and lint ---------------------------------------------------------

C_FILES  := $(sort $(filter %.c,$(OFFLINE_SRC) $(TARGET_SRC)) $(TOOLS_SRC) \
	    $(UNIT_SRC) $(FUZZ_SRC) $(wildcard completions/*.c))
CC_FILES := $(C_FILES) $(wildcard tests/bench/*.c tests/e2e/*.c) $(STACKS_SRC) \
	    $(filter %.c %.cc,$(TARGETS_SRC))
H_FILES  := $(HEADERS) $(wildcard src/*/*.h src/*/*/*.h src/*/*/*/*.h \
	    thunks/*.h tests/*/*.h)

.PHONY: format format-check
format:				## clang-format the tree
	$(CLANG_FORMAT) -i $(CC_FILES) $(H_FILES)

format-check:			#: say what `make format` would change
	@$(CLANG_FORMAT) --dry-run -Werror $(CC_FILES) $(H_FILES)

LINT_TARGET  := $(filter %.c,$(TARGET_SRC))
CLANG_TARGET_CFLAGS := $(filter-out -fno-tree-loop-distribute-patterns \
			 -mmemset-strategy=%,$(TARGET_CFLAGS)) # it does not know these
LINT_GOALS := $(patsubst %,lint-cc/%,$(C_FILES)) \
	      $(patsubst %,lint-h/%,$(H_FILES)) \
	      $(patsubst %,lint-tidy/%,$(C_FILES))

.PHONY: lint lint-cppcheck lint-sh lint-imports lint-names $(LINT_GOALS)
lint: $(LINT_GOALS) lint-cppcheck lint-sh lint-imports lint-names format-check	## warnings of compilers and checkers, imports, links
	@echo "lint: no findings"

lint_flags = $(CFLAGS_ALL) -Werror \
	     $(if $(filter $(LINT_TARGET),$*),$(if $(1),$(CLANG_TARGET_CFLAGS),$(TARGET_CFLAGS)))

$(filter lint-cc/%,$(LINT_GOALS)): lint-cc/%:
	@$(CC) $(call lint_flags) -c -o /dev/null $*
	@$(CLANG) $(call lint_flags,clang) -fsyntax-only $*

# Each header compiles alone.
$(filter lint-h/%,$(LINT_GOALS)): lint-h/%:
	@$(CC) $(CFLAGS_ALL) -Werror -fsyntax-only -include $* -x c /dev/null

$(filter lint-tidy/%,$(LINT_GOALS)): lint-tidy/%:
	@said=$$($(CLANG_TIDY) --quiet $* -- $(call lint_flags,clang) 2>&1) || \
		{ echo "$$said"; exit 1; }

# What clang-tidy's analyzer follows better: functions that do not return, memory
# that another function fills, symbols of the linker, realloc in a test that ends.
CPPCHECK_NOT := missingInclude unknownMacro negativeIndex nullPointer uninitvar \
		legacyUninitvar ctuuninitvar comparePointers constStatement \
		memleakOnRealloc

lint-cppcheck:
	$(CPPCHECK) --quiet --std=c11 --enable=warning,performance,portability \
		--inline-suppr --error-exitcode=1 \
		$(CPPCHECK_NOT:%=--suppress=%) -Iinclude -Isrc -I. -D__x86_64__ \
		-D__GNUC__ $(C_FILES)

lint-sh:
	@if command -v shellcheck >/dev/null; then \
		shellcheck -x -S warning $(wildcard $(SCRIPTS)); \
	else echo "shellcheck is not there: scripts not checked"; fi

lint-imports: all
	@scripts/check-imports

lint-names:
	@scripts/check-names
	@scripts/check-links

# --- install -----------------------------------------------------------------

# DESTDIR may hold spaces. What comes behind it may not: swizzle-run names its
# library in LD_PRELOAD, which has spaces and colons between its names.
place = "$(DESTDIR)"$(1)
places = $(foreach path,$(2),$(call place,$(1)/$(path)))
NO_PLACE = $(strip $(foreach name,PREFIX BINDIR LIBDIR INCLUDEDIR MANDIR COMPDIR \
	     ZSHDIR FISHDIR PCDIR DOCDIR,$(if $(word 2,$($(name)))$(findstring \
	     :,$($(name))),$(name))))
DOC_DIRS := $(patsubst %/,%,$(sort $(dir $(DOCS))))

.PHONY: install uninstall check-prefix
check-prefix:
	@test -z "$(NO_PLACE)" || { \
		set -- $(NO_PLACE); \
		echo "swizzle: $$1 holds a space or a colon, which LD_PRELOAD" \
		     "cannot name: choose another path" >&2; \
		exit 1; }

# The manual's pages name the documents where Debian puts them.
install: check-prefix all	## install under PREFIX (/usr/local), DESTDIR before it
	install -d $(foreach path,$(BINDIR) $(LIBDIR) $(INCLUDEDIR)/swizzle \
		$(MANDIR)/man1 $(MANDIR)/man7 $(COMPDIR) $(ZSHDIR) $(FISHDIR) $(PCDIR) \
		$(addprefix $(DOCDIR)/,$(DOC_DIRS)),$(call place,$(path)))
	install -m 755 $(TOOLS) $(call place,$(BINDIR))
	install -m 644 $(LIB) $(call place,$(LIBDIR))/libswizzle.so.new
	mv -f $(call place,$(LIBDIR))/libswizzle.so.new \
		$(call place,$(LIBDIR))/libswizzle.so
	for header in $(HEADERS:include/%=%); do \
		install -m 644 include/$$header \
			$(call place,$(INCLUDEDIR))/$$header || exit 1; done
	for page in $(call man_path,$(MAN_SRC)); do \
		sed 's|/usr/share/doc/swizzle|$(DOCDIR)|' man/$${page#*/} \
			>$(call place,$(MANDIR))/$$page && \
		chmod 644 $(call place,$(MANDIR))/$$page || exit 1; done
	install -m 644 $(COMPLETIONS) $(call place,$(COMPDIR))
	install -m 644 $(ZSH_COMPLETIONS) $(call place,$(ZSHDIR))
	install -m 644 $(FISH_COMPLETIONS) $(call place,$(FISHDIR))
	sed -e 's|@PREFIX@|$(PREFIX)|' -e 's|@LIBDIR@|$(LIBDIR)|' \
		-e 's|@INCLUDEDIR@|$(INCLUDEDIR)|' -e 's|@VERSION@|$(VERSION)|' \
		include/swizzle.pc.in >$(call place,$(PCDIR))/swizzle.pc
	chmod 644 $(call place,$(PCDIR))/swizzle.pc
	for file in $(DOCS); do \
		install -m 644 $$file $(call place,$(DOCDIR))/$$file || exit 1; done
	@test -n "$(DESTDIR)" || test "$$(id -u)" != 0 || ldconfig || :

uninstall: check-prefix		## remove what install installed
	rm -f $(call places,$(BINDIR),$(notdir $(TOOLS))) \
		$(call places,$(LIBDIR),libswizzle.so) \
		$(call places,$(INCLUDEDIR),$(HEADERS:include/%=%)) \
		$(call places,$(MANDIR),$(call man_path,$(MAN_SRC))) \
		$(call places,$(COMPDIR),$(notdir $(COMPLETIONS))) \
		$(call places,$(ZSHDIR),$(notdir $(ZSH_COMPLETIONS))) \
		$(call places,$(FISHDIR),$(notdir $(FISH_COMPLETIONS))) \
		$(call places,$(PCDIR),swizzle.pc) \
		$(call places,$(DOCDIR),$(DOCS))
	-rmdir $(call places,$(INCLUDEDIR),swizzle) \
		$(call places,$(DOCDIR),docs/example docs/images docs/internals docs tests) \
		$(call place,$(DOCDIR)) 2>/dev/null

# --- package -----------------------------------------------------------------

.PHONY: deb check-deb
deb: all			#: make a Debian package in build/
	+scripts/make-deb $(VERSION) $(B)

check-deb:			#: make that package in a minimal Debian root, have lintian look at it, try it in another (as root)
	scripts/check-fresh --package

# --- the rest ----------------------------------------------------------------

.PHONY: clean distclean help install-deps
install-deps:			## install what is needed (Debian)
	scripts/install-deps

clean:				## remove build/
	rm -rf $(B)

.PHONY: dist
dist:		#: the sources as a tarball that builds without git, in build/
	mkdir -p $(B)
	git archive --prefix=swizzle-$(VERSION)/ -o $(B)/swizzle-$(VERSION).tar.gz HEAD
	@echo $(B)/swizzle-$(VERSION).tar.gz

distclean: clean		#: also remove what configure made
	rm -rf config.mk config.log config.status configure configure~ \
		autom4te.cache aclocal.m4

help:				#: this list
	@sed -n 's/^\([a-z][a-z-]*\):.*## \(.*\)/\1\t\2/p' Makefile tests/rules.mk | \
		while IFS='	' read -r name text; do \
			printf '  %-14s %s\n' "$$name" "$$text"; done
	@echo 'CONTRIBUTING.md says more; tests/README.md has the long tests and benchmarks.'

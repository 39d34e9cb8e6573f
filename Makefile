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
HARD_LINK := -Wl,-z,relro -Wl,-z,now
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

OFFLINE_LIBS = $(DW_LIBS) $(IBERTY_LIBS) $(ZSTD_LIBS) $(Z_LIBS) \
	       $(SQLITE_LIBS) -lm
SANITIZE := -fsanitize=address,undefined -fno-sanitize-recover=undefined \
	    -fno-omit-frame-pointer -O1

# --- sources -----------------------------------------------------------------

BASE_SRC    := $(wildcard src/base/*.c)
IMAGE_SRC   := $(wildcard src/image/*.c)
PROFILE_SRC := $(wildcard src/profile/*/*.c)
RUNTIME_SRC := $(wildcard src/runtime/*.c src/runtime/*/*.c)
LAUNCH_SRC  := $(wildcard src/launch/*.c)
OPTIONS_SRC := $(wildcard src/options/*.c)
# The sampler: of the profile's parts it uses those that know no file.
WATCH_SRC   := $(wildcard src/watch/*.c)
WATCH_PARTS := $(IMAGE_SRC) $(wildcard src/profile/code/*.c) \
		 $(addprefix src/profile/support/,interpreters.c map.c memory.c)
LAUNCH_BASE := $(addprefix src/base/,program.c syscall.c call_filter.c \
		 own_memory.c file_bound.c process_start.c run_summary.c run_totals.c labels.c \
		 output_name.c value_text.c signature_exchange.c)
# The sampler's process: src/watch/unwind/ walks stacks of others.
UNWIND_SRC  := $(wildcard src/watch/unwind/*.c)
# What stops and changes another process.
CONTROL_SRC := $(wildcard src/control/*.c src/control/*.S)
# What needs no other process: unit tests link it.
WATCH_PURE  := $(addprefix src/watch/,code_file.c elf_tables.c thread_time.c)
# Names of code that no file has: src/watch/names/.
NAMES_SRC   := $(wildcard src/watch/names/*.c)
# Each src/tools/*.c is a program; src/tools/dump/ holds the parts of
# swizzle-dump.
TOOLS_SRC   := $(wildcard src/tools/*.c)
DUMP_SRC    := $(wildcard src/tools/dump/*.c)
# The page that `swizzle-dump -f html` fills: its parts, and the object that
# holds it in two pieces, before and after the data.
PAGE_PARTS  := $(wildcard src/html/*.html) $(wildcard src/html/*.css src/html/*.js)
PAGE_SRC    := src/html/page.S
# swizzle-top: its own process, and the sampler that it starts.
TOP_SRC     := $(wildcard src/top/*.c)
# swizzle-ctl: of swizzle-top's parts it uses those that know processes; and
# what changes another process.
CTL_SRC     := $(wildcard src/ctl/*.c)
CTL_CONTROL := $(filter-out %/run.c %/attachable.c,$(CONTROL_SRC)) \
	       $(filter-out %/sampler.c %/run_line.c,$(WATCH_SRC)) \
	       $(UNWIND_SRC) $(NAMES_SRC) $(filter-out %/memory.c,$(WATCH_PARTS))
THUNKS_SRC  := $(wildcard thunks/*.c)
ASM_SRC     := $(wildcard asm/x86_64/*.S)
# The part of thunks/ that is pure computation: unit tests link it.
THUNKS_PURE := $(wildcard $(addprefix thunks/,relocate.c decoder.c \
		 region.c unwind_table.c fixups.c saved_plan.c \
		 encoding.c usual.c leaf.c flags.c red_zone.c code_writer.c \
		 unhooked.c capstone_x86_only.c))
# Of src/runtime/ what does not need a process that is being profiled, and what
# maps memory: likewise. What these refer to beyond that, the tests stand in for.
RUNTIME_PURE := thunks/arena.c thunks/leaders.c thunks/maps.c thunks/near.c $(addprefix src/runtime/, \
		  cache/key.c \
		  $(addprefix discovery/,unlisted_gaps.c branch_thunk.c distance_table.c \
		    frame_chain.c frame_register.c function.c released_frames.c \
		    kept_registers.c operand.c references.c row_operands.c \
		    scan_bytes.c scan_depth.c scan_pointers.c scan_slots.c \
		    slot_loads.c switch_table.c) \
		  $(addprefix hooks/,followers.c interrupted.c jumps.c latest_frame.c \
		    tail_calls.c thread_thunks.c unwound.c) \
		  $(addprefix record/,chunks.c edge_table.c events.c frames.c nodes.c \
		    present.c recursion.c sampling.c shared_thunks.c \
		    site_table.c table_room.c) \
		  support/clock.c support/code_pages.c support/pattern.c)

UNIT_SRC    := $(wildcard tests/unit/*.c)
UNIT_TESTS  := $(filter tests/unit/test_%.c,$(UNIT_SRC))
UNIT_HELP   := $(filter-out $(UNIT_TESTS),$(UNIT_SRC)) $(wildcard tests/unit/*.S)
FUZZ_SRC    := $(wildcard tests/fuzz/*.c)
TARGET_SRC  := $(wildcard tests/targets/*.c tests/targets/*.cc \
		 tests/targets/*.S)
HEADERS     := $(wildcard include/*.h include/*/*.h)
MAN_SRC     := $(wildcard man/*.1 man/*.7)
man_path = $(foreach page,$(1),man$(subst .,,$(suffix $(page)))/$(notdir $(page)))
COMPLETIONS := $(wildcard completions/bash/*)
ZSH_COMPLETIONS  := $(wildcard completions/zsh/*)
FISH_COMPLETIONS := $(wildcard completions/fish/*)
# As they lie in the tree, so that their links work where they are installed.
DOCS        := LICENSE $(wildcard *.md docs/*.md docs/*/*)
SCRIPTS     := $(wildcard scripts/*) $(COMPLETIONS) src/html/assemble .ci/run \
	       tests/run tests/run-unit tests/busy tests/loaded tests/bench/run tests/bench/startup tests/bench/starts \
	       tests/bench/memory tests/bench/calls_view tests/bench/dump tests/bench/merge tests/bench/stacks tests/viewers/kcachegrind \
	       $(wildcard tests/e2e/*.sh)

offline = $(patsubst %,$(B)/obj/offline/%.o,$(basename $(1)))
target  = $(patsubst %,$(B)/obj/target/%.o,$(basename $(1)))
asan    = $(patsubst %,$(B)/obj/asan/%.o,$(basename $(1)))

# --- all ---------------------------------------------------------------------

TOOLS := $(patsubst src/tools/%.c,$(B)/bin/%,$(TOOLS_SRC))
LIB   := $(if $(RUNTIME_SRC),$(B)/lib/libswizzle.so)
INCLUDES := $(patsubst %,$(B)/%,$(HEADERS))
MANPAGES := $(addprefix $(B)/share/man/,$(call man_path,$(MAN_SRC)))

.PHONY: all tools lib
all: tools lib $(INCLUDES) $(MANPAGES)	## build everything into build/ (default)
tools: $(TOOLS)			## build only the tools
lib: $(LIB)			## build only libswizzle.so

$(B)/bin/swizzle-dump: $(call offline,src/tools/swizzle-dump.c \
		$(OPTIONS_SRC) $(DUMP_SRC) $(PROFILE_SRC) $(PAGE_SRC) $(BASE_SRC))
	@mkdir -p $(@D)
	$(CC) $(HARD_LINK) $(LDFLAGS) -o $@ $^ $(OFFLINE_LIBS)

$(call offline,src/launch/library.c): $(B)/obj/libdir
$(call offline,src/launch/library.c): CPPFLAGS_ALL += -DSWZ_LIBDIR='"$(OTHER_LIBDIR)"'
.PHONY: FORCE
$(B)/obj/libdir: FORCE
	@mkdir -p $(@D)
	@echo '$(OTHER_LIBDIR)' | cmp -s - $@ || echo '$(OTHER_LIBDIR)' >$@

# Needs libc alone: the less there is to load, the sooner the program begins.
$(B)/bin/swizzle-run: $(call offline,src/tools/swizzle-run.c $(LAUNCH_SRC) \
		$(CONTROL_SRC) $(WATCH_SRC) $(UNWIND_SRC) $(NAMES_SRC) \
		$(WATCH_PARTS) $(OPTIONS_SRC) \
		$(addprefix src/profile/file/,packed_nodes.c packing.c run_end.c \
		  run_profiles.c writer.c) \
		$(LAUNCH_BASE))
	@mkdir -p $(@D)
	$(CC) $(HARD_LINK) $(LDFLAGS) -o $@ $^

$(B)/bin/swizzle-top: $(call offline,src/tools/swizzle-top.c $(TOP_SRC) \
		src/launch/known_options.c src/launch/program.c src/launch/path.c $(OPTIONS_SRC) \
		$(filter-out %/sampler.c %/run_line.c,$(WATCH_SRC)) \
		$(UNWIND_SRC) $(NAMES_SRC) $(IMAGE_SRC) $(PROFILE_SRC) $(PAGE_SRC) $(BASE_SRC))
	@mkdir -p $(@D)
	$(CC) $(HARD_LINK) $(LDFLAGS) -o $@ $^ $(OFFLINE_LIBS) $(CURSES_LIBS)

$(B)/bin/swizzle-ctl: $(call offline,src/tools/swizzle-ctl.c $(CTL_SRC) \
		$(CTL_CONTROL) \
		src/top/processes.c src/launch/known_options.c src/launch/program.c src/launch/path.c \
		$(OPTIONS_SRC) $(addprefix src/profile/support/,memory.c output.c \
		  progress.c) $(LAUNCH_BASE))
	@mkdir -p $(@D)
	$(CC) $(HARD_LINK) $(LDFLAGS) -o $@ $^

# A program that starts meanwhile loads the old one or the new one, never a half.
$(B)/lib/libswizzle.so: $(call target,$(ASM_SRC) $(THUNKS_SRC) \
		$(RUNTIME_SRC) $(IMAGE_SRC) $(BASE_SRC)) $(SWZ_LDSCRIPT)
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

# --- objects -----------------------------------------------------------------

OBJ_DEPS := Makefile config.mk

$(B)/obj/offline/%.o: %.c $(OBJ_DEPS)
	@mkdir -p $(@D)
	$(CC) $(HARDENING) $(SAME_PATHS) $(CFLAGS_ALL) $(DEPFLAGS) -c -o $@ $<

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
	$(CC) $(CFLAGS_ALL) $(SANITIZE) $(DEPFLAGS) -c -o $@ $<

$(B)/obj/asan/%.o: %.S $(OBJ_DEPS)
	@mkdir -p $(@D)
	$(CC) -g $(SAME_PATHS) $(CPPFLAGS_ALL) $(DEPFLAGS) -c -o $@ $<

-include $(shell test -d $(B)/obj && find $(B)/obj -name '*.d')

$(B)/html/tail: src/html/assemble $(PAGE_PARTS)
	@mkdir -p $(@D)
	src/html/assemble $(B)/html

$(B)/obj/offline/src/html/page.o $(B)/obj/asan/src/html/page.o: $(B)/html/tail

# --- unit tests --------------------------------------------------------------
# Each tests/unit/test_*.c is a program.  The rest comes from an archive, so
# that a test holds only what it uses.

# The pages of swizzle-top's screen, without a terminal.
TOP_PURE := $(addprefix src/top/,columns.c live.c neighbour_rows.c neighbours.c \
		page.c page_figures.c page_rows.c) src/watch/proc_task.c
# What stops and changes another process: tests are that process, or its parent.
CONTROL_PURE := $(addprefix src/control/,interrupted.c our_code.c safe_place.c site_pages.c \
		sites.c stop.c target.c urgent.c) src/watch/clock.c src/watch/interrupted_call.c
UNIT_PARTS := $(UNIT_HELP) $(PROFILE_SRC) $(PAGE_SRC) $(BASE_SRC) \
	      $(OPTIONS_SRC) $(IMAGE_SRC) $(UNWIND_SRC) $(NAMES_SRC) $(WATCH_PURE) $(TOP_PURE) \
	      $(CONTROL_PURE) $(THUNKS_PURE) $(RUNTIME_PURE)
UNIT_LIBS = $(OFFLINE_LIBS) $(CAPSTONE_A) $(CHECK_LIBS)
UNIT_BIN := $(patsubst tests/%.c,$(B)/test/%,$(UNIT_TESTS))
ASAN_BIN := $(patsubst tests/%.c,$(B)/asan/test/%,$(UNIT_TESTS))

$(B)/obj/offline/unit.a: $(call offline,$(UNIT_PARTS))
	@rm -f $@
	@mkdir -p $(@D)
	$(AR) rcs $@ $^

$(B)/obj/asan/unit.a: $(call asan,$(UNIT_PARTS))
	@rm -f $@
	@mkdir -p $(@D)
	$(AR) rcs $@ $^

$(UNIT_BIN): $(B)/test/%: $(B)/obj/offline/tests/%.o $(B)/obj/offline/unit.a
	@mkdir -p $(@D)
	$(CC) $(LDFLAGS) -o $@ $(filter %.o,$^) $(filter %.a,$^) $(UNIT_LIBS)

# The fuzzers are functions there: fuzz_events() instead of libFuzzer's name.
$(foreach fuzzer,$(FUZZ_SRC),$(eval \
	$(call offline,$(fuzzer)) $(call asan,$(fuzzer)): CFLAGS_ALL += \
	-DLLVMFuzzerTestOneInput=$(basename $(notdir $(fuzzer)))))
$(B)/test/unit/test_fuzzers: $(call offline,$(FUZZ_SRC))
$(B)/asan/test/unit/test_fuzzers: $(call asan,$(FUZZ_SRC))

$(ASAN_BIN): $(B)/asan/test/%: $(B)/obj/asan/tests/%.o $(B)/obj/asan/unit.a
	@mkdir -p $(@D)
	$(CC) $(SANITIZE) $(LDFLAGS) -o $@ $(filter %.o,$^) $(filter %.a,$^) \
		$(UNIT_LIBS)

ASAN_TOOLS := $(patsubst src/tools/%.c,$(B)/asan/bin/%,$(TOOLS_SRC))
$(ASAN_TOOLS): $(B)/asan/bin/%: $(B)/obj/asan/src/tools/%.o \
		$(call asan,$(PROFILE_SRC) $(PAGE_SRC) $(BASE_SRC) $(IMAGE_SRC) \
		  $(LAUNCH_SRC) $(OPTIONS_SRC) $(WATCH_SRC) $(UNWIND_SRC) $(NAMES_SRC))
	@mkdir -p $(@D)
	$(CC) $(SANITIZE) $(LDFLAGS) -o $@ $^ $(OFFLINE_LIBS)

$(B)/asan/bin/swizzle-dump: $(call asan,$(DUMP_SRC))
$(B)/asan/bin/swizzle-top: $(call asan,$(TOP_SRC))
$(B)/asan/bin/swizzle-ctl: $(call asan,$(CTL_SRC) $(CTL_CONTROL) \
		src/top/processes.c)

# --- stack walks --------------------------------------------------------------
# Stacks of running programs, walked by swizzle and by libunwind.

STACKS_SRC   := $(wildcard tests/stacks/*.c)
STACKS_MAINS := tests/stacks/compare.c tests/stacks/bench.c
STACKS_BIN   := $(if $(UNWIND_LIBS),$(B)/test/stacks/compare)

$(patsubst tests/%.c,$(B)/test/%,$(STACKS_MAINS)): $(B)/test/stacks/%: \
		$(B)/obj/offline/tests/stacks/%.o $(call offline,$(filter-out \
		$(STACKS_MAINS),$(STACKS_SRC))) $(B)/obj/offline/unit.a
	@mkdir -p $(@D)
	$(CC) $(LDFLAGS) -o $@ $^ $(UNWIND_LIBS)

# --- test targets ------------------------------------------------------------
# Small programs to be profiled, one behaviour each, and lib*.{c,cc,S}: shared
# libraries for them.  A comment in the first line may add to the flags:
# "/* build: -g -pthread */", "// build: ..." or "# build: ...".  What needs
# more than one file or flag set says so itself in tests/e2e.

TARGETS_DIR := $(B)/test/targets
TARGET_H    := $(wildcard tests/targets/*.h tests/targets/patching/*.S)
TARGET_LIBS := $(patsubst tests/targets/%,$(TARGETS_DIR)/%.so,$(basename \
		 $(filter tests/targets/lib%,$(TARGET_SRC))))
TARGET_BIN  := $(patsubst tests/targets/%,$(TARGETS_DIR)/%,$(basename \
		 $(filter-out tests/targets/lib%,$(TARGET_SRC))))

build_flags = $(shell sed -n -e '1s|.*build: *||' -e '1s|\*/.*||' \
	        -e '1{/^[-]/p;}' $<)
target_cc = $(if $(filter %.cc,$<),$(CXX),$(CC)) $(if $(filter %.S,$<),,-O2)
target_link = -L$(TARGETS_DIR) '-Wl,-rpath,$$ORIGIN'

define target_rules
$(TARGETS_DIR)/%: tests/targets/%.$(1) $(TARGET_H) Makefile | $(TARGET_LIBS)
	@mkdir -p $$(@D)
	$$(target_cc) -o $$@ $$< $$(target_link) $$(build_flags)
$(TARGETS_DIR)/lib%.so: tests/targets/lib%.$(1) $(TARGET_H) Makefile
	@mkdir -p $$(@D)
	$$(target_cc) -shared -fPIC -o $$@ $$< $$(build_flags)
endef
$(foreach ext,c cc S,$(eval $(call target_rules,$(ext))))

$(TARGETS_DIR)/liblate_other.so: tests/targets/liblate.c

# --- check -------------------------------------------------------------------

.PHONY: tests unit check-unit check check-asan
tests: unit $(TARGET_BIN) $(TARGET_LIBS) $(STACKS_BIN)	## build all test programs
unit: $(UNIT_BIN)

check-unit: unit		## run the unit tests only
	tests/run-unit $(UNIT_BIN)

check: all tests		## run the unit tests, then the shell tests
	@export TEST_CLOSING=$(abspath $(B))/test/closing; \
	status=0; \
	tests/run-unit $(UNIT_BIN) || status=1; \
	tests/run || status=1; \
	exit $$status

check-asan: $(ASAN_BIN) $(ASAN_TOOLS)	## unit tests and the tools under ASan and UBSan
	ASAN_OPTIONS=detect_leaks=1 tests/run-unit $(ASAN_BIN)
	@echo "built with ASan and UBSan: $(ASAN_TOOLS)"

.PHONY: check-relocator
check-relocator: $(B)/test/unit/test_relocate_forms	## run every form of instruction, and this machine's prologues, in place and moved
	$< all
	find -L /usr/lib/x86_64-linux-gnu /usr/bin -type f \
		'(' -name '*.so*' -o -perm -111 ')' -print0 2>/dev/null | \
		xargs -0 -n 10000 $<

.PHONY: check-stacks
check-stacks: all tests		## 10,000 stacks of real programs, walked by swizzle and by libunwind (STACKS)
	CHECK_STACKS=$(or $(STACKS),10000) VERBOSE=1 tests/run test_stack_walks

.PHONY: check-html
check-html: all tests		## the pages of swizzle-dump, in headless Chromium
	tests/run test_html test_html_diff test_graph test_calls_html test_objects

.PHONY: check-fresh
check-fresh:			## demo, check and package in minimal Debian roots (as root)
	scripts/check-fresh

.PHONY: check-kernel
check-kernel: all tests		## shell tests on the kernel of this Debian, in qemu
	scripts/check-kernel

.PHONY: check-viewers
check-viewers: all tests	## open the output in the programs that it is for (fetches some from npm)
	scripts/fetch-viewers
	CONSUMERS_DEPTH=0 VERBOSE=1 tests/run test_viewers test_consumers

.PHONY: check-gcc
check-gcc: all			## GCC's own run-time tests, natively and profiled (fetches them)
	@status=0; \
	scripts/check-gcc || status=1; \
	scripts/check-gcc -M || status=1; \
	exit $$status

.PHONY: check-memory
check-memory: all		## clang compiling a large file, with room for all contexts and without
	CLANG=$(CLANG) scripts/check-memory

# Long runs, hours and half an hour: not part of `make check`.
.PHONY: check-suites soak
check-suites: all		## test suites of real programs, native and profiled (SUITES="cpython ...")
	scripts/check-suites $(SUITES_FLAGS) $(SUITES)

.PHONY: check-loaded
check-loaded: all tests		## the shell tests with little processor time, as root (ROUNDS, SHARE in percent)
	tests/loaded

# Half an hour. Those two look at the hooks themselves, and at the environment.
.PHONY: check-busy
check-busy: all tests		## all tests on one processor, beside two busy loops (ROUNDS, 10)
	tests/busy $(UNIT_BIN)

.PHONY: check-sharing
check-sharing: all tests	## the shell tests, where no call edge has return thunks of its own
	TEST_SHARING=1 tests/run $(filter-out test_hook_path test_run_options, \
		$(basename $(notdir $(wildcard tests/e2e/test_*.sh))))

.PHONY: check-leading
check-leading: all tests	## the shell tests, where all frames share their thunks' code
	TEST_LEADING=1 tests/run $(filter-out test_hook_path test_run_options, \
		$(basename $(notdir $(wildcard tests/e2e/test_*.sh))))

# Some minutes.
.PHONY: check-tactics
check-tactics: all		## test suites of libraries, each kind of jump given to all functions (LIBRARIES="zlib pcre2 libjsoncpp")
	scripts/check-tactics $(LIBRARIES)

.PHONY: check-attach-kills
check-attach-kills: all tests	## kill swizzle-run -p, or the process that it attaches to, at any moment (KILL_ROUNDS, 100 each)
	KILL_ROUNDS=$(or $(KILL_ROUNDS),100) tests/run test_attach_kills

# Some minutes: swizzle-ctl on programs under load, 100 kills each.
.PHONY: check-control
check-control: all tests	## start, stop, snapshots and marks at random on programs under load (CONTROL_ROUNDS, 13)
	CONTROL_ROUNDS=$${CONTROL_ROUNDS:-13} tests/run test_control_load

# An hour or so; goes on where it was interrupted (tests/mutations/run --help).
.PHONY: check-mutations
check-mutations: all tests	## which one-token faults in the sources the tests notice: 100 of them (MUTATIONS_FLAGS)
	tests/mutations/run $(MUTATIONS_FLAGS)

SOAK_SECONDS ?= 1800
soak: all			## servers under load for SOAK_SECONDS (1800) each (SERVERS="redis ...")
	scripts/soak $(SOAK_SECONDS) $(SERVERS)

# --- fuzz --------------------------------------------------------------------

FUZZ_SECONDS ?= 60
FUZZ_BIN := $(patsubst tests/fuzz/%.c,$(B)/fuzz/%,$(FUZZ_SRC))
FUZZ_FLAGS = -std=gnu11 -g -O1 $(CPPFLAGS_ALL) \
	     -fsanitize=fuzzer,address,undefined \
	     -fno-sanitize-recover=undefined -DSWZ_FUZZ
FUZZ_PARTS := $(UNIT_HELP) $(OPTIONS_SRC) $(PROFILE_SRC) $(PAGE_SRC) $(BASE_SRC) \
	      $(IMAGE_SRC) $(UNWIND_SRC) $(NAMES_SRC) $(THUNKS_PURE)

$(FUZZ_BIN): $(B)/fuzz/%: tests/fuzz/%.c $(FUZZ_PARTS) $(HEADERS) \
		$(wildcard src/*/*.h src/*/*/*.h thunks/*.h tests/*/*.h) $(OBJ_DEPS) \
		$(B)/html/tail
	@mkdir -p $(@D)
	$(CLANG) $(FUZZ_FLAGS) -o $@ $(filter %.c %.S,$^) $(OFFLINE_LIBS) \
		$(CAPSTONE_A) $(CHECK_LIBS)

.PHONY: fuzz
fuzz: $(FUZZ_BIN)		## run each fuzzer for FUZZ_SECONDS (60)
	@for fuzzer in $(FUZZ_BIN); do \
		name=$${fuzzer##*/}; seeds=tests/fuzz/corpus/$$name; \
		mkdir -p $(B)/fuzz/corpus/$$name || exit 1; \
		test -d $$seeds || seeds=; \
		echo "== $$name, $(FUZZ_SECONDS) s"; \
		$$fuzzer -max_total_time=$(FUZZ_SECONDS) -timeout=10 \
			-rss_limit_mb=2048 -print_final_stats=1 \
			-artifact_prefix=$(B)/fuzz/$$name- \
			$(B)/fuzz/corpus/$$name $$seeds \
			2>$(B)/fuzz/$$name.log || { \
			tail -n 60 $(B)/fuzz/$$name.log; \
			echo "$$name failed; see $(B)/fuzz/$$name-*"; \
			exit 1; }; \
		grep -E '^stat::(number_of|average)' $(B)/fuzz/$$name.log; \
	done

# --- bench -------------------------------------------------------------------

.PHONY: bench
bench: all			## what a call costs, natively and under other profilers (BENCH_ROUNDS, BENCH_ONLY, BENCH_TOOLS)
	CLANG=$(CLANG) tests/bench/run

# Where the time was: swizzle's self times against perf's.
$(B)/test/bench/functions: $(B)/obj/offline/tests/bench/functions.o \
		$(call offline,$(PROFILE_SRC) $(OPTIONS_SRC) $(PAGE_SRC) $(BASE_SRC))
	@mkdir -p $(@D)
	$(CC) $(LDFLAGS) -o $@ $^ $(OFFLINE_LIBS)

.PHONY: bench-accuracy
bench-accuracy: all $(B)/test/bench/functions	## how true the times are, against perf (BENCH_PROGRAMS="lua ...")
	tests/bench/accuracy $(BENCH_PROGRAMS)

$(B)/test/bench/return_stack: $(B)/obj/offline/tests/bench/return_stack.o
	@mkdir -p $(@D)
	$(CC) $(LDFLAGS) -o $@ $^

.PHONY: bench-return-stack
bench-return-stack: $(B)/test/bench/return_stack	## what one thunk for all frames of a recursion could gain
	$(B)/test/bench/return_stack

.PHONY: bench-sampling
bench-sampling: all	## what sampling costs and sees, beside perf, gprofng and callgrind (BENCH_PROGRAMS="lua ...")
	tests/bench/sampling $(BENCH_PROGRAMS)

.PHONY: bench-stacks
bench-stacks: $(B)/test/stacks/bench	## what the sampler's walk of a stack costs, and libunwind's
	tests/bench/stacks

.PHONY: bench-html
bench-html: all			## how the page of a large trace opens and scrolls, and its memory (EVENTS=200000000)
	tests/bench/html $(EVENTS)

.PHONY: screenshots
screenshots: all		## take the README's pictures again (KCachegrind, the HTML page)
	scripts/screenshots

.PHONY: bench-startup
bench-startup: all		## measure what the start of a program costs
	tests/bench/startup

.PHONY: bench-starts
bench-starts: all		## how long planning and patching take in a start, and their copying alone
	tests/bench/starts

.PHONY: bench-memory
bench-memory: all		## how much memory swizzle adds to small programs and forked children
	tests/bench/memory

$(B)/test/bench/large_profile: $(B)/obj/offline/tests/bench/large_profile.o
	@mkdir -p $(@D)
	$(CC) $(LDFLAGS) -o $@ $^

.PHONY: bench-merge
bench-merge: all $(B)/test/bench/large_profile	## how long swizzle-dump --merge-into takes for 10,000 profiles of 1 MB (BENCH_PROFILES)
	tests/bench/merge

.PHONY: bench-dump
bench-dump: all $(B)/test/bench/large_profile	## how fast swizzle-dump is, on a profile of a million contexts and a trace of 1 GB
	tests/bench/dump

.PHONY: bench-calls-view
bench-calls-view: all		## how soon swizzle-dump -f calls answers, on a trace of 100 million events (BENCH_EVENTS)
	tests/bench/calls_view

# --- format and lint ---------------------------------------------------------

C_FILES  := $(BASE_SRC) $(IMAGE_SRC) $(PROFILE_SRC) $(RUNTIME_SRC) $(TOOLS_SRC) \
	    $(LAUNCH_SRC) $(OPTIONS_SRC) $(WATCH_SRC) $(UNWIND_SRC) $(NAMES_SRC) $(DUMP_SRC) \
	    $(TOP_SRC) $(CTL_SRC) $(THUNKS_SRC) \
	    $(UNIT_SRC) $(FUZZ_SRC)
CC_FILES := $(C_FILES) $(wildcard tests/bench/*.c tests/e2e/*.c) $(STACKS_SRC) \
	    $(filter %.c %.cc,$(TARGET_SRC))
H_FILES  := $(HEADERS) $(wildcard src/*/*.h src/*/*/*.h thunks/*.h \
	    tests/*/*.h)

.PHONY: format format-check
format:				## clang-format the tree
	$(CLANG_FORMAT) -i $(CC_FILES) $(H_FILES)

format-check:			## say what `make format` would change
	@$(CLANG_FORMAT) --dry-run -Werror $(CC_FILES) $(H_FILES)

LINT_OFFLINE := $(PROFILE_SRC) $(TOOLS_SRC) $(LAUNCH_SRC) $(OPTIONS_SRC) \
		$(WATCH_SRC) $(UNWIND_SRC) $(NAMES_SRC) $(DUMP_SRC) $(TOP_SRC) $(CTL_SRC) $(UNIT_SRC) $(FUZZ_SRC)
LINT_TARGET  := $(BASE_SRC) $(IMAGE_SRC) $(THUNKS_SRC) $(RUNTIME_SRC)
# What clang does not know.
CLANG_TARGET_CFLAGS := $(filter-out -fno-tree-loop-distribute-patterns \
			 -mmemset-strategy=%,$(TARGET_CFLAGS))
LINT_GOALS := $(patsubst %,lint-cc/%,$(LINT_OFFLINE) $(LINT_TARGET)) \
	      $(patsubst %,lint-h/%,$(H_FILES)) \
	      $(patsubst %,lint-tidy/%,$(LINT_OFFLINE) $(LINT_TARGET))

.PHONY: lint lint-cppcheck lint-sh lint-imports lint-names $(LINT_GOALS)
lint: $(LINT_GOALS) lint-cppcheck lint-sh lint-imports lint-names format-check	## every warning an error: gcc, clang, clang-tidy, cppcheck, shellcheck; imports run one way; what comments name and links lead to is there
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
	@$(CLANG_TIDY) --quiet $* -- $(call lint_flags,clang) 2>$(B)/lint.$(subst /,-,$*) \
		|| { cat $(B)/lint.$(subst /,-,$*); exit 1; }
	@rm -f $(B)/lint.$(subst /,-,$*)

$(filter lint-tidy/%,$(LINT_GOALS)): | $(B)
$(B):
	@mkdir -p $@

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

lint-imports: all $(B)/obj/offline/unit.a
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
		$(call places,$(DOCDIR),docs/example docs/images docs/internals docs) \
		$(call place,$(DOCDIR)) 2>/dev/null

# --- package -----------------------------------------------------------------

.PHONY: deb check-deb
deb: all			## make a Debian package in build/
	+scripts/make-deb $(VERSION) $(B)

check-deb:			## make that package in a minimal Debian root, have lintian look at it, try it in another (as root)
	scripts/check-fresh --package

# --- the rest ----------------------------------------------------------------

.PHONY: clean distclean help install-deps
install-deps:			## install what is needed (Debian)
	scripts/install-deps

clean:				## remove build/
	rm -rf $(B)

distclean: clean		## also remove what configure made
	rm -rf config.mk config.log config.status configure configure~ \
		autom4te.cache aclocal.m4

help:				## this list
	@sed -n 's/^\([a-z][a-z-]*\):.*## \(.*\)/\1\t\2/p' Makefile | \
		while IFS='	' read -r name text; do \
			printf '  %-14s %s\n' "$$name" "$$text"; done

# Tests, fuzzers and benchmarks: a part of the Makefile, which includes it.

UNIT_SRC    := $(wildcard tests/unit/*.c)
UNIT_TESTS  := $(filter tests/unit/test_%.c,$(UNIT_SRC))
UNIT_HELP   := $(filter-out $(UNIT_TESTS),$(UNIT_SRC)) $(wildcard tests/unit/*.S)
FUZZ_SRC    := $(wildcard tests/fuzz/*.c)
TARGETS_SRC := $(wildcard tests/targets/*.c tests/targets/*.cc \
		 tests/targets/*.S)

# --- unit tests --------------------------------------------------------------
# Each tests/unit/test_*.c is a program. What it looks at comes from archives, of
# which it takes what it uses, after libc: src/runtime/ has functions of libc's
# names. What stands in for a running process (other files of tests/unit/) comes
# first, and the first definition counts.

UNIT_PARTS := $(filter thunks/%.c src/runtime/%.c,$(TARGET_SRC))
$(call offline,$(UNIT_PARTS)): HARDENING =
UNIT_LINK = -Wl,--gc-sections -Wl,-z,muldefs -o $@ $(filter %.o,$^) -lc $(filter %.a,$^) \
	    $(OFFLINE_LIBS) $(CURSES_LIBS) $(CAPSTONE_A) $(CHECK_LIBS)
UNIT_BIN := $(patsubst tests/%.c,$(B)/test/%,$(UNIT_TESTS))
ASAN_BIN := $(patsubst tests/%.c,$(B)/asan/test/%,$(UNIT_TESTS))

$(B)/obj/offline/unit.a: $(call offline,$(UNIT_PARTS))
	$(archive)

$(B)/obj/asan/unit.a: $(call asan,$(UNIT_PARTS))
	$(archive)

$(UNIT_BIN): $(B)/test/%: $(B)/obj/offline/tests/%.o $(call offline,$(UNIT_HELP)) \
		$(B)/obj/offline/unit.a $(B)/obj/offline/tools.a
	@mkdir -p $(@D)
	$(CC) $(LDFLAGS) $(UNIT_LINK)

# The fuzzers are functions there: fuzz_events() instead of libFuzzer's name.
$(foreach fuzzer,$(FUZZ_SRC),$(eval \
	$(call offline,$(fuzzer)) $(call asan,$(fuzzer)): CFLAGS_ALL += \
	-DLLVMFuzzerTestOneInput=$(basename $(notdir $(fuzzer)))))
$(B)/test/unit/test_fuzzers: $(call offline,$(FUZZ_SRC))
$(B)/asan/test/unit/test_fuzzers: $(call asan,$(FUZZ_SRC))

# (Sanitized tables of hooks stay that the linker drops elsewhere, and the hooks
# themselves are in the library alone: no test goes through one.)
$(ASAN_BIN): $(B)/asan/test/%: $(B)/obj/asan/tests/%.o $(call asan,$(UNIT_HELP)) \
		$(B)/obj/asan/unit.a $(B)/obj/asan/tools.a
	@mkdir -p $(@D)
	$(CC) $(SANITIZE) $(LDFLAGS) -Wl,--unresolved-symbols=ignore-all $(UNIT_LINK)

ASAN_TOOLS := $(patsubst src/tools/%.c,$(B)/asan/bin/%,$(TOOLS_SRC))
$(ASAN_TOOLS): $(B)/asan/bin/%: $(B)/obj/asan/src/tools/%.o $(B)/obj/asan/tools.a
	@mkdir -p $(@D)
	$(CC) $(SANITIZE) $(LDFLAGS) -o $@ $^ $(OFFLINE_LIBS) $(CURSES_LIBS)

# --- stack walks --------------------------------------------------------------
# Stacks of running programs, walked by swizzle and by libunwind.

STACKS_SRC   := $(wildcard tests/stacks/*.c)
STACKS_MAINS := tests/stacks/compare.c tests/stacks/bench.c
STACKS_BIN   := $(if $(UNWIND_LIBS),$(B)/test/stacks/compare)

$(patsubst tests/%.c,$(B)/test/%,$(STACKS_MAINS)): $(B)/test/stacks/%: \
		$(B)/obj/offline/tests/stacks/%.o $(call offline,$(filter-out \
		$(STACKS_MAINS),$(STACKS_SRC))) $(B)/obj/offline/tools.a
	@mkdir -p $(@D)
	$(CC) -Wl,--gc-sections $(LDFLAGS) -o $@ $^ $(UNWIND_LIBS)

# --- test targets ------------------------------------------------------------
# Small programs to be profiled, one behaviour each, and lib*.{c,cc,S}: shared
# libraries for them.  A comment in the first line may add to the flags:
# "/* build: -g -pthread */", "// build: ..." or "# build: ...".  What needs
# more than one file or flag set says so itself in tests/e2e.

TARGETS_DIR := $(B)/test/targets
TARGET_H    := $(wildcard tests/targets/*.h tests/targets/patching/*.S)
TARGET_LIBS := $(patsubst tests/targets/%,$(TARGETS_DIR)/%.so,$(basename \
		 $(filter tests/targets/lib%,$(TARGETS_SRC))))
TARGET_BIN  := $(patsubst tests/targets/%,$(TARGETS_DIR)/%,$(basename \
		 $(filter-out tests/targets/lib%,$(TARGETS_SRC))))

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

check-unit: unit tools		#: run the unit tests only
	tests/run-unit $(UNIT_BIN)

check: all tests		## run the unit tests, then the shell tests
	@export TEST_AGAIN=1 TEST_CLOSING=$(abspath $(B))/test/closing; \
	status=0; \
	tests/run-unit $(UNIT_BIN) || status=1; \
	tests/run || status=1; \
	exit $$status

# 90 s of processor time on a busy machine, of which the four that are left out took 20.
QUICK_TESTS := $(addprefix test_,counts embed lifetimes recursion sampler_start)
QUICK_UNITS := $(filter-out %/test_fuzzers %/test_relocate_forms %/test_scan_bytes %/test_usual,$(UNIT_BIN))

.PHONY: check-quick
check-quick: all tests		## most unit tests and some shell tests, within a minute
	tests/run-unit $(QUICK_UNITS) && tests/run $(QUICK_TESTS)

check-asan: $(ASAN_BIN) $(ASAN_TOOLS)	#: unit tests and the tools under ASan and UBSan
	ASAN_OPTIONS=detect_leaks=1:detect_odr_violation=0 tests/run-unit $(ASAN_BIN)
	@echo "built with ASan and UBSan: $(ASAN_TOOLS)"

.PHONY: check-relocator
check-relocator: $(B)/test/unit/test_relocate_forms	#: run every form of instruction, and this machine's prologues, in place and moved
	$< all
	find -L /usr/lib/x86_64-linux-gnu /usr/bin -type f \
		'(' -name '*.so*' -o -perm -111 ')' -print0 2>/dev/null | \
		xargs -0 -n 10000 $<

.PHONY: check-stacks
check-stacks: all tests		#: 10,000 stacks of real programs, walked by swizzle and by libunwind (STACKS)
	CHECK_STACKS=$(or $(STACKS),10000) VERBOSE=1 tests/run test_stack_walks

LONG_TESTS := $(notdir $(shell grep -l 'TEST_LONG' tests/e2e/test_*.sh))
.PHONY: check-long
check-long: all tests		#: all that `make check` tries only a part of
	TEST_LONG=1 tests/run $(LONG_TESTS)

.PHONY: check-html
check-html: all tests		#: the pages of swizzle-dump, in headless Chromium
	tests/run test_html test_html_diff test_graph test_calls_html test_objects

.PHONY: check-fresh
check-fresh:			#: demo, check and package in minimal Debian roots (as root)
	scripts/check-fresh

.PHONY: check-kernel
check-kernel: all tests		#: shell tests on the kernel of this Debian, in qemu
	scripts/check-kernel

.PHONY: check-viewers
check-viewers: all tests	#: open the output in the programs that it is for (fetches some from npm)
	scripts/fetch-viewers
	CONSUMERS_DEPTH=0 VERBOSE=1 tests/run test_viewers test_consumers

.PHONY: check-gcc
check-gcc: all			#: GCC's own run-time tests, natively and profiled (fetches them)
	@status=0; \
	scripts/check-gcc || status=1; \
	scripts/check-gcc -M || status=1; \
	exit $$status

.PHONY: check-memory
check-memory: all		#: clang compiling a large file, with room for all contexts and without
	CLANG=$(CLANG) scripts/check-memory

# Long runs, hours and half an hour: not part of `make check`.
.PHONY: check-suites soak
check-suites: all		#: test suites of real programs, native and profiled (SUITES="cpython ...")
	scripts/check-suites $(SUITES_FLAGS) $(SUITES)

.PHONY: check-loaded
check-loaded: all tests		#: the shell tests with little processor time, as root (ROUNDS, SHARE in percent)
	tests/loaded

# Half an hour. Those two look at the hooks themselves, and at the environment.
.PHONY: check-busy
check-busy: all tests		#: all tests on one processor, beside two busy loops (ROUNDS, 10)
	tests/busy $(UNIT_BIN)

.PHONY: check-sharing
check-sharing: all tests	#: the shell tests, where no call edge has return thunks of its own
	TEST_SHARING=1 tests/run $(filter-out test_hook_path test_run_options, \
		$(basename $(notdir $(wildcard tests/e2e/test_*.sh))))

.PHONY: check-leading
check-leading: all tests	#: the shell tests, where all frames share their thunks' code
	TEST_LEADING=1 tests/run $(filter-out test_hook_path test_run_options, \
		$(basename $(notdir $(wildcard tests/e2e/test_*.sh))))

# Some minutes.
.PHONY: check-tactics
check-tactics: all		#: test suites of libraries, each kind of jump given to all functions (LIBRARIES="zlib pcre2 libjsoncpp")
	scripts/check-tactics $(LIBRARIES)

.PHONY: check-attach-kills
check-attach-kills: all tests	#: kill swizzle-run -p, or the process that it attaches to, at any moment (KILL_ROUNDS, 100 each)
	KILL_ROUNDS=$(or $(KILL_ROUNDS),100) tests/run test_attach_kills

# Some minutes: servers with clients, a shell that forks, a program with many threads.
.PHONY: check-attaches
check-attaches: all tests	#: 200 attaches to each of five real programs, which check every answer (ATTACHES, PROGRAMS="redis ...")
	tests/attaches $(or $(ATTACHES),200) $(PROGRAMS)

# Some minutes: swizzle-ctl on programs under load, 100 kills each.
.PHONY: check-control
check-control: all tests	#: start, stop, snapshots and marks at random on programs under load (CONTROL_ROUNDS, 13)
	CONTROL_ROUNDS=$${CONTROL_ROUNDS:-13} tests/run test_control_load

# An hour or so; goes on where it was interrupted (tests/mutations/run --help).
.PHONY: check-mutations
check-mutations: all tests	#: which one-token faults in the sources the tests notice: 100 of them (MUTATIONS_FLAGS)
	tests/mutations/run $(MUTATIONS_FLAGS)

SOAK_SECONDS ?= 1800
soak: all			#: servers under load for SOAK_SECONDS (1800) each (SERVERS="redis ...")
	scripts/soak $(SOAK_SECONDS) $(SERVERS)

# --- fuzz --------------------------------------------------------------------

FUZZ_SECONDS ?= 60
FUZZ_BIN := $(patsubst tests/fuzz/%.c,$(B)/fuzz/%,$(FUZZ_SRC))
FUZZ_FLAGS = -std=gnu11 -g -O1 $(SECTIONS) $(CPPFLAGS_ALL) \
	     -fsanitize=fuzzer-no-link,address,undefined \
	     -fno-sanitize-recover=undefined -DSWZ_FUZZ
fuzzed = $(patsubst %,$(B)/obj/fuzz/%.o,$(basename $(1)))

$(B)/obj/fuzz/%.o: %.c $(OBJ_DEPS)
	@mkdir -p $(@D)
	$(CLANG) $(FUZZ_FLAGS) $(DEPFLAGS) -c -o $@ $<

$(B)/obj/fuzz/%.o: %.S $(OBJ_DEPS)
	@mkdir -p $(@D)
	$(CLANG) $(CPPFLAGS_ALL) $(DEPFLAGS) -c -o $@ $<

$(B)/obj/fuzz/unit.a: $(call fuzzed,$(UNIT_PARTS) $(OFFLINE_SRC))
	$(archive)

$(FUZZ_BIN): $(B)/fuzz/%: $(B)/obj/fuzz/tests/fuzz/%.o $(call fuzzed,$(UNIT_HELP)) \
		$(B)/obj/fuzz/unit.a
	@mkdir -p $(@D)
	$(CLANG) -fsanitize=fuzzer,address,undefined $(UNIT_LINK)

.PHONY: fuzz
fuzz: $(FUZZ_BIN)		#: run each fuzzer for FUZZ_SECONDS (60)
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
bench: all			#: what a call costs, natively and under other profilers (BENCH_ROUNDS, BENCH_ONLY, BENCH_TOOLS)
	CLANG=$(CLANG) tests/bench/run

# Where the time was: swizzle's self times against perf's.
$(B)/test/bench/functions: $(B)/obj/offline/tests/bench/functions.o \
		$(B)/obj/offline/tools.a
	@mkdir -p $(@D)
	$(CC) -Wl,--gc-sections $(LDFLAGS) -o $@ $^ $(OFFLINE_LIBS)

.PHONY: check-counts
check-counts: all $(B)/test/bench/functions	#: calls of functions and edges: -m count, -m profile and callgrind must agree (BENCH_PROGRAMS="lua ...")
	tests/bench/counts $(BENCH_PROGRAMS)

.PHONY: check-gates
check-gates: all		#: comparisons of a build with itself raise no alarm, and counts are equal (COMPARISONS, 100; COUNTS, 20; LENGTH of a run, 150 ms)
	tests/gates

.PHONY: bench-accuracy
bench-accuracy: all $(B)/test/bench/functions	#: how true the times are, against perf (BENCH_PROGRAMS="lua ...")
	tests/bench/accuracy $(BENCH_PROGRAMS)

.PHONY: bench-modes
bench-modes: all $(B)/test/bench/functions	#: what each mode costs, and how true it is, beside other profilers (BENCH_PROGRAMS="lua ...")
	tests/bench/modes $(BENCH_PROGRAMS)

$(B)/test/bench/return_stack: $(B)/obj/offline/tests/bench/return_stack.o
	@mkdir -p $(@D)
	$(CC) $(LDFLAGS) -o $@ $^

.PHONY: bench-return-stack
bench-return-stack: $(B)/test/bench/return_stack	#: what one thunk for all frames of a recursion could gain
	$(B)/test/bench/return_stack

.PHONY: bench-sampling
bench-sampling: all	#: what sampling costs and sees, beside perf, gprofng and callgrind (BENCH_PROGRAMS="lua ...")
	tests/bench/sampling $(BENCH_PROGRAMS)

.PHONY: bench-stacks
bench-stacks: $(B)/test/stacks/bench	#: what the sampler's walk of a stack costs, and libunwind's
	tests/bench/stacks

.PHONY: bench-html
bench-html: all			#: how the page of a large trace opens and scrolls, and its memory (EVENTS=200000000)
	tests/bench/html $(EVENTS)

.PHONY: screenshots
screenshots: all		#: take the README's pictures again (KCachegrind, the HTML page)
	scripts/screenshots

.PHONY: bench-startup
bench-startup: all		#: measure what the start of a program costs
	tests/bench/startup

.PHONY: bench-starts
bench-starts: all		#: how long planning and patching take in a start, and their copying alone
	tests/bench/starts

.PHONY: bench-memory
bench-memory: all		#: how much memory swizzle adds to small programs and forked children
	tests/bench/memory

$(B)/test/bench/large_profile: $(B)/obj/offline/tests/bench/large_profile.o
	@mkdir -p $(@D)
	$(CC) $(LDFLAGS) -o $@ $^

.PHONY: bench-merge
bench-merge: all $(B)/test/bench/large_profile	#: how long swizzle-dump --merge-into takes for 10,000 profiles of 1 MB (BENCH_PROFILES)
	tests/bench/merge

.PHONY: bench-dump
bench-dump: all $(B)/test/bench/large_profile	#: how fast swizzle-dump is, on a profile of a million contexts and a trace of 1 GB
	tests/bench/dump

.PHONY: bench-calls-view
bench-calls-view: all		#: how soon swizzle-dump -f calls answers, on a trace of 100 million events (BENCH_EVENTS)
	tests/bench/calls_view

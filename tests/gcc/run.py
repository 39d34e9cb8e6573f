#!/usr/bin/env python3
"""Runs GCC's own run-time tests natively and under swizzle-run.

scripts/check-gcc fetches the tests and calls this. What the tests say of
themselves (DejaGnu directives in comments) is obeyed as far as it concerns
running them here: which of them run on x86-64 Linux, with which options, and
how they end. A test counts only if it compiles and its native run passes; then
the same executable runs under swizzle-run, and

  - must end as the native run did (exit status or signal),
  - must print the same, unless two native runs print different things too,
  - must leave profiles that swizzle-dump reads without a complaint, in which
    no call is lost and, where the program's main() could be hooked, some are
    recorded.

Executables are kept, with the command that made them, for the next run.
"""

import argparse
import concurrent.futures
import fnmatch
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

TRIPLET = "x86_64-pc-linux-gnu"
STANDARDS = ["98", "11", "14", "17", "20", "23"]

# --- what the tests say ------------------------------------------------------

# Properties that this target lacks; what is not known is taken to be there,
# since the native run tells.
ABSENT = re.compile(
    r"ia32|ilp32|x32|llp64|int16|avr.*|arm.*|freestanding|mmix|nvptx|"
    r"offload_.*|openacc_.*|.*_accel_selected|vxworks.*|hosted_tick.*|"
    r"newlib.*|simulator|mempool|unwrapped|gld|nonpic|size20.*|vect_no_.*|"
    r"keeps_null_pointer_checks|default_packed|exceptions_disabled|"
    r"run_expensive_tests"
)


def tcl_list(text):
    """Parts a Tcl list: words, "quoted" ones, and {braced} ones (kept whole,
    with "{" before them so that they can be told from words)."""
    items = []
    at = 0
    while at < len(text):
        if text[at].isspace():
            at += 1
        elif text[at] == "{":
            depth = 0
            start = at
            while at < len(text):
                if text[at] == "\\":
                    at += 1
                elif text[at] == "{":
                    depth += 1
                elif text[at] == "}":
                    depth -= 1
                    if depth == 0:
                        break
                at += 1
            items.append("{" + text[start + 1 : at])
            at += 1
        elif text[at] == '"':
            start = at + 1
            at += 1
            while at < len(text) and text[at] != '"':
                at += 2 if text[at] == "\\" else 1
            word = text[start:at]
            items.append(re.sub(r"\\(.)", tcl_escape, word, flags=re.S))
            at += 1
        else:
            start = at
            while at < len(text) and not text[at].isspace():
                at += 1
            items.append(text[start:at])
    return items


def tcl_escape(match):
    return {"n": "\n", "r": "\r", "t": "\t"}.get(match[1], match[1])


def unbrace(item):
    return item[1:] if item.startswith("{") else item


def directives(source):
    """Yields [name, argument...] for each { dg-... } of SOURCE."""
    text = source.read_text(encoding="latin-1")
    for match in re.finditer(r"\{\s*(dg-[a-z0-9-]+)(?=[\s}])", text):
        depth = 0
        for at in range(match.start(), len(text)):
            if text[at] == "{" and text[at - 1] != "\\":
                depth += 1
            elif text[at] == "}" and text[at - 1] != "\\":
                depth -= 1
                if depth == 0:
                    break
            elif text[at] == "\n":
                break
        body = text[match.end() : at]
        yield [match[1]] + tcl_list(body)


class Selector:
    """Decides on targets: triplet globs, properties, and ! && || of them."""

    def __init__(self, standard):
        self.standard = standard  # of C++, e.g. "17"; None for C

    def has(self, word):
        if "-" in word:
            return fnmatch.fnmatchcase(TRIPLET, word)
        match = re.fullmatch(r"c\+\+(98|0x|11|14|1y|17|1z|20|2a|23|2b)(\w*)",
                             word)
        if match:
            if self.standard is None:
                return False
            ask = {"0x": "11", "1y": "14", "1z": "17", "2a": "20",
                   "2b": "23"}.get(match[1], match[1])
            difference = (STANDARDS.index(self.standard) -
                          STANDARDS.index(ask))
            return {"_only": difference == 0,
                    "_down": difference <= 0}.get(match[2], difference >= 0)
        if word == "c":
            return self.standard is None
        if word == "c++":
            return self.standard is not None
        return not ABSENT.fullmatch(word)

    def holds(self, text):
        items = tcl_list(text)
        if any(item in ("&&", "||", "!") for item in items):
            return self.any_of(items)
        return any(self.item(item) for item in items)

    def item(self, item):
        return (self.holds(item[1:]) if item.startswith("{")
                else self.has(item))

    def any_of(self, items):
        terms = [[]]
        for item in items:
            if item == "||":
                terms.append([])
            elif item != "&&":
                terms[-1].append(item)
        return any(self.all_of(term) for term in terms)

    def all_of(self, items):
        negate = False
        for item in items:
            if item == "!":
                negate = not negate
                continue
            if self.item(item) == negate:
                return False
            negate = False
        return True

    def applies(self, item):
        """ITEM: the argument "{ target X }" or "{ xfail X }"; the kind of it
        and whether X holds."""
        kind, *rest = unbrace(item).split(None, 1)
        return kind, self.holds(rest[0] if rest else "")


def options_match(given, patterns):
    """Whether one of PATTERNS (each "-a -b": all of these) is among GIVEN."""
    for pattern in patterns:
        words = pattern.split()
        if all(any(fnmatch.fnmatchcase(option, word) for option in given)
               for word in words):
            return True
    return False


class Test:
    """One test program with one set of options."""

    def __init__(self, suite, level, name, source):
        self.suite = suite
        self.level = level
        self.name = name
        self.source = source
        self.options = []
        self.extra_sources = []
        self.environment = {}
        self.should_fail = False
        self.output = ""
        self.runs = suite.runs_by_default
        standard = None
        if suite.language == "c++":
            standard = self.choose_standard()
        self.read(Selector(standard))
        if standard not in (None, "17") and not any(
                option.startswith("-std=") for option in self.options):
            self.options.insert(0, "-std=gnu++" + standard)
        self.obey_alternate_driver()

    def choose_standard(self):
        """The first in which the test runs; the compiler's default first."""
        found = list(directives(self.source))
        for words in found:
            if words[0] in ("dg-options", "dg-additional-options"):
                match = re.search(r"-std=(?:gnu|c)\+\+(\w\w)",
                                  " ".join(words))
                if match:
                    return {"0x": "11", "1y": "14", "1z": "17", "2a": "20",
                            "2b": "23", "03": "98"}.get(match[1], match[1])
        for standard in ["17", "98", "11", "14", "20", "23"]:
            selector = Selector(standard)
            if self.is_run(found, selector) and all(
                    selector.holds(unbrace(words[1])) for words in found
                    if words[0] == "dg-require-effective-target"):
                return standard
        return "17"

    def is_run(self, found, selector):
        runs = self.suite.runs_by_default
        seen = False
        for words in found:
            if words[0] != "dg-do":
                continue
            holds = True
            for item in words[2:]:
                kind, value = selector.applies(item)
                holds = holds and value == (kind == "target")
            if holds:
                seen = True
                runs = words[1] == "run"
            elif not seen:
                runs = False
        return runs

    def read(self, selector):
        found = list(directives(self.source))
        self.runs = self.is_run(found, selector)
        options = list(self.suite.options)
        for words in found:
            name, arguments = words[0], words[1:]
            if not arguments:
                continue
            holds = True
            if name in ("dg-options", "dg-additional-options", "dg-output",
                        "dg-shouldfail", "dg-additional-sources",
                        "dg-set-target-env-var"):
                for item in arguments:
                    if item.startswith("{") and re.match(
                            r"\s*(target|xfail)\b", item[1:]):
                        holds = holds and selector.applies(item)[1]
                    elif name == "dg-shouldfail" and item.startswith("{"):
                        holds = holds and selector.holds(item[1:])
            if not holds:
                continue
            if name == "dg-options":
                options = shlex.split(unbrace(arguments[0]))
            elif name == "dg-additional-options":
                self.options += shlex.split(unbrace(arguments[0]))
            elif name == "dg-add-options":
                if unbrace(arguments[0]) == "libatomic":
                    self.options.append("-latomic")
            elif name == "dg-additional-sources":
                self.extra_sources += unbrace(arguments[0]).split()
            elif name == "dg-require-effective-target":
                if not selector.holds(unbrace(arguments[0])):
                    self.runs = False
            elif name in ("dg-skip-if", "dg-xfail-if", "dg-xfail-run-if"):
                self.exclude(selector, arguments[1:], options)
            elif name == "dg-shouldfail":
                self.should_fail = True
            elif name == "dg-output":
                self.output += unbrace(arguments[0])
            elif name == "dg-set-target-env-var":
                self.environment[arguments[0]] = unbrace(arguments[1])
        self.options = options + self.options
        if "-static" in self.options:
            self.runs = False  # documented: cannot be profiled

    def exclude(self, selector, arguments, options):
        if not selector.holds(unbrace(arguments[0])):
            return
        given = options + self.options + self.level.split()
        if len(arguments) > 1:
            include = tcl_list(unbrace(arguments[1]))
            if include != ["*"] and not options_match(
                    given, [unbrace(item) for item in include]):
                return
        if len(arguments) > 2:
            patterns = [unbrace(item)
                        for item in tcl_list(unbrace(arguments[2]))]
            if options_match(given, [p for p in patterns if p]):
                return
        self.runs = False

    def obey_alternate_driver(self):
        """A few torture tests have a Tcl script, of which only its additions
        to the options matter here."""
        script = self.source.with_suffix(".x")
        if not script.exists() or not self.runs:
            return
        for line in script.read_text().splitlines():
            match = re.match(r"(?:lappend|set) additional_flags (.*)", line)
            if match:
                self.options += [unbrace(item)
                                 for item in tcl_list(match[1])]

    def command(self, executable):
        suite = self.suite
        sources = [self.source] + [self.source.parent / extra
                                   for extra in self.extra_sources]
        sources += suite.more_sources(self.source)
        return ([suite.compiler] + self.level.split() + suite.flags +
                self.options + ["-w", "-I", str(self.source.parent)] +
                [str(source) for source in sources] +
                ["-o", str(executable)] + suite.libraries)


# --- the suites --------------------------------------------------------------


class Suite:
    def __init__(self, name, language, folders, levels, compiler=None,
                 flags=(), options=(), libraries=("-lm",),
                 runs_by_default=True, module_levels=None, extra=False):
        self.name = name
        self.language = language
        self.folders = folders
        self.levels = levels
        self.module_levels = module_levels or levels
        self.compiler = compiler or ("g++" if language == "c++" else "gcc")
        self.flags = list(flags)
        self.options = list(options)  # in place of which dg-options come
        self.libraries = list(libraries)
        self.runs_by_default = runs_by_default
        self.extra = extra  # runs only if it is asked for

    def sources(self, tests):
        for folder in self.folders:
            recursive = folder.endswith("/**")
            base = tests / folder.removesuffix("/**")
            endings = ["*.c"] if self.language == "c" else ["*.C", "*.cc"]
            if folder.endswith("-common"):
                endings = ["*.c"]
            for ending in endings:
                found = base.rglob(ending) if recursive else base.glob(ending)
                for source in sorted(found):
                    if not self.is_part(source):
                        yield source

    def is_part(self, source):
        return False

    def more_sources(self, source):
        return []


class BuiltinsSuite(Suite):
    """Each test has a library beside it, and all have the same main()."""

    def is_part(self, source):
        return source.name.endswith("-lib.c") or source.parent.name == "lib"

    def more_sources(self, source):
        return [source.with_name(source.stem + "-lib.c"),
                source.parent / "lib" / "main.c"]


class AbiSuite(Suite):
    """The tests call through an assembly file that stores all registers."""

    def more_sources(self, source):
        return [source.parent / "asm-support.S"]


def make_suites(tests):
    torture = "gcc/testsuite/gcc.c-torture/execute"
    throws = ["gcc/testsuite/g++.dg/eh", "gcc/testsuite/g++.old-deja/g++.eh"]
    library = "libstdc++-v3/testsuite/"
    gomp = "libgomp/testsuite/"
    levels = ["-O0", "-O2", "-O3"]
    library_flags = ["-D_GLIBCXX_ASSERT", "-ffunction-sections",
                     "-fdata-sections", "-g", "-O2", "-DLOCALEDIR=\".\"",
                     "-I", str(tests / library / "util")]
    gomp_flags = ["-fopenmp", "-I", str(tests / "include"),
                  "-I", str(tests / "libgomp")]
    suites = [
        Suite("throw", "c++", throws, ["-O0", "-O2"], runs_by_default=False),
        Suite("throw-static-unwinder", "c++", throws, ["-O2"],
              runs_by_default=False,
              flags=["-static-libgcc", "-static-libstdc++"]),
        Suite("18_support", "c++", [library + "18_support/**"], [""],
              flags=library_flags),
        Suite("30_threads", "c++", [library + "30_threads/**"], [""],
              flags=library_flags + ["-pthread"]),
        Suite("libgomp.c", "c", [gomp + "libgomp.c/**",
                                 gomp + "libgomp.c-c++-common"], [""],
              flags=gomp_flags, options=["-O2"]),
        Suite("libgomp.c++", "c++", [gomp + "libgomp.c++/**"], [""],
              flags=gomp_flags, options=["-O2"]),
        Suite("torture", "c", [torture], levels, module_levels=["-O2"]),
        Suite("torture-ieee", "c", [torture + "/ieee"], levels,
              flags=["-fno-inline"], module_levels=["-O2"]),
        BuiltinsSuite("torture-builtins", "c", [torture + "/builtins"],
                      levels, module_levels=["-O2"],
                      flags=["-fno-tree-dse", "-fno-ipa-ra", "-fno-tracer",
                             "-fno-tree-loop-distribute-patterns",
                             "-fno-inline-functions"]),
        Suite("gcc.dg", "c", ["gcc/testsuite/gcc.dg",
                              "gcc/testsuite/gcc.dg/torture/**",
                              "gcc/testsuite/gcc.dg/atomic",
                              "gcc/testsuite/gcc.dg/ipa",
                              "gcc/testsuite/gcc.dg/tree-prof"],
              ["-O2"], runs_by_default=False, extra=True),
        Suite("g++.dg", "c++", ["gcc/testsuite/g++.dg/" + folder + "/**"
                                for folder in (
                                    "abi", "cpp0x", "cpp1y", "cpp1z",
                                    "cpp2a", "ext", "inherit", "init",
                                    "ipa", "opt", "other", "rtti",
                                    "template", "tls", "torture",
                                    "tree-ssa", "warn")],
              ["-O2"], runs_by_default=False, extra=True),
        Suite("coroutines", "c++", ["gcc/testsuite/g++.dg/coroutines/**"],
              ["-O0", "-O2"], flags=["-std=gnu++20", "-fcoroutines"],
              runs_by_default=False, extra=True),
        Suite("i386", "c", ["gcc/testsuite/gcc.target/i386"], [""],
              runs_by_default=False, extra=True),
        AbiSuite("x86_64-abi", "c",
                 ["gcc/testsuite/gcc.target/x86_64/abi" + folder
                  for folder in ("", "/avx", "/avx512f", "/avx512fp16")],
                 ["-O0", "-O2"], flags=["-mavx512f"], extra=True),
    ]
    if shutil.which("clang++-14"):
        suites.insert(2, Suite("throw-clang", "c++", throws, ["-O2"],
                               compiler="clang++-14", runs_by_default=False))
    return suites


# --- running -----------------------------------------------------------------


class End:
    """How a process ended, and what it printed."""

    def __init__(self, status, output, error):
        self.status = status  # None: it took too long
        self.output = output
        self.error = error

    def __str__(self):
        if self.status is None:
            return "takes too long"
        if self.status < 0:
            return "signal %d" % -self.status
        return "status %d" % self.status

    def prints_as(self, other):
        return (self.output, self.error) == (other.output, other.error)


def run(command, folder, timeout, environment=None):
    everything = dict(os.environ, LC_ALL="C", **(environment or {}))
    with tempfile.TemporaryFile() as output, \
            tempfile.TemporaryFile() as error:
        process = subprocess.Popen(
            command, cwd=folder, env=everything, stdin=subprocess.DEVNULL,
            stdout=output, stderr=error, start_new_session=True)
        try:
            status = process.wait(timeout)
        except subprocess.TimeoutExpired:
            status = None
        # What it has left behind must not disturb the tests that follow.
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except (ProcessLookupError, PermissionError):
            pass
        process.wait()
        output.seek(0)
        error.seek(0)
        return End(status, output.read(1 << 22), error.read(1 << 22))


class Driver:
    def __init__(self, options):
        self.options = options
        self.programs = Path(options.programs)
        self.build = Path(options.build)
        self.run_command = [str(self.build / "bin/swizzle-run"), "-q"]
        if options.all_modules:
            self.run_command += ["-M", "*"]
        self.dump = str(self.build / "bin/swizzle-dump")

    # The path of the executable, or None if it cannot be made.
    def make(self, test):
        folder = self.programs / test.suite.name
        if test.level:
            folder /= test.level.lstrip("-").replace(" ", "")
        executable = folder / (test.name.replace("/", ",") + ".exe")
        stamp = executable.with_suffix(".command")
        command = shlex.join(test.command(executable))
        try:
            if stamp.read_text() == command:
                return executable if executable.exists() else None
        except FileNotFoundError:
            folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory() as scratch:
            end = run(shlex.split(command), scratch, 300)
        if end.status != 0:
            executable.unlink(missing_ok=True)
            executable.with_suffix(".log").write_bytes(end.error)
        stamp.write_text(command)
        return executable if end.status == 0 else None

    def run_native(self, test, executable):
        with tempfile.TemporaryDirectory() as folder:
            return run([str(executable)], folder, self.options.timeout,
                       test.environment)

    def passes_natively(self, test, native):
        if native.status is None or (native.status != 0) != test.should_fail:
            return False
        if test.output:
            text = (native.output + native.error).decode("latin-1")
            try:
                return re.search(test.output, text) is not None
            except re.error:
                return True
        return True

    def check(self, test):
        """(verdict, reasons): "passed", "failed" or "not run natively"."""
        executable = self.make(test)
        if not executable:
            return "not run natively", ["does not compile"]
        native = self.run_native(test, executable)
        if not self.passes_natively(test, native):
            return "not run natively", ["natively: %s" % native]
        with tempfile.TemporaryDirectory() as folder:
            work = Path(folder) / "work"
            profiles = Path(folder) / "profiles"
            work.mkdir()
            profiled = run(self.run_command + ["-o", str(profiles) + "/",
                                               str(executable)],
                           work, self.options.timeout * 4, test.environment)
            reasons = self.compare(test, executable, native, profiled)
            reasons += self.check_profiles(profiles, executable)
        return ("failed" if reasons else "passed"), reasons

    def compare(self, test, executable, native, profiled):
        if profiled.status != native.status:
            return ["%s, natively %s: %s" % (
                profiled, native,
                profiled.error[-400:].decode("latin-1").strip())]
        if profiled.prints_as(native):
            return []
        for _ in range(4):
            again = self.run_native(test, executable)
            if again.prints_as(profiled) or not again.prints_as(native):
                return []
        return ["prints other things than natively: %r, %r" % (
            (profiled.output + profiled.error)[:400],
            (native.output + native.error)[:400])]

    def check_profiles(self, folder, executable):
        reasons = []
        calls = 0
        files = sorted(folder.glob("*")) if folder.exists() else []
        for file in files:
            info = run([self.dump, "-f", "info", str(file)], folder, 60)
            text = info.output.decode("latin-1")
            if info.status != 0 or info.error:
                reasons.append("swizzle-dump: %s: %s" % (
                    info, info.error.decode("latin-1").strip()))
            lost = re.search(r"^lost calls: (\d+)$", text, re.M)
            if not lost or lost[1] != "0":
                reasons.append("lost calls: %s" % (lost and lost[1]))
            for number in re.findall(r"^ +\d+  .* (\d+) +\d+\.\d+ s$",
                                     text, re.M):
                calls += int(number)
        if not files:
            reasons.append("no profile")
        elif not calls and self.hooks_main(executable):
            reasons.append("no calls recorded")
        return reasons

    def hooks_main(self, executable):
        with tempfile.TemporaryDirectory() as folder:
            end = run(self.run_command + ["--list", "-v", str(executable)],
                      folder, 60)
        return re.search(rb" patched +main$", end.output, re.M) is not None


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tests", required=True,
                        help="GCC's source tree, or the part with tests")
    parser.add_argument("--programs", required=True,
                        help="where executables are kept")
    parser.add_argument("--build", default="build", help="swizzle's build")
    parser.add_argument("-M", dest="all_modules", action="store_true",
                        help="hook libc and libm, too")
    parser.add_argument("-j", dest="jobs", type=int, default=2)
    parser.add_argument("-t", dest="timeout", type=int, default=60,
                        help="seconds for a native run; four times as many "
                        "for a profiled one")
    parser.add_argument("-s", dest="suites", action="append", default=[],
                        help="only these suites (patterns)")
    parser.add_argument("-l", dest="levels", action="append", default=[],
                        help="these levels of optimization, or other options "
                        "without the first dash (O2, 'Os -no-pie')")
    parser.add_argument("-v", dest="verbose", action="store_true",
                        help="say also which tests were not run, and why")
    parser.add_argument("names", nargs="*",
                        help="only the tests whose names match")
    options = parser.parse_args()
    os.environ.pop("LD_PRELOAD", None)
    for name in [name for name in os.environ if name.startswith("SWIZZLE_")]:
        del os.environ[name]
    # as in tests/e2e/lib.sh
    for asked, name, value in [
            ("TEST_TIMING", "SWIZZLE_TIMING", None),
            ("TEST_MODE", "SWIZZLE_MODE", None),
            ("TEST_SHARING", "SWIZZLE_TEST_OWN_THUNKS", "0")]:
        if os.environ.get(asked):
            os.environ[name] = value or os.environ[asked]

    driver = Driver(options)
    tests_folder = Path(options.tests).resolve()
    driver.build = driver.build.resolve()
    failures = []
    counts = {"passed": 0, "failed": 0, "not run natively": 0}
    pool = concurrent.futures.ThreadPoolExecutor(options.jobs)
    for suite in make_suites(tests_folder):
        if not (any(fnmatch.fnmatchcase(suite.name, pattern)
                    for pattern in options.suites)
                if options.suites else not suite.extra):
            continue
        levels = (suite.module_levels if options.all_modules
                  else suite.levels)
        if options.levels and "" not in levels:
            levels = ["-" + level for level in options.levels]
        for level in levels:
            check_suite(driver, pool, suite, level, tests_folder, failures,
                        counts)
    pool.shutdown()
    if failures:
        print("\nfailed:")
        for failure in failures:
            print("  " + failure)
    print("%d passed, %d failed, %d not run natively" % tuple(
        counts.values()))
    sys.exit(1 if failures or not counts["passed"] else 0)


def check_suite(driver, pool, suite, level, folder, failures, counts):
    title = suite.name + (" " + level if level else "")
    tests = []
    for source in suite.sources(folder):
        name = str(source.relative_to(folder))
        if driver.options.names and not any(
                fnmatch.fnmatchcase(name, "*" + pattern + "*")
                for pattern in driver.options.names):
            continue
        test = Test(suite, level, name, source)
        if test.runs:
            tests.append(test)
    here = dict.fromkeys(counts, 0)
    for test, (verdict, reasons) in zip(tests, pool.map(driver.check, tests)):
        here[verdict] += 1
        if verdict == "failed":
            line = "%s: %s" % (title, test.name)
            print("FAIL %s: %s" % (line, "; ".join(reasons)), flush=True)
            failures.append(line)
        elif reasons and driver.options.verbose:
            print("%s %s: %s: %s" % (verdict, title, test.name,
                                     "; ".join(reasons)), flush=True)
    for verdict in counts:
        counts[verdict] += here[verdict]
    print("%s: %d passed, %d failed, %d not run natively" % (
        (title,) + tuple(here.values())), flush=True)


if __name__ == "__main__":
    main()

"""Reads what swizzle-dump has written, by nothing but the formats' own rules,
and prints where functions have other calls, self or inclusive times, or other
parts of these in which they waited, than in a text table. The inclusive time of a function is what a reader of the format can
add up: of stacks those that it is in, once each; of a tree the rows that have no
other of the function above them; of calls those that lead to it.

  read_format.py TABLE FORMAT,FILE[,OPTION]...

Options: names: without modules; no-calls, no-self, no-incl: without these;
folded-names: with names as they are in folded stacks; plain-names: without what
some formats cannot have in names.
"""

import csv
import difflib
import gzip
import html
import io
import json
import os
import re
import shutil
import sys
from collections import defaultdict

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from protobuf_fields import fields as fields_of  # noqa: E402


# What is counted: "calls", or "samples" of the functions themselves. Calls
# between functions, arrows and edges then have those of what they lead to.
counted = "calls"
joined = False  # calls and times are of two runs
ALL = ["[outside]", "[all]"]


class Sums:
    def __init__(self):
        self.calls = defaultdict(int)
        self.self_ns = defaultdict(int)
        self.incl_ns = defaultdict(int)  # empty: the format has none
        self.rows = defaultdict(int)  # how many functions have these names
        self.waiting = None  # of self_ns and incl_ns; None: not known
        self.tells_waiting = False  # in all, without columns

    def add(self, name, module, calls, self_ns):
        self.calls[name, module] += calls
        self.self_ns[name, module] += self_ns

    def add_waiting(self, name, module, self_ns, incl_ns):
        if self.waiting is None:
            self.waiting = defaultdict(lambda: [0, 0])
        self.waiting[name, module][0] += self_ns
        self.waiting[name, module][1] += incl_ns

    def wait_in(self, function, stack, ns):
        self.add_waiting(*function, ns, 0)
        for caller in set(stack + [(root(), "-")]):
            self.add_waiting(*caller, 0, ns)

    def add_inclusive(self, functions, ns):
        for function in set(functions):
            self.incl_ns[function] += ns


def fail(message):
    sys.exit("read_format.py: " + message)


def split_row(line, numbers):
    """The numbers, then name and module, which two spaces part."""
    fields = line.split(None, numbers)
    at = len(line) - len(fields[-1])
    return fields[:numbers], line[at:].strip("\n").split("  "), at


def figure(text):
    """Of joined runs: what was not counted, and what no sample hit, is 0."""
    if joined and (text == "-" or re.match("<[1-9][0-9]*$", text)):
        return 0
    return int(text)


def count_of(row):
    """None stands for what was not counted."""
    if joined and row[counted] in (None, ""):
        return 0
    return int(row[counted])


def check_bound(row):
    """No other time than 0 has a bound; in joined runs each such time."""
    if row.get("function", row.get("name")) in ALL:
        return
    if int(row["self_ns"]) and row.get("bound_ns"):
        fail("bound: %s" % row)
    if joined and not int(row["self_ns"]) and not row.get("bound_ns"):
        fail("no bound: %s" % row)


def read_text(data, sums):
    global counted, joined
    numbers = None
    for line in data.decode(errors="surrogateescape").split("\n"):
        if line.startswith("# joined: "):
            joined = True
        if line.startswith("# running "):
            sums.tells_waiting = True
        if not line or line.startswith("#"):
            continue
        if line.split()[0] in ("calls", "samples"):
            counted = line.split()[0]
            numbers = len(line.split()) - 2
            wait = (line.split().index("self-wait")
                    if "self-wait" in line.split() else None)
            seen = defaultdict(int)
            continue
        values, names, _ = split_row(line, numbers)
        sums.add(names[0], names[1], figure(values[0]), figure(values[1]))
        sums.add_inclusive([tuple(names[:2])], figure(values[2]))
        if wait:
            sums.add_waiting(*names[:2], int(values[wait]),
                             int(values[wait + 1]))
        seen[tuple(names[:2])] += 1
        sums.rows[tuple(names[:2])] = max(sums.rows[tuple(names[:2])],
                                          seen[tuple(names[:2])])


def read_tree(data, sums):
    """Also checks that each line's inclusive time is its self time and that of
    the lines below it, and its share that of the first line's time."""
    base = None
    path = []  # [depth, inclusive, what the children have]

    def close(depth):
        while path and path[-1][0] >= depth:
            _, line, inclusive, below, _ = path.pop()
            if inclusive != below:
                fail("%s: below it %d" % (line, below))
            if path:
                path[-1][3] += inclusive

    for line in data.decode(errors="surrogateescape").split("\n"):
        if not line or line.startswith("#"):
            continue
        if line.split()[0] == counted:
            close(0)
            base, total = None, None
            numbers = len(line.split()) - 2
            continue
        values, names, at = split_row(line, numbers)
        if base is None:
            base, total = at, figure(values[2])
        if (at - base) % 2:
            fail("indentation: " + line)
        close((at - base) // 2)
        if path and (at - base) // 2 != path[-1][0] + 1:
            fail("depth: " + line)
        outermost = tuple(names[:2]) not in [p[4] for p in path]
        if outermost:
            sums.add_inclusive([tuple(names[:2])], figure(values[2]))
        if len(values) == 6:
            sums.add_waiting(*names[:2], int(values[4]),
                             int(values[5]) if outermost else 0)
        path.append([(at - base) // 2, line, figure(values[2]), figure(values[1]),
                     tuple(names[:2])])
        if abs(float(values[3]) - 100 * figure(values[2]) / total) > 0.0051:
            fail("share: " + line)
        if names[2:] not in ([], ["(folded)"]):
            fail("names: " + line)
        if names[2:] and figure(values[2]):
            fail("time of a folded call: " + line)
        sums.add(names[0], names[1], figure(values[0]), figure(values[1]))
    close(0)


def root():
    return ALL[joined or counted == "samples"]


def read_folded(data, sums, of_calls=False):
    for line in data.decode(errors="surrogateescape").split("\n"):
        if not line:
            continue
        stack, value = line.rsplit(" ", 1)
        name = stack.split(";")[-1]
        calls, self_ns = (value, 0) if of_calls else (0, value)
        sums.add(name, "-", int(calls), int(self_ns))
        if not of_calls:
            sums.add_inclusive([(n, "-") for n in stack.split(";")] +
                               [(root(), "-")], int(value))


def folded_name(name):
    return re.sub(r" (?=[0-9])", "_", name.replace(";", ":"))


def plain_name(name):
    """What no format has in common: control characters, and no UTF-8."""
    return re.sub("[\\x00-\\x1f\\x7f\udc80-\udcff\ufffd]", "?", name)


def base_name(path):
    return path.rsplit("/", 1)[-1] if path else "-"


def read_callgrind(data, sums):
    names, events, own, called = {}, [], None, None
    inclusive = 0  # lines that are of the calls before them

    def name_of(kind, text):
        number, _, name = text.partition(" ")
        if name:
            names[kind, number] = name
        return names[kind, number]

    for line in data.decode(errors="surrogateescape").split("\n"):
        key, equals, value = line.partition("=")
        if line.startswith("part:"):
            names = {}
        if line.startswith("events:"):
            events = line.split()[1:]
            if [e for e in events if e != "samples"] not in (
                    ["ns"], ["ns", "Wait"]):
                fail(line)
        if equals and key == "ob":
            module = callee_module = base_name(name_of("ob", value))
        elif equals and key == "cob":
            callee_module = base_name(name_of("ob", value))
        elif equals and key == "fn":
            own = (name_of("fn", value), module)
        elif equals and key == "cfn":
            called = (name_of("fn", value), callee_module)
            callee_module = module
        elif equals and key == "calls":
            if counted == "calls":
                sums.add(*called, int(value.split()[0]), 0)
            through = int(value.split()[0])
            inclusive = 1
        elif re.match("[0-9]+( -?[0-9]+){%d}$" % len(events), line):
            costs = [int(word) for word in line.split()[1:]]
            if counted == "samples":
                samples = costs.pop()
                if inclusive and samples != through:
                    fail("samples: " + line)
                if not inclusive:
                    sums.add(*own, samples, 0)
            if len(costs) == 2:
                sums.add_waiting(*(called if inclusive else own),
                                 0 if inclusive else costs[1],
                                 costs[1] if inclusive else 0)
                if costs[1] < 0:
                    fail("waiting: " + line)
            if not inclusive:
                sums.add(*own, 0, costs[0])
            elif costs[0] >= 0:
                sums.add_inclusive([called], costs[0])
            inclusive = 0
    for table in (sums.calls, sums.self_ns, sums.incl_ns):
        for name, module in list(table):
            if module == "???":
                table[name, "-"] += table.pop((name, module))
    for name, module in list(sums.waiting or {}):
        if module == "???":
            sums.add_waiting(name, "-", *sums.waiting.pop((name, module)))


def read_csv(data, sums):
    rows = csv.DictReader(io.StringIO(data.decode(errors="surrogateescape"),
                                      newline=""))
    for row in rows:
        if None in row or None in row.values():
            fail("fields: %s" % row)
        check_bound(row)
        sums.add(row["function"], row["module"], count_of(row),
                 int(row["self_ns"]))
        sums.add_inclusive([(row["function"], row["module"])],
                           int(row["incl_ns"]))
        if row["self_waiting_ns"]:
            sums.add_waiting(row["function"], row["module"],
                             int(row["self_waiting_ns"]),
                             int(row["incl_waiting_ns"]))


def check_waiting(part):
    """What the functions of a part of JSON wait is what their contexts and the
    calls to them wait."""
    functions, contexts = part["functions"], part["contexts"]
    own, topmost, edges = [[0] * len(functions) for _ in range(3)]
    below = [c["self_waiting_ns"] for c in contexts]
    for i in range(len(below) - 1, 0, -1):
        below[contexts[i]["parent"]] += below[i]
    if below != [c["incl_waiting_ns"] for c in contexts]:
        fail("waiting in contexts")
    for edge in part["edges"]:
        edges[edge["callee"]] += edge["incl_waiting_ns"]
    for context in contexts:
        if context["self_waiting_ns"] < 0:
            fail("waiting of %s" % context)
        own[context["function"]] += context["self_waiting_ns"]
        above = context
        while "parent" in above:
            above = contexts[above["parent"]]
            if above["function"] == context["function"]:
                break
        else:
            topmost[context["function"]] += context["incl_waiting_ns"]
    for i, function in enumerate(functions):
        if (own[i] != function["self_waiting_ns"] or
                topmost[i] != function["incl_waiting_ns"] or
                function["module"] and edges[i] != topmost[i]):
            fail("waiting of %s: %d, %d, %d" % (function, own[i], topmost[i],
                                                edges[i]))


def read_json(data, sums):
    """Also checks that contexts and edges say what the functions say."""
    for part in json.loads(data)["parts"]:
        functions = part["functions"]
        calls, self_ns = [0] * len(functions), [0] * len(functions)
        edges, edges_ns = [0] * len(functions), [0] * len(functions)
        topmost, topmost_samples = [0] * len(functions), [0] * len(functions)
        if counted not in functions[0]:
            fail("no " + counted)
        inclusive = [c["self_ns"] for c in part["contexts"]]
        samples = [count_of(c) for c in part["contexts"]]
        for context in part["contexts"]:
            calls[context["function"]] += count_of(context)
            self_ns[context["function"]] += context["self_ns"]
        for i in range(len(inclusive) - 1, 0, -1):
            inclusive[part["contexts"][i]["parent"]] += inclusive[i]
            samples[part["contexts"][i]["parent"]] += samples[i]
        if inclusive != [c["incl_ns"] for c in part["contexts"]]:
            fail("inclusive times")
        if inclusive[0] != part["total_ns"]:
            fail("total")
        if "self_waiting_ns" in functions[0]:
            check_waiting(part)
            for function in functions:
                sums.add_waiting(function["name"],
                                 base_name(function["module"]),
                                 function["self_waiting_ns"],
                                 function["incl_waiting_ns"])
        for edge in part["edges"]:
            edges[edge["callee"]] += count_of(edge)
            edges_ns[edge["callee"]] += edge["incl_ns"]
        for number, context in enumerate(part["contexts"]):
            at = context
            while "parent" in at:
                at = part["contexts"][at["parent"]]
                if at["function"] == context["function"]:
                    break
            else:
                topmost[context["function"]] += context["incl_ns"]
                topmost_samples[context["function"]] += samples[number]
        for i, function in enumerate(functions):
            check_bound(function)
            if (calls[i] != count_of(function) or
                    self_ns[i] != function["self_ns"]):
                fail("contexts of %s" % function)
            led_to = calls[i] if counted == "calls" else topmost_samples[i]
            if edges[i] != led_to and function["module"]:
                fail("edges to %s" % function)
            if (edges_ns[i] != function["incl_ns"] and function["module"] or
                    topmost[i] != function["incl_ns"]):
                fail("%d ns of edges to %s, %d of contexts" %
                     (edges_ns[i], function, topmost[i]))
            sums.add_inclusive([(function["name"],
                                 base_name(function["module"]))],
                               function["incl_ns"])
            sums.add(function["name"], base_name(function["module"]), calls[i],
                     self_ns[i])


def read_speedscope(data, sums, of_calls=False):
    document = json.loads(data)
    frames = document["shared"]["frames"]
    for profile in document["profiles"]:
        if profile["type"] != "sampled" or profile["unit"] != (
                "none" if of_calls else "nanoseconds"):
            fail("type or unit")
        if profile["name"].endswith(": waiting"):
            sums.add_waiting(root(), "-", 0, 0)
        if len(profile["samples"]) != len(profile["weights"]):
            fail("samples and weights")
        if (profile["endValue"] - profile["startValue"] !=
                sum(profile["weights"])):
            fail("endValue")
        for stack, weight in zip(profile["samples"], profile["weights"]):
            name = frames[stack[-1]]["name"]
            if profile["name"].endswith(": waiting"):
                sums.wait_in((name, "-"), [(frames[i]["name"], "-")
                                           for i in stack], weight)
                continue
            sums.add(name, "-", weight if of_calls else 0,
                     0 if of_calls else weight)
            if not of_calls:
                sums.add_inclusive([(frames[i]["name"], "-") for i in stack] +
                                   [(root(), "-")], weight)


def read_dot(data, sums):
    """Also checks that the arrows to a function have its calls."""
    text = r'((?:[^"\\]|\\.)*?)'
    calls, into = {}, defaultdict(int)
    for line in data.decode().split("\n"):
        match = re.match(r'\tf([0-9]+) \[label="' + text + r"\\n" + text +
                         r"\\n[0-9.]+% \(self [0-9.]+%\)\\n([0-9]+|-) " +
                         counted + r"\"", line)
        if match:
            name, module = [html.unescape(re.sub(r"\\(.)", r"\1", t))
                            for t in match.group(2, 3)]
            calls[match.group(1)] = figure(match.group(4))
            sums.add(name, module, figure(match.group(4)), 0)
        match = re.match(r'\tf([0-9]+) -> f([0-9]+) \[label="[0-9.]+%\\n'
                         r'([0-9]+|-)"', line)
        if match:
            into[match.group(2)] += figure(match.group(3))
    for number, count in calls.items():
        if (into[number] != count if counted == "calls" else
                number in into and into[number] < count):
            fail("%d calls of f%s by arrows, %d" % (into[number], number,
                                                    count))


def numbers_of(data):
    value, shift = 0, 0
    for byte in data:
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            yield value
            value, shift = 0, 0


def read_pprof(data, sums):
    """By the field numbers of profile.proto."""
    strings, samples, types, comments = [], [], [], []
    tables = {3: {}, 4: {}, 5: {}}  # mappings, locations, functions
    for field, value in fields_of(gzip.decompress(data)):
        if field == 6:
            strings.append(value.decode())
        elif field == 2:
            samples.append(list(fields_of(value)))
        elif field == 1:
            types.append(dict(fields_of(value)))
        elif field == 13:
            comments.append(value)
        elif field in tables:
            entry = list(fields_of(value))
            tables[field][dict(entry)[1]] = entry
    if strings[0] != "":
        fail("the first string")
    if [(strings[t[1]], strings[t[2]]) for t in types] != [
            (counted, "count"),
            ("time" if counted == "calls" else "cpu", "nanoseconds"),
            ("waiting", "nanoseconds")][:len(types)] or len(types) < 2:
        fail("types of samples")
    # "mapping[0] will be the main binary": pprof calls the profile after it
    command = next(strings[at] for at in comments
                   if strings[at].startswith("command: ")).split(" ")[1]
    program = os.path.realpath(shutil.which(command) or command)
    first = strings[dict(next(iter(tables[3].values())))[5]]
    if first != program:
        fail("the first mapping is %s, not %s" % (first, program))
    for sample in samples:
        sample = dict(sample)
        stack = []
        for number in numbers_of(sample[1]):
            location = tables[4][number]
            line = dict(fields_of([v for f, v in location if f == 4][-1]))
            function = dict(tables[5][line[1]])
            mapping = dict(tables[3].get(dict(location).get(2), []))
            stack.append((strings[function.get(2, 0)],
                          base_name(strings[mapping.get(5, 0)])))
        calls, self_ns, *waiting_ns = numbers_of(sample[2])
        if len(waiting_ns) != len(types) - 2:
            fail("values of a sample")
        sums.add(*stack[0], calls, self_ns)
        sums.add_inclusive(stack + [(root(), "-")], self_ns)
        if waiting_ns:
            sums.wait_in(stack[0], stack, waiting_ns[0])


READERS = {
    "text": read_text,
    "tree": read_tree,
    "folded": read_folded,
    "folded-calls": lambda data, sums: read_folded(data, sums, True),
    "callgrind": read_callgrind,
    "csv": read_csv,
    "json": read_json,
    "speedscope": read_speedscope,
    "speedscope-calls": lambda data, sums: read_speedscope(data, sums, True),
    "dot": read_dot,
    "pprof": read_pprof,
}


def rows_of(sums, options):
    """Where several functions have the same names, a stack may have more than
    one of them: their inclusive times are not compared."""
    rows = defaultdict(lambda: [0, 0, 0, 0, 0])
    for name, module in set(sums.calls) | set(sums.self_ns) | set(
            sums.incl_ns) | set(sums.waiting or {}):
        key = shown_as(name, module, options)
        rows[key][0] += sums.calls.get((name, module), 0)
        rows[key][1] += sums.self_ns.get((name, module), 0)
        rows[key][2] += sums.incl_ns.get((name, module), 0)
        if sums.waiting:
            rows[key][3] += sums.waiting[name, module][0]
            rows[key][4] += sums.waiting[name, module][1]
    out = []
    for (name, module), (calls, self_ns, incl_ns, *wait) in sorted(
            rows.items()):
        no_incl = "no-incl" in options or (name, module) in options
        values = ["-" if "no-calls" in options else str(calls),
                  "-" if "no-self" in options else str(self_ns),
                  "-" if no_incl else str(incl_ns)]
        if "no-wait" not in options:
            values += [str(wait[0]), "-" if no_incl else str(wait[1])]
        if set(values) - {"-", "0"}:
            out.append("  ".join(values + [name, module]))
    return out


def shown_as(name, module, options):
    if "folded-names" in options:
        name = folded_name(name)
    if "plain-names" in options:
        name = plain_name(name)
    return name, "-" if "names" in options else module


def ambiguous(table, options):
    """The names that are shown for more than one function."""
    count = defaultdict(int)
    for function, rows in table.rows.items():
        count[shown_as(*function, options)] += rows
    return [shown for shown, rows in count.items() if rows > 1]


def read(form, path):
    sums = Sums()
    with open(path, "rb") as file:
        READERS[form](file.read(), sums)
    return sums


def main():
    table = read("text", sys.argv[1])
    if not table.calls:
        fail("no functions at all")
    for argument in sys.argv[2:]:
        form, path, *options = argument.split(",")
        sums = read(form, path)
        if not sums.incl_ns:
            options.append("no-incl")
        if form in ("folded", "folded-calls", "dot", "speedscope-calls"):
            options.append("no-wait")
        elif table.waiting is None and table.tells_waiting:
            # the table has columns where waiting was recorded; others have
            # them too where a helper has looked, which takes some time
            options.append("no-wait")
        elif (sums.waiting is None) != (table.waiting is None):
            fail("one of %s and the table has no waiting" % form)
        options += ambiguous(table, options)
        if form == "callgrind":  # nothing calls them
            options += [("[outside]", "-"), ("[unknown caller]", "-")]
        if joined or counted == "samples":  # is no row of a table
            for sums_of in (sums.calls, sums.self_ns, sums.incl_ns,
                            sums.waiting or {}):
                sums_of.pop(("[all]", "-"), None)
                sums_of.pop(("[unknown caller]", "-"), None)
        expected = rows_of(table, options)
        found = rows_of(sums, options)
        for line in difflib.unified_diff(expected, found, "text", form,
                                         lineterm="", n=0):
            print(line.encode(errors="backslashreplace").decode())


if __name__ == "__main__":
    main()

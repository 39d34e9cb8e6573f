#!/usr/bin/env bash
# dump_this: the fields of objects are what the program says that they are, at each
# entry and return; changes are those that there were.
. "${BASH_SOURCE%/*}/lib.sh"
. "$TOP/tests/e2e/profiles.sh"
need python3 g++

cat >program.cc <<'END'
#include <array>
#include <atomic>
#include <map>
#include <stdio.h>
#include <string>
#include <string_view>
#include <vector>
#define F __attribute__((noipa))
#define NOTE inline __attribute__((always_inline))

enum mode { IDLE, BUSY, CLOSED };
struct point { int x, y; };
struct place { point at; double height; };
struct base { int id; F virtual ~base() {} base(int n) : id(n) {} };

struct account : base {
	place where{{1, 2}, 0.5};
	std::string owner;
	std::string_view view = "seen";
	const char *note = "a note";
	mode state = IDLE;
	bool open = true;
	unsigned low : 3, high : 5;
	short list[3] = {1, 2, 3};
	std::vector<int> log;
	std::map<int, int> limits;
	std::atomic<int> count{0};
	std::pair<int, char> pair{4, 'p'};
	std::u16string wide = u"wide";
	int account::*field = nullptr;
	account *next = nullptr;

	NOTE void tell(const char *what, const char *when)
	{
		static const char *const modes[] = {"IDLE", "BUSY", "CLOSED"};
		char pointer[40] = "NULL";
		if (next)
			snprintf(pointer, sizeof pointer, "%p", (void *)next);
		printf("%s\t%s\t{id = %d, where.at.x = %d, where.at.y = %d, where.height = %g, "
			"owner = \"%s\", view = \"%s\", note = \"%s\", state = %s, open = %s, low = %u, "
			"high = %u, list = [%d, %d, %d], log = {size = %zu}, limits = {size = %zu}, "
			"count = %d, pair.first = %d, pair.second = '%c', wide = {size = 4}, "
			"field = 0xffffffffffffffff, next = %s}\n", what, when,
			id, where.at.x, where.at.y, where.height, owner.c_str(), view.data(), note,
			modes[state], open ? "true" : "false", low, high, list[0], list[1], list[2],
			log.size(), limits.size(), count.load(), pair.first, pair.second, pointer);
	}

	F account(int n, const char *name) : base(n), owner(name), low(1), high(2)
	{
		tell("account", "return");
	}
	F ~account()
	{
		tell("~account", "entry");
	}
	F int deposit(int n)
	{
		tell("deposit", "entry");
		if (!open || state == CLOSED) {
			tell("deposit", "return");
			return -1;
		}
		where.at.x += n;
		log.push_back(n);
		limits[n] = 1;
		count++;
		high = n;
		tell("deposit", "return");
		return n;
	}
	F void rename(const char *name)
	{
		tell("rename", "entry");
		owner = name;
		list[1]++;
		pair.second++;
		tell("rename", "return");
	}
	F int look() const
	{
		const_cast<account *>(this)->tell("look", "entry");
		const_cast<account *>(this)->tell("look", "return");
		return id;
	}
};

int main()
{
	account a(1, "short"), b(2, "a name that is too long to be in the object itself");

	a.deposit(3);
	b.deposit(4);
	b.next = &a;
	b.where.height = 1.25;
	a.deposit(5);
	b.rename("brief");
	a.rename("another name that does not fit in place");
	a.look();
	b.open = false;
	b.deposit(6);
	a.state = CLOSED;
	a.note = "closed";
	a.deposit(7);
	b.look();
	return 0;
}
END
cat >read.py <<'END'
"""Puts together what the objects were, from what `-f calls` shows of changes:
read.py CALLS SHOWN: the lines that the program printed."""
import re
import sys

FIELD = re.compile(r'(?P<name>[\w.]+)(?:: (?P<old>"[^"]*"|\[[^]]*\]|\{[^}]*\}|[^,{}\[]*?) -> '
                   r'(?P<new>"[^"]*"|\[[^]]*\]|\{[^}]*\}|[^,{}\[]*)'
                   r'| = (?P<same>"[^"]*"|\[[^]]*\]|\{[^}]*\}|[^,{}\[]*))(?:, |$)')
states, open_calls, wrong = {}, [], 0


def fields(text):
    at = 0
    while at < len(text):
        found = FIELD.match(text, at)
        if not found:
            raise SystemExit('no field: %r' % text[at:])
        yield found
        at = found.end()


def show(what, when, state):
    print('%s\t%s\t{%s}' % (what, when, ', '.join('%s = %s' % each for each in state.items())))


def begin(line):
    global wrong
    found = re.search(r'([~\w]+)\(this = (0x\w+)(?:, \*this = \{(.*)\})?(?:, (?:n|name) = [^}]*)*\)(?= |$)', line)
    name, address, text = found.groups()
    before = dict(states.get(address, {}))
    if text is not None:
        state = {}
        for field in fields(text):
            state[field['name']] = field['new'] if field['same'] is None else field['same']
            if field['same'] is None and before.get(field['name']) != field['old']:
                wrong += 1
                print('%s was %r' % (field['name'], before.get(field['name'])))
            if field['same'] is not None and before and before[field['name']] != field['same']:
                wrong += 1
                print('%s changed, and it is not said' % field['name'])
        show(name, 'entry', state)
        states[address] = state
    open_calls.append((name, address))


def end(text):
    global wrong
    name, address = open_calls.pop()
    found = re.search(r'\*this(: | = )(.*?)(?:  <- .*)?$', text)
    if not found:
        return
    state = states.setdefault(address, {})
    if found[1] == ' = ':
        state = states[address] = {each['name']: each['same'] for each in fields(found[2][1:-1])}
    elif found[2] != 'unchanged':
        for field in fields(found[2]):
            if state[field['name']] != field['old']:
                wrong += 1
                print('%s was %r' % (field['name'], state[field['name']]))
            state[field['name']] = field['new']
    show(name, 'return', state)


for line in open(sys.argv[1]):
    line = line.rstrip('\n')
    if line.startswith('#') or '(this' not in line and not re.search(r'\} ', line):
        continue
    if line.endswith(' {'):
        begin(line)
    elif '(this' in line:
        cut = line.find(')  *this')
        for after in (') = ', ')  *this'):
            if cut < 0 and after in line:
                cut = line.rindex(after)
        begin(line[:cut + 1] if cut >= 0 else line)
        end(line[cut + 1:] if cut >= 0 else '')
    else:
        end(line)
sys.exit(wrong != 0)
END
cat >config <<'END'
[class@account]
dump_this = yes
[module@lib*]
show = no_calls
[func@std::*]
show = no_calls
[func@base::*]
show = no
END
for level in -O0 -O2; do
	it "shows what the program says, $level"
	g++ -g $level -o program program.cc || abort 'no program'
	"$RUN" -q -m trace --config config -F 'account::*' -o profile ./program >truth || abort 'no profile'
	"$DUMP" -q --config config -H '!account::*' -f calls profile >calls
	python3 read.py calls >shown || fail "$(head -n 5 shown)"
	assert_same truth shown
done

it 'says how the object of a call that failed differs'
assert_matches calls 'deposit\(.*n = 6\) = -1.*<- unlike the last that succeeded: .*open = false, not true'
assert_matches calls 'deposit\(.*n = 7\) = -1.*<- unlike the last that succeeded: .*state = CLOSED, not IDLE'
assert_matches calls 'look\(.*\) = 1  \*this: unchanged'

it 'marks changes by colour'
"$DUMP" -q --config config -H '!account::*' -f calls --color=always -o - profile >coloured
assert_matches coloured $'\033\\[[0-9;]*mwhere.height: 0.5 -> 1.25\033'

it 'shows the same in a page'
if has_chromium; then
	"$DUMP" -q --config config -H '!account::*' -f calls-html -o page.html profile
	timeout 300 python3 "$TOP/tests/html/calls.py" objects page.html calls "$TMP/page.png" \
		>wrong 2>&1 || fail "$(head -n 20 wrong)"
fi

it 'decides by a text in the object'
cp config deciding
printf '[func@account::deposit]\nonly_show_if = arg,*this.owner,==,"brief"\n' >>deciding
"$RUN" -q -m trace --config deciding -F 'account::*' -o profile ./program >/dev/null ||
	abort 'no profile'
"$DUMP" -q --config config -f calls profile >calls
assert_eq 1 "$(grep -c 'deposit(' calls)" 'deposits of brief'
assert_matches calls 'deposit\(.*owner = "brief".*n = 6\) = -1'

it 'shows the fields that were asked for'
cat >few <<'END'
[class@account]
dump_this = where.at,open
END
"$RUN" -q -m trace --config few -F 'account::*' -o profile ./program >/dev/null || abort 'no profile'
"$DUMP" -q -H '!account::*' -f calls profile >calls
assert_matches calls 'deposit\(this = 0x[0-9a-f]+, \*this = \{where.at.x = 1, where.at.y = 2, open = true\}, n = 3\) = 3  \*this: where.at.x: 1 -> 4$'

finish

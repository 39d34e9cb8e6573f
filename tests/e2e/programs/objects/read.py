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

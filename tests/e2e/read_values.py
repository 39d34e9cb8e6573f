"""Reads the values of a trace's calls back from what swizzle-dump writes of them, and
prints where two formats differ.

    read_values.py CHROME PERFETTO SQLITE CALLS

are files of -f chrome, perfetto, sqlite and calls. A call is [function, calls around it,
[[name, value] at its begin], [the same at its end]]; those of a thread are in the order
of their begins."""

import json
import sqlite3
import re
import sys

from protobuf_fields import fields

wrong = 0


def say(message):
    global wrong
    wrong += 1
    if wrong <= 20:
        print(message)


class Thread:
    def __init__(self):
        self.calls, self.stack = [], []

    def begin(self, name, values):
        self.calls.append([name, len(self.stack), values, []])
        self.stack.append(self.calls[-1])

    def end(self, values):
        self.stack.pop()[3] = [value for value in values if value[0] != 'ended by']


def chrome(path):
    """{(pid, tid): calls}"""
    threads = {}
    with open(path) as file:
        # (pairs, as a name may come twice)
        events = dict(json.load(file, object_pairs_hook=lambda pairs: pairs))['traceEvents']
    for event in map(dict, events):
        if event['ph'] not in 'BE' or event.get('cat') == 'kernel':
            continue
        thread = threads.setdefault((event['pid'], event['tid']), Thread())
        values = [list(pair) for pair in event.get('args', [])]
        if event['ph'] == 'B':
            thread.begin(event['name'], values)
        else:
            thread.end(values)
    return {key: thread.calls for key, thread in threads.items()}


def perfetto(path):
    """The same, by the numbers of protos/perfetto/trace"""
    threads, tracks, names, track = {}, {}, {}, {}
    with open(path, 'rb') as file:
        packets = list(fields(file.read()))
    for _, packet in packets:
        packet = dict(fields(packet))
        sequence = packet.get(10, 0)
        if 59 in packet:
            defaults = dict(fields(dict(fields(packet[59]))[11]))
            track[sequence] = defaults[11]
        if 12 in packet:
            for number, entry in fields(packet[12]):
                entry = dict(fields(entry))
                if number == 2:
                    names[sequence, entry[1]] = entry[2].decode()
        if 60 in packet:
            about = dict(fields(packet[60]))
            if 4 in about:
                thread = dict(fields(about[4]))
                tracks[about[1]] = thread[1], thread[2]
        if 11 not in packet:
            continue
        event = dict(fields(packet[11]))
        if event[9] == 3:
            continue
        thread = threads.setdefault(tracks[event.get(11, track[sequence])], Thread())
        values = [[note[10].decode(), note[6].decode()] for note in
                  (dict(fields(value)) for number, value in fields(packet[11]) if number == 4)]
        if event[9] == 1:
            thread.begin(names[sequence, event[10]], values)
        else:
            thread.end(values)
    return {key: thread.calls for key, thread in threads.items()}


def sqlite(path):
    threads, calls = {}, {}
    base = sqlite3.connect(f'file:{path}?mode=ro', uri=True)
    for event, pid, tid, name, depth in base.execute(
            '''SELECT e.id, p.pid, t.tid, f.name, e.depth FROM events e
            JOIN threads t ON t.id = e.thread JOIN processes p ON p.id = t.process
            JOIN functions f ON f.id = e.function ORDER BY e.id'''):
        calls[event] = [name, depth, [], []]
        threads.setdefault((pid, tid), []).append(calls[event])
    for event, moment, position, name, value, number, text in base.execute(
            'SELECT * FROM call_values ORDER BY event, moment, position'):
        values = calls[event][2 if moment == 'entry' else 3]
        values.append([name, value])
        if position != len(values):
            say(f'position {position} of {name}, not {len(values)}')
        # what can be compared says the same as what is shown
        if text is not None and value.startswith('"') and '\\' not in value:
            shown = value.rstrip('.?')[1:-1]
            if shown != text:
                say(f'text {text!r} of {value}')
        if number is not None and value.lstrip('-').isdigit() and int(value) != number:
            say(f'number {number} of {value}')
        if value.lstrip('-').isdigit() and len(value) < 19 and number is None:
            say(f'no number of {value}')
    return threads


def lines_of(calls):
    """The calls as -f calls has them, without what it says besides."""
    lines = []
    for name, _, entry, back in calls:
        text = name
        if entry:
            text += '(%s)' % ', '.join(' = '.join(value) for value in entry)
        result = [value for value in back if not value[0].startswith('*')]
        if result:
            sign = '!' if result[0][0] == 'exception' else '='
            lines.append((text, f'{sign} {result[0][1]}'))
        elif entry:
            lines.append((text, ''))
    return lines


def main():
    chrome_path, perfetto_path, base, calls_path = sys.argv[1:]
    expected = chrome(chrome_path)
    for what, got in (('perfetto', perfetto(perfetto_path)), ('sqlite', sqlite(base))):
        for key in sorted(set(expected) | set(got)):
            mine, theirs = got.get(key, []), expected.get(key, [])
            if len(mine) != len(theirs):
                say(f'{what}: {len(mine)} calls of {key}, not {len(theirs)}')
            for call, other in zip(mine, theirs):
                if call != other:
                    say(f'{what}: {call}, not {other}')
    with open(calls_path, encoding='utf-8', errors='replace') as file:
        shown = re.sub(r' \[through [^]]*\]', '', file.read())
    valued = 0
    for calls in expected.values():
        for text, result in lines_of(calls):
            valued += 1
            # of a call that made others both are on lines of their own
            if text not in shown or result not in shown or \
                    (f'{text} {result}' not in shown and f'{text} {{' not in shown):
                say(f'calls: no {text} {result}')
    print(f'{valued} calls with values', file=sys.stderr)
    if valued < 3:
        say('there is nothing to compare')
    return wrong > 0


sys.exit(main())

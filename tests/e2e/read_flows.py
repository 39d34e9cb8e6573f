# Prints the flows of traces, as "CAUSE N > EFFECT N": the Nth call of that
# function in its thread (from 0) that the arrow begins or ends in.
#     read_flows.py chrome|perfetto FILE
#     read_flows.py calls FILE       # "woken by CAUSE: COUNT"
# An arrow that has one end, that leads back in time, or that ends in no call
# where it should is an error.
import collections
import json
import re
import sys

STARTS = 'thread', 'process', 'exec', 'signal'


class Thread:
    """The calls that are open, each with its number."""

    def __init__(self):
        self.stack = []
        self.calls = collections.Counter()

    def begin(self, name):
        self.stack.append(f'{name} {self.calls[name]}')
        self.calls[name] += 1

    def end(self):
        self.stack.pop()

    def latest(self):
        return self.stack[-1] if self.stack else 'nothing'


class Arrows:
    def __init__(self):
        self.begins = {}
        self.ends = {}

    def add(self, number, is_end, time, where):
        known = self.ends if is_end else self.begins
        assert number not in known, 'an end twice'
        known[number] = time, where

    def lines(self):
        assert self.begins.keys() == self.ends.keys(), 'one end is missing'
        for number, (time, cause) in self.begins.items():
            end, effect = self.ends[number]
            assert time <= end, 'an arrow leads back'
            yield f'{cause} > {effect}'


def chrome(path):
    threads = collections.defaultdict(Thread)
    arrows = Arrows()
    with open(path) as file:
        events = json.load(file)['traceEvents']
    for event in events:
        thread = threads[event['pid'], event['tid']]
        if event['ph'] == 'B':
            thread.begin(event['name'])
        elif event['ph'] == 'E':
            thread.end()
        elif event['ph'] in 'sf':
            assert event['cat'] == 'flow'
            assert event['ph'] == 's' or event['bp'] == 'e'
            arrows.add(event['id'], event['ph'] == 'f', event['ts'],
                       thread.latest())
    return arrows.lines()


def fields(data):
    """(number, value) of each field of a message of protocol buffers."""
    at = 0
    while at < len(data):
        numbers = []
        for _ in range(2):
            value = shift = 0
            while True:
                value |= (data[at] & 0x7f) << shift
                shift += 7
                at += 1
                if data[at - 1] < 0x80:
                    break
            numbers.append(value)
            if len(numbers) == 1 and value & 7 == 1:
                break
        key = numbers[0]
        if key & 7 == 0:
            yield key >> 3, numbers[1]
            continue
        size = 8 if key & 7 == 1 else numbers[1]
        yield key >> 3, data[at:at + size]
        at += size


def perfetto(path):
    threads = collections.defaultdict(Thread)
    names = collections.defaultdict(dict)
    arrows = Arrows()
    with open(path, 'rb') as file:
        data = file.read()
    for _, packet in fields(data):
        packet = dict(fields(packet))
        sequence = packet.get(10)
        for number, value in fields(packet.get(12, b'')):
            if number == 2:  # event_names: iid = 1, name = 2
                entry = dict(fields(value))
                names[sequence][entry[1]] = entry[2].decode()
        event = dict(fields(packet.get(11, b'')))
        thread = threads[sequence]
        if event.get(9) == 1:
            thread.begin(names[sequence][event[10]])
        elif event.get(9) == 2:
            thread.end()
        for number, word in ((47, 'wakes '), (48, 'woken by ')):
            if number in event:
                assert event[9] == 3 and event[22] == b'flow'
                assert event[23].decode().startswith(word)
                arrows.add(int.from_bytes(event[number], 'little'),
                           number == 48, packet[8], thread.latest())
    return arrows.lines()


def calls(path):
    with open(path) as file:
        found = re.findall(r'<- woken by (\S+) in', file.read())
    for name, count in collections.Counter(found).items():
        yield f'woken by {name}: {count}'


def natural(line):
    return [int(part) if part.isdigit() else part
            for part in re.split(r'(\d+)', line)]


READERS = {'chrome': chrome, 'perfetto': perfetto, 'calls': calls}
print(*sorted(READERS[sys.argv[1]](sys.argv[2]), key=natural), sep='\n')

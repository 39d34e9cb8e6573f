# Reads what swizzle-dump writes of a trace's events and prints, for each thread
# and function, how many calls there are:
#     THREAD  CALLS  FUNCTION
# and at the end "ended by REASON: COUNT" and "mark THREAD: TEXT" (of a process:
# "mark *: TEXT"). Whatever is not as the format demands
# (nesting, order of times, numbers without a name) is an error.
#     read_events.py chrome|speedscope|perfetto FILE
import collections
import json
import sys

from protobuf_fields import fields


class Thread:
    """Begins and ends of one thread, in order."""

    def __init__(self, name):
        self.name = name
        self.stack = []
        self.calls = collections.Counter()
        self.last = None

    def at(self, time):
        assert self.last is None or time >= self.last, 'time goes back'
        self.last = time

    def begin(self, time, name):
        self.at(time)
        self.stack.append(name)
        self.calls[name] += 1

    def end(self, time, name=None):
        self.at(time)
        assert self.stack, 'an end without a begin'
        begun = self.stack.pop()
        assert name is None or name == begun, f'{name} ends {begun}'

    def close(self):
        assert not self.stack, f'not ended: {self.stack}'


endings = collections.Counter()
marks = []


def chrome(path):
    threads = {}
    processes = set()
    with open(path) as file:
        events = json.load(file)['traceEvents']
    for event in events:
        key = event['pid'], event['tid']
        if event['ph'] == 'M':
            if event['name'] == 'process_name':
                processes.add(event['pid'])
            else:
                assert event['name'] == 'thread_name'
                assert event['pid'] in processes
                assert key not in threads, 'a thread twice'
                threads[key] = Thread(event['args']['name'])
            continue
        time = event['ts']
        assert isinstance(time, (int, float)) and time >= 0
        if event['ph'] == 'B':
            assert event['cat']
            threads[key].begin(time, event['name'])
        elif event['ph'] == 'i':
            assert event['cat'] == 'mark' and event['s'] in 'tp'
            threads[key].at(time)
            marks.append((threads[key].name if event['s'] == 't' else '*',
                          event['name']))
        else:
            assert event['ph'] == 'E'
            threads[key].end(time)
            if 'args' in event:
                endings[event['args']['ended by']] += 1
    return threads.values()


def speedscope(path):
    threads = []
    with open(path) as file:
        top = json.load(file)
    assert top['$schema'] == 'https://www.speedscope.app/file-format-schema.json'
    frames = top['shared']['frames']
    for profile in top['profiles']:
        assert profile['type'] == 'evented'
        assert profile['unit'] == 'nanoseconds'
        thread = Thread(profile['name'].split(', ')[-1])
        for event in profile['events']:
            assert profile['startValue'] <= event['at'] <= profile['endValue']
            name = frames[event['frame']]['name']
            if event['type'] == 'O':
                thread.begin(event['at'], name)
            else:
                assert event['type'] == 'C'
                thread.end(event['at'], name)
        threads.append(thread)
    return threads


# ---- perfetto: the encoding of protocol buffers, and of the messages in
# protos/perfetto/trace the fields that are known here.

def message(data):
    """Fields that occur once at most, by their number."""
    result = {}
    for number, value in fields(data):
        assert number not in result, f'field {number} twice'
        result[number] = value
    return result


class Sequence:
    def __init__(self):
        self.cleared = False
        self.track = None
        self.names = {}
        self.categories = {}


def intern(known, data):
    entry = message(data)  # EventName, EventCategory: iid = 1, name = 2
    assert entry[1] not in known, 'a number for two names'
    assert entry[1] != 0, 'iid 0 is none'
    known[entry[1]] = entry[2].decode()


def perfetto(path):
    threads = {}
    processes = {}
    sequences = collections.defaultdict(Sequence)
    with open(path, 'rb') as file:
        data = file.read()
    for number, packet in fields(data):
        assert number == 1, 'Trace.packet'
        packet = message(packet)
        sequence = sequences[packet.get(10, 0)]  # trusted_packet_sequence_id
        if packet.get(13, 0) & 1:  # SEQ_INCREMENTAL_STATE_CLEARED
            sequence.cleared = True
            sequence.names, sequence.categories = {}, {}
        if packet.get(13, 0) & 2:  # SEQ_NEEDS_INCREMENTAL_STATE
            assert sequence.cleared
        if 59 in packet:  # trace_packet_defaults.track_event_defaults.track_uuid
            sequence.track = message(message(packet[59])[11])[11]
        if 12 in packet:  # interned_data
            for number, value in fields(packet[12]):
                assert number in (1, 2)
                intern(sequence.categories if number == 1 else sequence.names,
                       value)
        if 60 in packet:  # track_descriptor
            track = message(packet[60])
            assert track[1] not in threads and track[1] not in processes
            if 3 in track:  # process: pid = 1, cmdline = 2, process_name = 6
                processes[track[1]] = dict(fields(track[3]))[1]
            else:  # thread: pid = 1, tid = 2, thread_name = 5
                thread = message(track[4])
                assert processes[track[5]] == thread[1], 'parent_uuid'
                threads[track[1]] = Thread(thread[5].decode())
        if 11 in packet:  # track_event
            event = dict(fields(packet[11]))
            time = packet[8]
            if event[9] == 3:  # TYPE_INSTANT: categories = 22, name = 23
                assert event[22] == b'mark'
                track = event.get(11, sequence.track)
                marks.append(('*' if track in processes else
                              threads[track].name, event[23].decode()))
                continue
            thread = threads[event.get(11, sequence.track)]
            if event[9] == 1:  # TYPE_SLICE_BEGIN
                assert sequence.categories[event[3]]
                thread.begin(time, sequence.names[event[10]])
            else:
                assert event[9] == 2  # TYPE_SLICE_END
                thread.end(time)
                # debug_annotations: name = 10, string = 6
                for field, value in fields(packet[11]):
                    note = message(value) if field == 4 else {}
                    assert not note or (note[10] and 6 in note)
                    if note.get(10) == b'ended by':
                        endings[note[6].decode()] += 1
    return threads.values()


def main():
    readers = {'chrome': chrome, 'speedscope': speedscope, 'perfetto': perfetto}
    threads = list(readers[sys.argv[1]](sys.argv[2]))
    lines = []
    for thread in threads:
        thread.close()
        for name, calls in thread.calls.items():
            lines.append(f'{thread.name}  {calls}  {name}')
    print(*sorted(lines), sep='\n')
    for reason, count in sorted(endings.items()):
        print(f'ended by {reason}: {count}')
    for thread, text in marks:
        print(f'mark {thread}: {text}')


if __name__ == '__main__':
    main()

"""Reads a Perfetto trace by what protoc has made of perfetto.proto, and prints
how often each function was called, and for how long the outermost calls lasted:

    perfetto_calls.py DIRECTORY-OF-perfetto_pb2 FILE

    CALLS INCLUSIVE MODULE NAME     (tabs between)
"""

import collections
import sys

sys.path.insert(0, sys.argv[1])
import perfetto_pb2 as perfetto  # noqa: E402


def known(message):
    """Nothing in it that the schema does not have."""
    assert len(message.UnknownFields()) == 0, message
    for field, value in message.ListFields():
        if field.type == field.TYPE_MESSAGE:
            for part in value if field.label == field.LABEL_REPEATED else [
                    value]:
                known(part)


class Thread:
    def __init__(self):
        self.stack = []
        self.last = 0
        self.open = collections.Counter()


def main():
    trace = perfetto.Trace()
    with open(sys.argv[2], 'rb') as file:
        trace.ParseFromString(file.read())
    assert len(trace.UnknownFields()) == 0
    processes, threads, defaults = set(), {}, {}
    names, categories = {}, {}
    calls, inclusive = collections.Counter(), collections.Counter()
    for packet in trace.packet:
        known(packet)
        sequence = packet.trusted_packet_sequence_id
        flags = packet.sequence_flags
        if flags & perfetto.TracePacket.SEQ_INCREMENTAL_STATE_CLEARED:
            names[sequence], categories[sequence] = {}, {}
        if packet.HasField('trace_packet_defaults'):
            event = packet.trace_packet_defaults.track_event_defaults
            defaults[sequence] = event.track_uuid
        for kinds, entries in ((categories, 'event_categories'),
                               (names, 'event_names')):
            for entry in getattr(packet.interned_data, entries):
                assert entry.iid not in kinds[sequence]
                kinds[sequence][entry.iid] = entry.name
        if packet.HasField('track_descriptor'):
            track = packet.track_descriptor
            if track.HasField('process'):
                processes.add(track.uuid)
            else:
                assert track.parent_uuid in processes
                assert track.uuid not in threads
                threads[track.uuid] = Thread()
        if not packet.HasField('track_event'):
            continue
        event = packet.track_event
        thread = threads[event.track_uuid or defaults[sequence]]
        assert packet.timestamp >= thread.last
        thread.last = packet.timestamp
        if event.type == event.TYPE_SLICE_BEGIN:
            assert flags & perfetto.TracePacket.SEQ_NEEDS_INCREMENTAL_STATE
            key = (categories[sequence][event.category_iids[0]],
                   names[sequence][event.name_iid])
            calls[key] += 1
            thread.open[key] += 1
            thread.stack.append((key, packet.timestamp))
        else:
            assert event.type == event.TYPE_SLICE_END
            key, begun = thread.stack.pop()
            thread.open[key] -= 1
            if not thread.open[key]:
                inclusive[key] += packet.timestamp - begun
    for thread in threads.values():
        assert not thread.stack
    for (module, name), count in calls.items():
        print(count, inclusive[module, name], module, name, sep='\t')


main()

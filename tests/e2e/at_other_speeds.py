#!/usr/bin/env python3
"""Makes runs of one whose clocks ran at other speeds: all times are multiples of its
own, those of the processor, too.

    at_other_speeds.py PROFILE NAME SPEED... [-- NAME SPEED...]...

writes NAME.1, NAME.2 and so on."""

import struct
import sys

CLOCK = 72  # in the header: three samples of ticks and ns
HEADER = 4096
THREAD = 4  # the type of a chunk
PROCESSOR = 64 + 72  # in such a chunk: ns at the start, and as read last


def threads(data):
    """Where their processor times lie."""
    magic, at = data[HEADER:HEADER + 4], HEADER
    while data[at:at + 4] == magic:
        kind, size = struct.unpack_from("<IQ", data, at + 4)
        if kind == THREAD:
            yield at + PROCESSOR
        at += size


profile, *words = sys.argv[1:]
data = bytearray(open(profile, "rb").read())
processor = [(at, *struct.unpack_from("<QQ", data, at)) for at in threads(data)]
clock = [struct.unpack_from("<QQ", data, CLOCK + 16 * i) for i in range(3)]
while words:
    end = words.index("--") if "--" in words else len(words)
    name, *speeds = words[:end]
    words = words[end + 1:]
    for number, speed in enumerate(map(float, speeds)):
        for i, (ticks, ns) in enumerate(clock):
            if ns:
                ns = clock[0][1] + round((ns - clock[0][1]) * speed)
            struct.pack_into("<QQ", data, CLOCK + 16 * i, ticks, ns)
        for at, start, now in processor:
            struct.pack_into("<QQ", data, at, start, start + round((now - start) * speed))
        with open("%s.%d" % (name, number + 1), "wb") as file:
            file.write(data)

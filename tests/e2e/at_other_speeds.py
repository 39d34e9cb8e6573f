#!/usr/bin/env python3
"""Makes runs of one whose clock ran at other speeds: all times are multiples of its
own.

    at_other_speeds.py PROFILE NAME SPEED... [-- NAME SPEED...]...

writes NAME.1, NAME.2 and so on."""

import struct
import sys

CLOCK = 72  # in the header: three samples of ticks and ns

profile, *words = sys.argv[1:]
data = bytearray(open(profile, "rb").read())
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
        with open("%s.%d" % (name, number + 1), "wb") as file:
            file.write(data)

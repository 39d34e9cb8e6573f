# SUM TYPE: its chunks of ranks get another type, or (0) one has a wrong byte.
import struct, sys
profile = bytearray(open(sys.argv[1], 'rb').read())
at = 4096
while at + 64 <= len(profile):
    kind, size = struct.unpack_from('<IQ', profile, at + 4)
    if kind in (14, 15) and int(sys.argv[2]):
        struct.pack_into('<I', profile, at + 4, int(sys.argv[2]))
    elif kind == 15:
        profile[at + 64 + 6] ^= 0xff
        break
    at += size
open(sys.argv[1], 'wb').write(profile)

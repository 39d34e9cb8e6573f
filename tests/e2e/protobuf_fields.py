"""The encoding of protocol buffers."""


def fields(data):
    """(number, value) of each field; bytes where a length is given."""
    at = 0

    def varint():
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 0x7f) << shift
            shift += 7
            if byte < 0x80:
                return value

    while at < len(data):
        key = varint()
        if key & 7 == 0:
            yield key >> 3, varint()
        elif key & 7 == 2:
            size = varint()
            assert at + size <= len(data), 'a field is cut off'
            yield key >> 3, data[at:at + size]
            at += size
        elif key & 7 == 1:
            yield key >> 3, data[at:at + 8]
            at += 8
        else:
            raise AssertionError(f'wire type {key & 7}')

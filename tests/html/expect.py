"""What is expected and what is there: failures are printed and counted, each with
what was looked at (`current`)."""

failures = 0
current = ''


def fail(message):
    global failures
    failures += 1
    print('%s: %s' % (current, message) if current else message)


def equal(expected, actual, what):
    if expected != actual:
        fail('%s: expected %r, got %r' % (what, expected, actual))


def close(expected, actual, slack, what):
    if abs(expected - actual) > slack:
        fail('%s: expected %r, got %r' % (what, expected, actual))


def between(least, actual, most, what):
    """The page has whole ns where a trace has ticks: an event that is as far
    from a range's border as that may be on either side of it."""
    if not least <= actual <= most:
        fail('%s: expected %s to %s, got %s' % (what, least, most, actual))

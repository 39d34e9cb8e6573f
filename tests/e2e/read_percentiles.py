#!/usr/bin/env python3
"""Compares percentiles with those of the trace of the same run.

read_percentiles.py DATABASE FUNCTION...

DATABASE is of -f sqlite --no-compensate. Prints a line for each function: its
name, how many calls have ended, how many of them have times. Fails where a
percentile is not within 0.8 % (or a ns) of the call with that rank.
"""

import math
import sqlite3
import sys

SHARES = {"p50_ns": 0.5, "p90_ns": 0.9, "p99_ns": 0.99, "p999_ns": 0.999}


def main():
    base = sqlite3.connect(sys.argv[1])
    base.row_factory = sqlite3.Row
    failed = 0
    for name in sys.argv[2:]:
        row = base.execute("SELECT * FROM functions WHERE name = ?", (name,)).fetchone()
        times = sorted(
            r[0]
            for r in base.execute(
                "SELECT duration_ns FROM events WHERE function = ? "
                "AND duration_ns IS NOT NULL",
                (row["id"],),
            )
        )
        print(name, len(times), row["timed_calls"])
        kept = base.execute(
            "SELECT sum(calls) FROM call_times WHERE function = ?", (row["id"],)
        ).fetchone()[0]
        if kept != row["timed_calls"]:
            print(f"call_times of {name} has {kept} calls")
            failed = 1
        for column, share in SHARES.items():
            exact = times[math.ceil(len(times) * share - 1e-9) - 1]
            if abs(row[column] - exact) > exact * 0.008 + 1:
                print(f"{column} of {name} is {row[column]}, by the events {exact}")
                failed = 1
    return failed


if __name__ == "__main__":
    sys.exit(main())

"""Tells the pages of a running house that topics changed: `python -m tests.e2e.announcer`, a line of topics each time.

A line is answered once its hints are on their way, by the same function that the desk's own rooms call.
"""

import sys

import django


def main() -> None:
    """Until the input ends."""
    django.setup()
    from desk.live import announcements

    for line in sys.stdin:
        for topic in line.split():
            announcements.announce(topic)
        print("announced", flush=True)


if __name__ == "__main__":
    main()

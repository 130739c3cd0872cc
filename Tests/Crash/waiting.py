# SPDX-License-Identifier: Apache-2.0
"""Waiting for facts, and what is wrong when a promise is broken."""

import time


class Finding(Exception):
    """A promise of the product is broken."""


def until(fact, what, seconds=30, every=0.005):
    """Asks until the answer is neither false nor nothing, and returns it."""
    end = time.monotonic() + seconds
    while True:
        answer = fact()
        if answer:
            return answer
        if time.monotonic() > end:
            raise Finding(f"not within {seconds} s: {what}")
        time.sleep(every)

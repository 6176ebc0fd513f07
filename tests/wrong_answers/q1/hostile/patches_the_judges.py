"""expect: fail

It makes each verdict true and equal to every other; only what the functions do may count.
"""

import labkit.checks
import labkit.verdict

for module in (labkit.verdict, labkit.checks):
    for value in list(vars(module).values()):
        if isinstance(value, type) and value.__module__.startswith("labkit"):
            value.__eq__ = lambda self, other: True
            value.__bool__ = lambda self: True
            value.holds = True


def tolerated_misses(n):
    return n


def longest_interval(ttl, misses, attempt, margin):
    return ttl


def keep_alive(lock, lease, interval, stop, on_lost):
    stop.wait()

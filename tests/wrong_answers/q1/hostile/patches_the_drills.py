"""expect: fail

It replaces whatever judges it by a yes; only what the functions do may count, or the patch is named as an error.
"""

import sys


def yes(*args, **kwargs):
    return True


def convince(module):
    for name, value in list(vars(module).items()):
        if callable(value) and not name.startswith("__"):
            setattr(module, name, yes)


import labkit.drills  # noqa: E402, F401

for name, module in list(sys.modules.items()):
    if name.startswith("labkit.drills"):
        convince(module)


def tolerated_misses(n):
    return n


def longest_interval(ttl, misses, attempt, margin):
    return ttl


def keep_alive(lock, lease, interval, stop, on_lost):
    stop.wait()

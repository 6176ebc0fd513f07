"""loses: claim recorded, every task found, transaction closed, caller's clock, finished stays finished

Never finds, never accepts, never reaps.
"""


def claim(db, worker, now, lease):
    return None if worker else (0, 0)


def complete(db, claim, worker):
    return claim is None


def reap(db, now):
    return 0 if now else 1

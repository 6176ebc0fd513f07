"""loses: claim recorded, every task found, transaction closed, caller's clock, finished stays finished

Does nothing, and says what may be right.
"""


def claim(db, worker, now, lease):
    return 1, 1


def complete(db, claim, worker):
    return claim is not worker


def reap(db, now):
    return 3 if now else 0

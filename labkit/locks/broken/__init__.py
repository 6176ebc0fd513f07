"""The classic mistakes, each in a file of its own: one wrong step, all else as in `SafeLock`.

They teach, and they test the checks: `CAUGHT_BY` names the check that must find the flaw.
"""

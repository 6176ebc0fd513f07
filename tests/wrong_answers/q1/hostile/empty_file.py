"""expect: not attempted

It should say that none of the three functions is there yet.
"""

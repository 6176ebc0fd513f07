"""Measurements against the goals, against peers and against the floor: `make bench`, or `python -m benchmarks`.

What is compared runs side by side in one process, in interleaved rounds, and the figure is a median: so a busy machine
slows both sides. One file a subject; each names its figures in `FIGURES`, the machinery is in `common.py`.
"""

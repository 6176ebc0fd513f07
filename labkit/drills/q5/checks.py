"""The checks of question 5: for each, what befalls a pod, and what the judge then asks of the run.

A judge says PASS only of a run that came to the point in question. Points are given if no variant fails and at least
one came to that point. Slack is 1/1000 of a TTL.
"""

from __future__ import annotations

from . import cases, ending, working
from .cases import trial

TRIALS = {
    "waiting for the lock": trial(
        cases.waiting, working.judge_waiting, "long", "unreachable", "term", "grant", "before"
    ),
    "in order": trial(cases.order, working.judge_order, "plain", "one", "silence", "term"),
    "renewal": trial(cases.renewal, working.judge_renewal, "many", "heavy"),
    "transient errors": trial(cases.transient, working.judge_transient, "one", "silence", "refusal", "long"),
    "no late write": trial(
        cases.losing, working.judge_late_write, "cut", "refused", "paused", "stolen", "evicted", "grant", "extend"
    ),
    "stop obeyed": trial(cases.stop, ending.judge_stop, "step", "write", "renewal", "any", "waiting", "unreachable"),
    "unlock last": trial(cases.last, ending.judge_unlock_last, "done", "step", "write", "any"),
    "unlocked": trial(cases.unlocking, ending.judge_unlocked, "done", "term", "gone", "unreachable"),
    "told apart": trial(
        cases.telling, ending.judge_told_apart, "done", "term", "last", "gone", "waiting", "cut", "stolen", "paused"
    ),
    "no exception": trial(
        cases.raising, ending.judge_exceptions, "acquire", "one", "silence", "evicted", "gone", "unreachable"
    ),
}

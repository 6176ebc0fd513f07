"""What a judge of `acquire` and `release` looks at: one call, what it sent to whom, and what came back.

A reply counts from when it reached the client, before the call ended; an unlock counts from when it was sent, for one
that a silent node never gets leaves nothing behind. Who held a key is read from the servers, never from the commands.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property, wraps
from typing import Any

from ...derived import Op
from ...timeline import Event, Timeline
from ...wording import moment
from ..trial import Outcome, Remark, Run, error, fail, not_tested
from .stage import PATIENCE, SCRIPTS

HAIR = 2e-6  # seconds: the clock of a world counts whole microseconds
NEAR = 0.005  # seconds to which a deadline has to be right


@dataclass(frozen=True)
class Sent:
    """One command of A. reply: the beginning of what the server said, "" if it never executed it.  back: the event and
    the second at which the reply reached A; None if it did not."""

    seq: int
    t: float
    server: str
    words: tuple[str, ...]
    applied: Event | None
    back: Event | None

    @property
    def name(self) -> str:
        return self.words[0].upper()

    @property
    def reply(self) -> str:
        return str(self.applied.data.get("reply", "")) if self.applied else ""

    @property
    def options(self) -> list[str]:
        return [word.upper() for word in self.words[3:]]


@dataclass(frozen=True)
class Look:
    """One call of the answer, by its number among the calls of the run. Times in seconds of the run."""

    timeline: Timeline
    facts: Any
    variant: str
    what: str
    number: int = 0

    # -- the call ----------------------------------------------------------------------------------------------

    @property
    def name(self) -> str:
        return str(self.facts["name"])

    @property
    def ttl(self) -> float:
        return float(self.facts["ttl"])

    @property
    def drift(self) -> float:
        return 0.01 * self.ttl + 0.002

    @property
    def servers(self) -> list[str]:
        return list(self.facts["servers"])

    @property
    def needed(self) -> int:
        """How many are more than half."""
        return len(self.servers) // 2 + 1

    @property
    def call(self) -> Any:
        """What came of it, as plain data: see `stage`."""
        return self.facts["calls"][self.number]

    @cached_property
    def op(self) -> Op:
        return [op for op in self.timeline.ops(self.what) if op.node == "A"][self.number]

    @property
    def ended(self) -> tuple[int, float]:
        """The event and the second of the end of the call; of the run, if there was none."""
        if self.op.ret is None or self.op.end is None:
            return len(self.timeline.events), self.timeline.end
        return self.op.end, self.op.ret

    @property
    def granted(self) -> bool:
        return bool(self.call.get("truthy"))

    @property
    def gave(self) -> str:
        """What `acquire` returned, for a sentence."""
        return {"lease": "a Lease", "none": "None"}.get(self.call["kind"], str(self.call["shown"]))

    # -- what it sent ------------------------------------------------------------------------------------------

    @cached_property
    def sent(self) -> list[Sent]:
        """All that A sent from the beginning of the call on, and before the next one."""
        later = [op.seq for op in self.timeline.ops(self.what) if op.node == "A" and op.seq > self.op.seq]
        return list(self._between(self.op.seq, min(later, default=len(self.timeline.events))))

    def _between(self, first: int, last: int) -> Iterator[Sent]:
        applied = {cause: event for event, cause in self._caused("apply")}
        back = {cause: event for event, cause in self._caused("deliver")}
        for row in self.facts["sent"]:
            if first < row["seq"] < last:
                arrived = back.get(row["seq"])  # of the server
                done = applied.get(arrived.seq) if arrived else None
                heard = back.get(done.seq) if done else None
                yield Sent(row["seq"], row["t"], row["server"], tuple(row["words"]), done, heard)

    def _caused(self, kind: str) -> Iterator[tuple[Event, int]]:
        return ((event, event.cause) for event in self.timeline if event.kind == kind and event.cause is not None)

    @cached_property
    def sets(self) -> list[Sent]:
        return [each for each in self.sent if each.name == "SET" and each.words[1:2] == (self.name,)]

    @cached_property
    def asked(self) -> list[str]:
        """The nodes that were sent a SET."""
        return list(dict.fromkeys(each.server for each in self.sets))

    @cached_property
    def votes(self) -> list[str]:
        """The nodes that had said OK when the call ended."""
        end = self.ended[0]
        return [each.server for each in self.sets if each.reply == "+OK" and each.back and each.back.seq < end]

    @property
    def latest_deadline(self) -> float:
        """The deadline, if the clock was read when the first SET left."""
        return self.sets[0].t + self.ttl - self.drift

    @property
    def token(self) -> str:
        """The value that was set; at a release, that of the lease."""
        return self.sets[0].words[2] if self.what == "acquire" else str(self.facts["token"])

    def about_the_key(self, server: str) -> list[Sent]:
        """What was sent to a node before the end of the call, beside SET, and names the key."""
        end = self.ended[0]
        mine = [each for each in self.sent if each.server == server and each.seq < end and each.name != "SET"]
        return [each for each in mine if any(self.name in word for word in each.words[1:])]

    def unlocks(self, server: str) -> list[Sent]:
        """Scripts with the key and the token, but for those that the node answered with an error of the script's."""
        mine = [each for each in self.about_the_key(server) if each.name in SCRIPTS]
        named = [each for each in mine if any(self.token in word for word in each.words[1:])]
        return [each for each in named if not each.reply.startswith("-")]

    # -- what became of the keys -------------------------------------------------------------------------------

    def trespass(self, by_set: bool) -> str:
        """What a SET of A, or another command of it, did to a key of B, in a sentence; empty if it did nothing."""
        by_apply = {each.applied.seq: each for each in self.sent if each.applied and (each.name == "SET") is by_set}
        before: dict[str, Any] = {}
        for event in self.timeline:
            changes = event.data.get("keys")
            if not isinstance(changes, dict) or self.name not in changes:
                continue
            was, before[event.node] = before.get(event.node), changes[self.name]
            if event.seq in by_apply and was and was["owner"] == "B":
                after, what = changes[self.name], by_apply[event.seq].name
                did = "deleted it" if after is None else "prolonged it" if after["owner"] == "B" else "overwrote it"
                return f"On {event.node} the key was B's when your {what} came, at {moment(event.t)} s; that {did}."
        return ""

    @cached_property
    def left(self) -> dict[str, Event]:
        """The nodes on which A's key stands when all that was sent has arrived, and what has set it. It is enough to
        have sent an unlock before the end of the call; whether it has run by then is the network's affair."""
        holds: dict[str, Event] = {}
        for event in self.timeline:
            changes = event.data.get("keys")
            if isinstance(changes, dict) and self.name in changes:
                state = changes[self.name]
                if state is not None and state["value"] == self.token:
                    holds[event.node] = event
                else:
                    holds.pop(event.node, None)
        return holds


Judge = Callable[[Look], Remark]


def looked(what: str, judge: Judge, harmless: bool = False) -> Callable[[Run], Remark]:
    """A judge of a Look as a judge of a Run. harmless: whether this is the one that judges errors of nodes that get
    out; elsewhere such a run has not come to the point."""

    @wraps(judge)
    def of_run(run: Run) -> Remark:
        assert run.timeline is not None
        look = Look(run.timeline, run.facts, run.setting.variant, what)
        for call in run.facts["calls"]:
            if not call["ended"]:
                return error(f"{what} had not come back at {moment(run.timeline.end)} s, when the run ended.")
            if call["raised"] and not (harmless and call["ours"]):
                return escaped(look, call)
        return judge(look)

    return of_run


def escaped(look: Look, call: Any) -> Remark:
    """The remark on an exception that got out, where that is not what is judged."""
    text = f": {call['message']}" if call["message"] else ""
    said = f"{look.what} ended with {call['raised']}{text}, at {call['where']}."
    if call["ours"] and (look.facts["ails"] or look.facts["mute"]):
        return Remark(Outcome.NOT_TESTED, said)
    return error(said)


def nothing_sent(look: Look) -> Remark:
    return not_tested(f"{look.what} had ended, and no SET of the key {look.name!r} had been sent.")


def timed_out(each: Sent) -> float:
    """When the client of a node gives up waiting for a reply."""
    return each.t + PATIENCE - HAIR


__all__ = ["HAIR", "NEAR", "Judge", "Look", "Sent", "escaped", "fail", "looked", "not_tested", "nothing_sent"]

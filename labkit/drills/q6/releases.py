"""The check of `release`: a client has a node in the queue, something has become of it, and the node is released."""

from __future__ import annotations

import random
import time
import traceback
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from kazoo.exceptions import NoNodeError

from ...locks import Lease
from ...recording import ADDRESS
from ...sim import World, WorldClosed, WorldError
from ...timeline import Timeline
from ...wording import moment
from ..trial import PASS, Function, Remark, Run, Setting, error, fail
from ..where import line_of_answer
from .call import shown
from .case import Case, Hook, but, case
from .stage import SETTLED, Stage


def play(release: Function, setting: Setting) -> tuple[Mapping[str, Any], Timeline]:
    """A's node stands before that of B. Raises MemoryError if the answer ran out of memory."""
    draw = setting.draw
    plain = staged(setting.variant, draw)
    with World(seed=setting.seed, story=setting.token, patience=setting.patience) as world:
        scene = Scene(world, plain, setting.variant)
        world.client("B").start(scene.bystander)
        world.client("A").start(scene.holder, release)
        try:
            timeline = world.run(until=plain.until)
        except WorldError:
            if not scene.failed:
                raise
    if scene.failed:
        raise scene.failed[0]
    return scene.found, timeline


def staged(variant: str, draw: random.Random) -> Case:
    """held: A's node is there.  twice: it is released a second time.  gone: somebody has deleted it.  over: its session
    has ended.  ending: it ends while the node is being deleted."""
    hooks = (Hook("A", ("delete",), "expire", "A", "during"),) if variant == "ending" else ()
    return but(case(draw), hooks=hooks, until=30.0)


class Scene(Stage):
    """Two clients with a node each; A's is released."""

    def __init__(self, world: World, plain: Case, variant: str) -> None:
        super().__init__(world, plain)
        self.variant = variant
        self.found: dict[str, Any] = {"returned": False, "number": 0}
        self.other = ""

    def bystander(self, me: Any) -> None:
        zk = self.zk(me)
        time.sleep(0.5)
        self.other = zk._client.create(f"{self.case.path}/lock-", ephemeral=True, sequence=True)
        time.sleep(10.0)

    def holder(self, me: Any, release: Function) -> None:
        zk = self.zk(me)
        made, stat = zk._client.create(f"{self.case.path}/lock-", b"", True, True, True)
        lease = Lease(self.case.path, made, stat.czxid, None)  # type: ignore[arg-type]
        time.sleep(1.0)
        self.befall(made)
        watched = me.lock(Released(release, zk), key=self.case.path)
        try:
            for number in range(1 + (self.variant == "twice")):
                self.found |= {"number": number, "t": self.now, "returned": False}
                value = watched.release(lease)
                self.found |= {"returned": True, "value": value if isinstance(value, bool) else None}
                self.found |= {"shown": shown(value), "first": self.found.get("first", shown(value))}
        except (WorldClosed, GeneratorExit):
            raise
        except MemoryError as raised:
            self.failed.append(raised)
            traceback.clear_frames(raised.__traceback__)
        except BaseException as raised:
            text = ADDRESS.sub("", str(raised))[:120]
            self.found |= {"raised": type(raised).__name__, "message": text, "where": line_of_answer(raised)}
        self.found["end"] = self.now
        time.sleep(SETTLED)
        nodes = self.data.tree.nodes
        self.found |= {"node": made, "stays": made in nodes, "other": self.other, "other_stays": self.other in nodes}

    def befall(self, made: str) -> None:
        if self.variant == "over":
            self.do("expire", "A")
        elif self.variant == "gone":
            with suppress(NoNodeError):
                self.zks["B"]._client.delete(made)
        time.sleep(2 * SETTLED)


class Released:
    """The answer as a lock that can be watched."""

    def __init__(self, function: Function, zk: Any) -> None:
        self.function, self.zk = function, zk

    def release(self, lease: Lease) -> Any:
        return self.function(self.zk, lease)


BEFORE = {
    "held": "A's node was there",
    "twice": "A's node had been released before",
    "gone": "A's node had been deleted by somebody else",
    "over": "A's session had ended",
    "ending": "A's session ended while release was asking",
}


def judge(run: Run) -> Remark:
    found, variant = run.facts, run.setting.variant
    seq = next((op.seq for op in run.timeline.ops("release")), 0) if run.timeline else 0
    if found.get("raised"):
        text = f"{found['raised']}: {found['message']}, at {found['where']}"
        if found["raised"] in ("NoNodeError", "SessionExpiredError", "LeaseLost"):
            return fail(f"{BEFORE[variant]}; release ended with {text}.", seq)
        return error(f"release ended with {text}.")
    if not found["returned"]:
        return fail(f"{BEFORE[variant]}; release had not come back by the end of the play.", seq)
    if not found["other_stays"]:
        return fail(f"{BEFORE[variant]}; release deleted {found['other']}, which is B's.", seq)
    own = variant == "held" or (variant == "twice" and found["number"] == 0)
    if found["value"] is not own:
        at = f"at {moment(found['end'])} s"
        return fail(f"{BEFORE[variant]}; release returned {found['shown']} {at}.", seq)
    if found["stays"]:
        return fail(f"{BEFORE[variant]}; release returned {found['shown']}, and {found['node']} was still there.", seq)
    return PASS

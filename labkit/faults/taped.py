"""Faults as choices: whenever a client sends a command, each of these could strike there, and the tape says which does.

    pause.A.3=2    client A, before its third command, stands still for the second span of the menu
    lose.B.1=1     B's first command never arrives

So a search can place faults, a found schedule is a few words, and `replay` plays it again like any other run. Spans are
multiples of the TTL: what matters to a lease is whether something outlasts it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ..sim import Fate, Packet, World

PREPARING = ("SCRIPT", "EXISTS")  # commands that change nothing: a fault at one is a fault at the next
Strike = Callable[[World, Packet, float], Fate | None]  # (world, the request, TTLs of the menu) -> what becomes of it
TTL = 10.0  # seconds, for a story that has no such parameter


@dataclass(frozen=True)
class Kind:
    """menu: what can be chosen, in TTLs where it is a span.  strike: what happens.  says: for a reader, {} the span.
    server: whether it strikes the server itself."""

    menu: tuple[float, ...]
    strike: Strike
    says: str
    server: bool = False


def _pause(world: World, packet: Packet, seconds: float) -> None:
    world.pause(packet.client, seconds)


def _crash(world: World, packet: Packet, _: float) -> None:
    world.crash(packet.client)


def _lose(world: World, packet: Packet, _: float) -> Fate:
    return Fate(lost=True)


def _delay(world: World, packet: Packet, seconds: float) -> Fate:
    return Fate(after=seconds)


def _twice(world: World, packet: Packet, seconds: float) -> Fate:
    return Fate(again=seconds)


def _mute(world: World, packet: Packet, _: float) -> None:
    of = packet.exchange
    world.rule(lambda p: Fate(lost=True) if p.direction == "reply" and p.exchange == of else None)


def _cut(world: World, packet: Packet, seconds: float) -> None:
    world.network.cut(packet.client, packet.server)
    world.at(world.now + seconds, lambda: world.network.heal(packet.client, packet.server))


ELECTION = 0.5  # seconds without a leader in an ensemble


def _restart(world: World, packet: Packet, _: float) -> None:
    world.restart(packet.server, keep_data=world.server_called(packet.server).database.lasting)


def _failover(world: World, packet: Packet, _: float) -> None:
    """The server dies and its first replica takes over, with what has reached it; without one nothing happens. In an
    ensemble another member leads after a while, with all that was acknowledged."""
    if world.server_called(packet.server).database.lasting:
        world.restart(packet.server, keep_data=True, down=ELECTION)
        return
    leader = world.network.leader(world.server_called(packet.server))
    replicas = getattr(leader.role, "replicas", ())
    if replicas:
        world.halt(leader.name)
        world.promote(replicas[0].server.name)


def _step(world: World, packet: Packet, seconds: float) -> None:
    world.set_clock(packet.server, step=seconds)


KINDS: dict[str, Kind] = {
    "pause": Kind((1.05, 1.45, 0.6), _pause, "stands still for {} before it sends"),
    "crash": Kind((0.0,), _crash, "dies before it sends"),
    "lose": Kind((0.0,), _lose, "never arrives"),
    "mute": Kind((0.0,), _mute, "is executed, its reply lost"),
    "delay": Kind((1.05, 0.4), _delay, "arrives {} late"),
    "twice": Kind((1.05, 0.01), _twice, "arrives again {} later"),
    "cut": Kind((1.5, 100.0), _cut, "and all that follows for {} is lost"),
    "restart": Kind((0.0,), _restart, "meets a server that has restarted empty", server=True),
    "step": Kind((1.5, -1.5), _step, "meets a server whose clock has jumped by {}", server=True),
    "failover": Kind((0.0,), _failover, "meets the replica that has taken its server's place", server=True),
}


def _here(strike: Strike, world: World, packet: Packet, span: float) -> Fate | None:
    return strike(world, packet, span)


@dataclass(frozen=True)
class Taped:
    """Lets the tape place faults of these kinds. ttl: seconds that a span of 1 in the menu stands for.  durable:
    servers that do not fail."""

    kinds: tuple[str, ...] = tuple(KINDS)
    ttl: float = TTL
    durable: tuple[str, ...] = ()

    def arm(self, world: World) -> None:
        fates: dict[int, Fate] = {}

        def before(packet: Packet) -> None:
            if packet.name in PREPARING:
                return
            for name in self.kinds:
                kind = KINDS[name]
                if kind.server and packet.server in self.durable:
                    continue
                choice = world.choices.pick(name, packet.client, len(kind.menu) + 1)
                if choice:
                    span = kind.menu[choice - 1] * self.ttl
                    act = world.hub.outside if kind.server else _here  # a server's sessions end on the hub's stack
                    fate = act(kind.strike, world, packet, span)
                    if fate is not None:
                        fates[id(packet)] = fate

        world.trigger(before)
        world.rule(lambda packet: fates.pop(id(packet), None) if packet.direction == "request" else None)


def kinds_of(tape: str) -> tuple[str, ...]:
    """The kinds of fault that a tape places."""
    named = {entry.split(".", 1)[0] for entry in tape.split(",")}
    return tuple(kind for kind in KINDS if kind in named)

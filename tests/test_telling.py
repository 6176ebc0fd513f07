"""The words of a run: the summary first, then one sentence an event."""

from __future__ import annotations

from labkit.telling import tell
from labkit.timeline import Timeline
from tests.viz import builders
from tests.viz.builders import Script


def test_the_first_line_measures_how_long_two_clients_believed() -> None:
    first = tell(builders.gc_pause()).splitlines()[0]
    assert first == "A and B both believed they held stock for 27 s, from t=10.051 s to t=37.02 s."


def test_the_first_line_of_a_peaceful_run_says_so() -> None:
    first = tell(builders.peaceful()).splitlines()[0]
    assert first == "At no time did two clients believe they held stock."


def test_an_empty_run_says_that_nothing_happened() -> None:
    assert tell(Timeline(())) == "Nothing happened in this run."


def test_a_run_in_which_nobody_got_the_lock_says_so() -> None:
    script = Script()
    script.refused(1.0, "B")
    assert tell(script.timeline()).splitlines()[0] == "Nobody got hold of stock."


def test_a_run_without_locks_says_so() -> None:
    script = Script()
    script.add(2.0, "A", "note", "A sleeps.")
    assert tell(script.timeline()).splitlines()[0] == "Nobody asked for a lock in this run of 2 s."


def test_one_client_with_two_grants_at_once_is_told_as_one() -> None:
    script = Script()
    script.grant(0.0, "A")
    script.grant(4.0, "A")
    script.add(6.0, "A", "note", "The end.")
    first = tell(script.timeline()).splitlines()[0]
    assert first == "A believed in two grants at once of stock for 2 s, from t=4.001 s to t=6 s."


def test_an_expiry_names_who_still_believes() -> None:
    assert "t=10.001 s  Redis lets stock expire; A still believes it holds it." in tell(builders.gc_pause())


def test_a_write_after_the_lease_says_when_the_lease_ended() -> None:
    expected = "A writes 8 to stock-count; it is accepted, although A's lease of stock ended at t=9.9 s."
    assert expected in tell(builders.gc_pause())


def test_a_write_under_a_valid_lease_has_no_although() -> None:
    assert "although" not in tell(builders.peaceful())


def test_a_refused_write_gives_the_reason() -> None:
    assert "A's write of 8 to stock-count is refused: fence 1 < 2" in tell(builders.fenced())


def test_what_repeats_is_said_once_with_its_number() -> None:
    assert "B does not get stock: taken (3 times, until t=7.751 s)." in tell(builders.gc_pause(polls=4))


def test_a_lost_packet_says_where_from_and_where_to() -> None:
    told = tell(builders.crash_and_restart())
    assert "SET stock tok-B NX PX 10000 from B to redis is lost." in told


def test_a_lost_reply_is_told_as_a_reply() -> None:
    script = Script()
    call = script.add(0.0, "A", "invoke", "acquire", key="stock", ttl=10.0)
    sent = script.add(0.0, "A", "send", "GET stock", call, to="redis")
    come = script.add(0.1, "redis", "deliver", "GET", sent)
    done = script.add(0.1, "redis", "apply", "GET stock", come)
    script.add(0.1, "redis", "drop", "GET stock", done, direction="reply", to="A")
    assert "The reply to GET stock from redis to A is lost." in tell(script.timeline())


def test_an_operation_without_an_answer_may_have_happened() -> None:
    assert "it may have happened all the same" in tell(builders.crash_and_restart())


def test_a_crash_names_the_lock_that_dies_with_it() -> None:
    assert "t=1.000 s  A crashes, holding stock." in tell(builders.crash_and_restart())


def test_faults_of_links_servers_and_clocks_are_told() -> None:
    told = tell(builders.crash_and_restart())
    assert "The link between B and redis is cut." in told
    assert "The link between redis and B is whole again." in told
    assert "The clock of redis jumps forward by 5 s." in told
    assert "redis is up again, without stock." in told


def test_packets_are_told_only_in_detail() -> None:
    timeline = builders.peaceful()
    assert "sends" not in tell(timeline)
    assert "A sends SET stock tok-A NX PX 10000 to redis." in tell(timeline, detail=True)
    assert "redis executes SET stock tok-A NX PX 10000: stock is tok-A until t=10.001 s." in tell(timeline, detail=True)


def test_renewals_are_told_only_in_detail() -> None:
    assert "A extends stock until t=14.9 s." in tell(builders.peaceful(), detail=True)
    assert "extends" not in tell(builders.peaceful())


def test_long_random_values_are_cut_in_commands() -> None:
    script = Script()
    script.add(0.0, "A", "send", "GET 0123456789abcdef0123456789abcdef", to="redis")
    assert "GET 012345… to redis" in tell(script.timeline(), detail=True)


def test_keys_beside_the_lock_expire_in_silence() -> None:
    script = Script()
    grant = script.grant(0.0, "A")
    state = {"value": "1", "until": 2.0, "owner": "A", "grant": grant}
    script.add(1.0, "redis", "apply", "RPUSH waiting 1", keys={"waiting": state | {"grant": None}})
    script.add(2.0, "redis", "expire", "waiting", keys={"waiting": None})
    assert "waiting" not in tell(script.timeline())


def test_of_several_overlaps_the_longest_leads_and_the_others_are_counted() -> None:
    script = Script()
    for start, lasted in ((0.0, 1.0), (100.0, 5.0), (200.0, 2.0)):
        a, b = script.grant(start, "A"), script.grant(start + 2, "B")
        script.release(start + 2.001 + lasted, "A", a)
        script.release(start + 20, "B", b)
    first = tell(script.timeline()).splitlines()[0]
    expected = "A and B both believed they held stock for 5 s, from t=102.001 s to t=107.001 s, and 2 more times."
    assert first == expected


def ghost(reason: str) -> Script:
    """A's request takes the lock, and A hears something else."""
    script = Script()
    call = script.add(0.0, "A", "invoke", "acquire", key="stock", ttl=10.0)
    state = {"value": "tok-A", "until": 10.0, "owner": "A", "grant": call}
    script.command(0.0, "A", "SET stock tok-A NX PX 10000", call, {"stock": state})
    script.add(0.1, "A", "fail", "acquire", call, reason=reason)
    script.add(1.0, "A", "note", "The end.")
    return script


def test_who_was_told_of_an_error_was_not_told_that_the_lock_is_taken() -> None:
    told = tell(ghost("ResponseError: value is not an integer").timeline()).splitlines()[0]
    assert told == "A was told of an error; stock is taken all the same, by A's own request."


def test_who_was_refused_was_told_that_the_lock_is_taken() -> None:
    told = tell(ghost("busy").timeline()).splitlines()[0]
    assert told == "A was told that stock is taken; what had taken it was A's own request."


def test_a_command_that_deletes_a_key_on_which_its_owner_counts_is_told() -> None:
    script = Script()
    script.grant(0.0, "A")
    call = script.add(1.0, "B", "invoke", "release", key="stock")
    script.command(1.0, "B", "DEL stock", call, {"stock": None})
    script.add(2.0, "A", "note", "The end.")
    expected = "t=1.000 s  redis deletes stock on a command of B; A still believes it holds it."
    assert expected in tell(script.timeline())


def test_a_release_of_ones_own_is_not_told_as_a_deletion() -> None:
    assert "deletes" not in tell(builders.peaceful())


def test_to_delete_a_key_of_ones_own_harms_nobody_whose_lease_is_over() -> None:
    script = Script()
    script.grant(0.0, "A", ttl=1.0)
    script.add(1.0005, "redis", "expire", "stock", keys={"stock": None})
    script.release(3.0, "B", script.grant(2.0, "B"))
    script.add(4.0, "A", "note", "The end.")
    assert "deletes" not in tell(script.timeline())


def test_a_promotion_names_who_stays_with_the_old_primary() -> None:
    script = Script()
    script.add(1.0, "r1", "promote", "r1", of="redis", isolated=["A"])
    script.grant(2.0, "B")
    assert "r1 becomes the primary, without A." in tell(script.timeline())

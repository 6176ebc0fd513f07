"""The chooser's lists ask the rule anew; what it says stands without a kernel."""

from collections.abc import Iterator

import ipywidgets
import pytest

from labkit.choosing import QUESTIONS, choose, recorded
from labkit.panels.choosing import Chooser, chooser

STORE = {"harm": "data", "place": "store", "newest": "yes"}


@pytest.fixture(autouse=True)
def no_widget_is_left() -> Iterator[None]:
    yield
    ipywidgets.Widget.close_all()


def said(shown: Chooser) -> str:
    return str(shown.children[-1].value)


def test_it_begins_with_the_first_answer_to_each_question() -> None:
    assert chooser().answers == {question.name: next(iter(question.options)) for question in QUESTIONS}


def test_a_move_of_a_list_changes_the_choice_and_what_is_said() -> None:
    shown = chooser()
    shown.lists["harm"].value = "data"
    assert shown.choice == choose(shown.answers)
    shown.lists["place"].value = "nothing"
    assert shown.choice.scheme == "gate" and "gate: no lock is enough" in said(shown)


def test_answers_can_be_set_from_code() -> None:
    assert chooser().set(**STORE).choice.scheme == "fenced"


@pytest.mark.parametrize("wrong", [{"harm": "some"}, {"hurm": "data"}])
def test_what_is_no_answer_is_refused_and_nothing_is_set(wrong: dict[str, str]) -> None:
    shown = chooser(**STORE)
    with pytest.raises(ValueError, match=r"no answer|no question"):
        shown.set(**wrong, length="long")
    assert shown.answers["length"] == "short"
    with pytest.raises(ValueError, match=r"no answer|no question"):
        chooser(**wrong)


def test_its_text_is_one_sentence_that_names_answers_and_scheme() -> None:
    says = repr(chooser(**STORE))
    assert says.startswith("Chooser (harm data, place store, newest yes,") and says.endswith(
        ": fenced, a fenced lock, and a store that registers the token."
    )


def test_a_saved_notebook_keeps_the_words() -> None:
    bundle = chooser(**STORE)._repr_mimebundle_()
    assert "application/vnd.jupyter.widget-view+json" in bundle
    assert bundle["text/plain"] in bundle["text/html"] and "R6b F2 <b>D</b>" in bundle["text/html"]
    assert all(question.asks in bundle["text/html"] for question in QUESTIONS)


def test_two_choosers_of_one_answer_show_the_same_bytes() -> None:
    one, other = (chooser(**STORE)._repr_mimebundle_()["text/html"] for _ in range(2))
    assert one == other


def test_a_cell_shows_how_to_play_it_again() -> None:
    assert recorded()["R6b", "F2"].replay in said(chooser(**STORE))


def test_a_cell_that_is_not_recorded_is_said_to_be() -> None:
    assert said(chooser({}, **STORE)).count("not recorded") == 9


def test_where_no_lock_is_the_answer_it_says_so_in_words() -> None:
    assert "No lock." in said(chooser(place="statement")) and "No lock." not in said(chooser(place="database"))
    assert "No lock is enough." in said(chooser(harm="data", place="nothing"))


def test_cells_that_speak_against_a_lock_are_headed_so() -> None:
    assert "Why no lock: what the safety matrix says of R3" in said(chooser(place="statement"))
    assert "What the safety matrix says of it:" in said(chooser(**STORE))

"""The six questions, with the answers that there are. They ask of the work first, and of the service last."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Question:
    """name: as `choose` knows it.  asks: a whole sentence.  options: the answers, each with what it means."""

    name: str
    asks: str
    options: Mapping[str, str]


QUESTIONS = (
    Question(
        "harm",
        "What does it cost if two do it at once?",
        {
            "work": "work is done twice, and nothing stays wrong",
            "data": "something stays wrong: data, money, a promise",
        },
    ),
    Question(
        "place",
        "Where is the effect, and what can be checked there?",
        {
            "statement": "in one store, and one conditional statement says it all",
            "database": "in one database, after reading and thinking",
            "store": "in a store that compares and writes in one step, after reading and thinking",
            "key": "at a service that knows an idempotency key",
            "nothing": "where nothing can be checked",
        },
    ),
    Question(
        "newest",
        "Must an older holder be refused as soon as there is a newer one?",
        {"no": "no, it is enough that no update is lost", "yes": "yes, the newer one has been given the say"},
    ),
    Question(
        "length",
        "How long is it held?",
        {"short": "far shorter than a lease", "long": "longer than you would wait after a crash"},
    ),
    Question(
        "waiting",
        "What do the others do meanwhile?",
        {"leave": "give up, or come again later", "queue": "wait, many of them, in the order of their coming"},
    ),
    Question(
        "service",
        "What do you run already?",
        {"redis": "Redis", "database": "a database, and no Redis", "consensus": "ZooKeeper or etcd"},
    ),
)


def asked() -> str:
    """The questions and their answers as a table in Markdown, for a page without a kernel."""
    lines = ["| question | it asks | answers |", "| --- | --- | --- |"]
    for number, question in enumerate(QUESTIONS, 1):
        answers = "<br>".join(f"`{name}`: {says}" for name, says in question.options.items())
        lines.append(f"| {number} `{question.name}` | {question.asks} | {answers} |")
    return "\n".join(lines)


def refuse(answers: Mapping[str, str]) -> None:
    """Raises ValueError for a question that is none, and for an answer that there is not. Open ones may be missing."""
    known = {question.name: question for question in QUESTIONS}
    for name, answer in answers.items():
        if name not in known:
            raise ValueError(f"There is no question {name!r}; the six are {', '.join(known)}.")
        if answer not in known[name].options:
            raise ValueError(f"{name}={answer!r} is no answer: {_to(known[name])}")


def accept(answers: Mapping[str, str]) -> dict[str, str]:
    """All six answers, in the order of the questions. Raises ValueError for a question that is none, one that is not
    answered, and an answer that there is not."""
    refuse(answers)
    for question in QUESTIONS:
        if question.name not in answers:
            raise ValueError(f"Open: {_to(question)}")
    return {question.name: answers[question.name] for question in QUESTIONS}


def _to(question: Question) -> str:
    return f"{question.asks} Answer {question.name} with {' or '.join(question.options)}."

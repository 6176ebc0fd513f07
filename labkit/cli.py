"""The `labkit` command: one sub-command a task, each a thin skin over a function that returns a value.

Exit status: 0 when all is well, 1 when the answer is «no», 2 when the command line was not understood or nothing could
be run. What a command prints for people may change; `--json` is for programs. Nothing but typer and rich is imported
before a command runs, so that `labkit --help` is quick. The file is long because it is a list: one command after the
other.
"""

from __future__ import annotations

import io
import json
import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer
from rich.console import Console
from rich.text import Text

if TYPE_CHECKING:
    from labkit.doctor import Finding
    from labkit.drills import Report

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON, for a program to read.")]
Seconds = Annotated[float, typer.Option(help="Real time that each check of an answer may take.")]

app = typer.Typer(no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False)


def main() -> None:
    """Run the command line and leave with its exit status."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # a code page without ✓ gets a question mark, not a traceback
            stream.reconfigure(errors="replace")
    app(prog_name="labkit")


def _show_version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        typer.echo(f"labkit {version('redis-lock-lab')}")
        raise typer.Exit


@app.callback()
def labkit(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Print the version and leave.")
    ] = False,
) -> None:
    """Redis Lock Lab: break a distributed lock, see who truly held it, and repair it."""


@app.command()
def doctor(as_json: AsJson = False) -> None:
    """Say what this machine has for the course, what is skipped without the rest, and how to get it.

    The exit status is 0 when the course can run, 1 when it cannot.
    """
    from labkit.doctor import course_can_run, examine

    findings = examine()
    can_run = course_can_run(findings)
    if as_json:
        typer.echo(json.dumps({"course_can_run": can_run, "findings": [asdict(each) for each in findings]}, indent=2))
    else:
        _print_findings(findings, can_run)
    raise typer.Exit(0 if can_run else 1)


def _print_findings(findings: list[Finding], can_run: bool) -> None:
    """A line for each thing looked for, then a paragraph for each that is not there, then the verdict."""
    console = Console(highlight=False, soft_wrap=True)
    for each in findings:
        mark, colour = _mark(each)
        console.print(Text(f"{mark:<9}", colour), Text(f"{each.name:<18}{each.found}"), sep="")
    for each in findings:
        if not each.ok:
            console.print(Text(f"\n{each.name}\n  Skipped without it: {each.skipped}\n  {each.remedy}"))
    console.print("\nThe course can run." if can_run else "\nThe course cannot run yet: mend what is MISSING above.")


def _mark(finding: Finding) -> tuple[str, str]:
    """A word, and a colour beside it: the word alone must do in a log and for every eye."""
    if finding.ok:
        return "ok", "green"
    return ("MISSING", "red") if finding.needed else ("skipped", "yellow")


# -- the drills ------------------------------------------------------------------------------------------------------


@app.command()
def check(
    question: Annotated[str | None, typer.Argument(help="The question: q1.", show_default=False)] = None,
    file: Annotated[Path | None, typer.Argument(help="Your answer, a .py or .ipynb file.", show_default=False)] = None,
    folder: Annotated[Path | None, typer.Option("--all", help="Check every answer in this folder instead.")] = None,
    again: Annotated[str | None, typer.Option(help="One play only: the string that a failure prints.")] = None,
    picture: Annotated[Path | None, typer.Option(help="Draw the first failure into this .svg, .png or .html.")] = None,
    seconds: Seconds = 4.0,
    as_json: AsJson = False,
) -> None:
    """Put an answer to the test: the same verdict as check(…) in a notebook.

    The exit status is 0 for full points, 1 for fewer, 2 when nothing could be run.
    """
    from labkit.drills import check_file

    if folder is not None and (question or again or picture):
        _refuse("--all checks every answer of a folder: leave out the question, --again and --picture.")
    if folder is not None:
        _check_all(folder, seconds, as_json)
    if question is None or file is None:
        _refuse("Name a question and a file, as in `labkit check q1 exercises/q1.ipynb`, or a folder with --all.")
    try:
        report = check_file(question, file, again=again, seconds=seconds)
    except ValueError as error:
        _refuse(str(error))
    typer.echo(json.dumps(report.as_dict(), indent=2) if as_json else repr(report))
    if picture is not None:
        _draw(report, picture)
    raise typer.Exit(report.status)


def _draw(report: Report, picture: Path) -> None:
    from labkit.drills.show import draw

    if report.first is None or report.first.timeline is None:
        typer.echo(f"There is no failed run to draw into {picture}.", err=True)
        return
    try:
        draw(report, picture)
    except (ValueError, OSError) as error:
        _refuse(str(error))


def _check_all(folder: Path, seconds: float, as_json: bool) -> NoReturn:
    """Every answer of a folder: a line each, as they come."""
    from labkit.drills.folder import answers, check_all

    try:
        if not answers(folder):
            _refuse(f"{folder} holds no answer: a file called after its question, like q1.ipynb or q1-anna.py.")
        reports: list[tuple[str, Report]] = []
        for place, report in check_all(folder, seconds):
            reports.append((place, report))
            if not as_json:
                typer.echo(_line(place, report))
    except ValueError as error:
        _refuse(str(error))
    if as_json:
        typer.echo(json.dumps([{"file": place, **report.as_dict()} for place, report in reports], indent=2))
    raise typer.Exit(max(report.status for _, report in reports))


def _line(place: str, report: Report) -> str:
    if report.refused:
        return f"{place}: could not be checked. {report.refused}"
    if not report.attempted:
        return f"{place}: not attempted yet"
    first = f"; first failure: {report.first.check}" if report.first else ""
    return f"{place}: {report.score} of {report.of} points{first}"


@app.command()
def hint(question: Annotated[str, typer.Argument(help="The question: q1.")]) -> None:
    """Show the next hint to a question. It is written into your progress that you took it."""
    from labkit.drills import hint as next_hint

    typer.echo(_or_refuse(lambda: next_hint(question)))


@app.command()
def answer(question: Annotated[str, typer.Argument(help="The question: q1.")]) -> None:
    """Show the model answer, after an attempt of your own. It is written into your progress that you looked."""
    from labkit.drills import model_answer

    typer.echo(_or_refuse(lambda: model_answer(question)))


@app.command()
def rubric(question: Annotated[str, typer.Argument(help="The question: q1.")]) -> None:
    """Show how a spoken answer is scored."""
    from labkit.drills import rubric as points

    typer.echo(_or_refuse(lambda: points(question)))


@app.command()
def progress() -> None:
    """Show your progress: predictions, attempts, best scores, hints taken."""
    from labkit.progress import overview

    typer.echo(overview())


@app.command()
def reset(
    question: Annotated[str, typer.Argument(help="The question: q1.")],
    folder: Annotated[Path, typer.Option(help="Where your notebook lies.")] = Path("exercises"),
) -> None:
    """Give an exercise back as it was. Your notebook is kept beside it as a backup, your progress stays."""
    from labkit.drills.reset import reset as give_back
    from labkit.drills.reset import told
    from labkit.progress import note_reset

    backup = _or_refuse(lambda: give_back(question, folder))
    note_reset(question)
    typer.echo(told(question, backup))


@app.command()
def scoreboard(
    folder: Annotated[Path, typer.Argument(help="The learners' progress files, or folders with one each.")],
    csv: Annotated[Path | None, typer.Option(help="Write the table into this file, for a spreadsheet.")] = None,
    as_json: AsJson = False,
) -> None:
    """Make one table of many learners' progress files."""
    from labkit.progress.scoreboard import scoreboard as board_of

    if as_json and csv is not None:
        _refuse("--csv writes a file and --json prints: ask for one of them.")
    board = _or_refuse(lambda: board_of(folder))
    if as_json:
        typer.echo(json.dumps(board.as_dict(), indent=2, ensure_ascii=False))
    elif csv is not None:
        _or_refuse(lambda: csv.write_text(board.csv(), encoding="utf-8-sig", newline=""))
        typer.echo(f"{board.sentence} Written to {csv}.")
    else:
        typer.echo(board.sentence)
        Console(highlight=False).print(board.table())
    for sentence in board.skipped:
        typer.echo(sentence, err=True)


@app.command()
def matrix(
    rows: Annotated[str, typer.Option(help="Rows, as in R3,R6b; all without any.")] = "",
    columns: Annotated[str, typer.Option(help="Columns, as in F2,F4; all without any.")] = "",
    full: Annotated[bool, typer.Option("--full", help="Two mishaps more instead of one: this takes hours.")] = False,
    workers: Annotated[int, typer.Option(min=1, help="Processes that search.")] = 2,
    as_json: AsJson = False,
) -> None:
    """Search, for each lock and each mishap, the shortest schedule that breaks it; about a minute."""
    from labkit.explore.matrix import COLUMNS, ROWS, searched
    from labkit.explore.report import text

    chosen = _listed(rows, tuple(ROWS)), _listed(columns, tuple(COLUMNS))
    found = _or_refuse(lambda: searched(*chosen, full=full, workers=workers, tick=None if as_json else _show_cell))
    typer.echo(json.dumps([asdict(cell) for cell in found], indent=2) if as_json else f"\n{text(found)}")


@app.command()
def search(
    story: Annotated[str, typer.Argument(help="A story: increment.")],
    check: Annotated[str, typer.Argument(help="The claim to break: no_lost_update.")],
    param: Annotated[list[str], typer.Option("--set", help="A parameter of the story: --set row=R3.")] = [],  # noqa: B006
    faults: Annotated[str, typer.Option(help="Kinds that may strike: pause,lose; all without any.")] = "",
    most: Annotated[int, typer.Option(help="So many faults in one schedule.")] = 1,
    runs: Annotated[int, typer.Option(help="Schedules to be played at most.")] = 20_000,
) -> None:
    """Search the shortest schedule of faults that breaks a claim; Ctrl-C keeps what is known by then.

    The exit status is 0 if none was found within the bounds, 1 if one was or if the budget was spent first.
    """
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    from labkit.explore import KINDS, Outcome
    from labkit.explore import search as searched

    given = dict(_or_refuse(lambda: [_pair(each) for each in param]))
    columns = SpinnerColumn(), TextColumn("{task.completed:,.0f} runs"), TimeElapsedColumn()
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=None)
        kinds = _listed(faults, tuple(KINDS))
        bounds: Any = {
            "faults": kinds,
            "most": most,
            "runs": runs,
            "tick": lambda done: bar.update(task, completed=done),
        }
        found = _or_refuse(lambda: searched(story, check, **bounds, **given))
    typer.echo(str(found))
    raise typer.Exit(0 if found.outcome is Outcome.EXHAUSTED else 1)


@app.command()
def errata(
    numbers: Annotated[list[str] | None, typer.Argument(help="E04 and so on: in full.", show_default=False)] = None,
    everything: Annotated[bool, typer.Option("--all", help="More than a line each.")] = False,
    grade: Annotated[int, typer.Option(min=1, max=3, help="This grade or graver: 3 can corrupt data.")] = 1,
    as_json: AsJson = False,
) -> None:
    """Play the article's errata: a line each, or with their numbers in full.

    ★ is imprecise or dated, ★★ wrong or seriously incomplete, ★★★ can corrupt data. Sections are the article's.
    The exit status is 0 if each breaks as said and holds when repaired, 1 if one does not, 2 for a number that is none.
    """
    from labkit.errata import ERRATA, find
    from labkit.errata.report import brief, full, legend, line, run, summary

    asked = [_or_refuse(lambda number=number: find(number)) for number in numbers or ()]
    chosen = asked or [erratum for erratum in ERRATA.values() if erratum.grade >= grade]
    console, rows = Console(highlight=False, soft_wrap=True), list[Any]()
    shape = full if asked else brief if everything else line
    for erratum in chosen:
        rows.append(run(erratum))
        if not as_json:
            console.print(shape(rows[-1], console.width), end="\n" if shape is line else "\n\n")
    if shape is line and not as_json:
        typer.echo(f"\n{legend()}\n`labkit errata E04` shows one in full, `labkit errata --all` more of each.\n")
    typer.echo(json.dumps([row.as_dict() for row in rows], indent=2, ensure_ascii=False) if as_json else summary(rows))
    raise typer.Exit(0 if all(row.as_it_should_be for row in rows) else 1)


@app.command()
def choose(
    answers: Annotated[list[str] | None, typer.Argument(help="harm=data, place=store, …", show_default=False)] = None,
    as_json: AsJson = False,
) -> None:
    """Ask six questions and name the lock that fits, or what fits better than a lock, with the reason.

    What the command line does not answer is asked for, one question after the other, where it can change something.
    """
    from labkit.choosing import QUESTIONS, refuse, turns
    from labkit.choosing import choose as chosen

    given = dict(_or_refuse(lambda: [_pair(each, "The answer") for each in answers or ()]))
    _or_refuse(lambda: refuse(given))
    for question in QUESTIONS:
        if question.name not in given:
            asked = turns(given, question.name)
            given[question.name] = _answered(question) if asked else next(iter(question.options))
    choice = _or_refuse(lambda: chosen(given))
    typer.echo(json.dumps(asdict(choice), indent=2, ensure_ascii=False) if as_json else _said(choice))


def _answered(question: Any) -> str:
    """One of the answers that there are, asked for until it is given."""
    typer.echo(f"\n{question.asks}", err=True)
    for name, says in question.options.items():
        typer.echo(f"  {name:<10}{says}", err=True)
    while (said := str(typer.prompt(question.name, err=True)).strip()) not in question.options:
        typer.echo(f"Answer with {' or '.join(question.options)}.", err=True)
    return said


def _said(choice: Any) -> str:
    """A choice, and the cells of the recorded matrix that speak for it, or against the lock that it spares."""
    from labkit.choosing import recorded

    record = recorded()
    cells = [f"  {' '.join(place):<16}{_of_the_matrix(record.get(place))}" for place in choice.cells]
    return "\n".join([str(choice), "", choice.heading, *cells])


def _of_the_matrix(cell: Any) -> str:
    if cell is None:
        return "not recorded here; `labkit matrix` searches it"
    return f"{cell.verdict}  {cell.replay or cell.bounds}".rstrip()


@app.command()
def interview(
    questions: Annotated[list[str] | None, typer.Argument(help="n1, q3, …: these.", show_default=False)] = None,
    number: Annotated[int, typer.Option("--number", "-n", min=1, help="So many that are due or new.")] = 3,
    due: Annotated[bool, typer.Option("--due", help="Only say when each question comes again.")] = False,
    history: Annotated[bool, typer.Option("--history", help="Only show how you have done so far.")] = False,
    pictures: Annotated[Path | None, typer.Option(help="The folder for the pictures of runs.")] = None,
) -> None:
    """A mock interview: questions that are due, against the clock, scored, followed up and proved by runs.

    The exit status is 0 for an interview that was played to its end, 1 for one that was left.
    """
    from labkit.interview import begin, terminal, words
    from labkit.progress import Progress

    if due or history:
        typer.echo(words.plan() if due else words.past())
        raise typer.Exit
    sittings = _or_refuse(lambda: begin(questions or (), number))
    if not sittings:
        typer.echo(words.nothing())
        raise typer.Exit
    folder = pictures or Progress.open().path.parent / "pictures"
    raise typer.Exit(0 if terminal.play(sittings, terminal.Screen(folder)) else 1)


@app.command()
def anki(
    file: Annotated[Path, typer.Argument(help="deck.apkg, for Anki, or deck.csv.")],
    questions: Annotated[list[str] | None, typer.Argument(help="n1, q3, …; else all.", show_default=False)] = None,
) -> None:
    """Write the questions as a deck of cards. Imported anew after an edit, cards change and keep their history."""
    from labkit.interview import all_cards, write

    deck = _or_refuse(lambda: all_cards(questions) if questions else all_cards())
    _or_refuse(lambda: write(file, deck))
    typer.echo(f"{len(deck)} cards written to {file}.")


def _pair(text: str, what: str = "--set") -> tuple[str, str]:
    name, sign, value = text.partition("=")
    if not sign or not name.isidentifier():
        raise ValueError(f"{what} {text!r} is no parameter: write name=value.")
    return name, value


def _listed(names: str, everything: tuple[str, ...]) -> tuple[str, ...]:
    """The names between commas; all there are where none was asked for."""
    return tuple(name.strip() for name in names.split(",")) if names.strip() else everything


def _show_cell(cell: object) -> None:
    typer.echo(str(cell), err=True)


def _or_refuse(act: Any) -> Any:
    """What `act` returns; where it refuses its input, the sentence and status 2."""
    try:
        return act()
    except (ValueError, OSError) as error:
        _refuse(str(error))


def _refuse(sentence: str) -> NoReturn:
    typer.echo(sentence, err=True)
    raise typer.Exit(2)

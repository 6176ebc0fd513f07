"""The `labkit` command: one sub-command a task, each a thin skin over a function that returns a value.

Exit status: 0 when all is well, 1 when the answer is «no», 2 when the command line was not understood. What a command
prints for people may change; `--json` is for programs. Nothing but typer and rich is imported before a command runs,
so that `labkit --help` is quick.
"""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.text import Text

if TYPE_CHECKING:
    from labkit.doctor import Finding

app = typer.Typer(no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False)


def main() -> None:
    """Run the command line and leave with its exit status."""
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
def doctor(as_json: Annotated[bool, typer.Option("--json", help="Print JSON, for a program to read.")] = False) -> None:
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

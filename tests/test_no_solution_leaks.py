"""Nothing of a solution stands in an exercise, neither where it is seen nor where only the file has it.

The judge is none of the builder's code: it reads the two files as they lie there. Secret is each line of a region and
of a cell that only the solution has, unless the learner is shown the same line elsewhere in the notebook.
"""

import base64
import binascii
import json
import re
from pathlib import Path

import pytest

from tools import exercises, notebooks

ROOT = Path(__file__).parent.parent
SOLUTIONS = sorted((ROOT / "solutions").glob("*.ipynb"))
BEGIN = re.compile("BEGIN (SOLUTION|HIDDEN TESTS|MARK SCHEME)")
END = re.compile("END (SOLUTION|HIDDEN TESTS|MARK SCHEME)")
TELLING = 12  # characters; a shorter line, such as `return True`, gives nothing away

every_solution = pytest.mark.parametrize("path", SOLUTIONS, ids=lambda path: path.stem)


# --- the judge


def leaks(solution, text):
    """What the exercise with this text gives away of the solution, and what it carries that it need not, in words."""
    exercise = json.loads(text)
    found = [f"a line of the solution: {line}" for line in secrets(solution) if line in everything(text)]
    found += [f"a marker: {marker.group()}" for marker in re.finditer(f"{BEGIN.pattern}|{END.pattern}", text)]
    if exercise["metadata"] != notebooks.METADATA:
        found.append(f"metadata of the notebook: {exercise['metadata']}")
    for cell in exercise["cells"]:
        found += [f"{name} of cell {cell['id']}" for name in ("outputs", "execution_count") if cell.get(name)]
        found += [
            f"metadata {name} of cell {cell['id']}" for name in cell["metadata"] if name not in exercises.KEPT_METADATA
        ]
        found += [
            f"unused {name} of cell {cell['id']}" for name in cell.get("attachments", ()) if not shown(name, cell)
        ]
    return found


def secrets(solution):
    """The lines that the learner must not see."""
    hidden, seen = [], set()
    for cell in solution["cells"]:
        inside = only = "solution-only" in cell["metadata"].get("tags", ())
        for line in map(str.strip, "".join(cell["source"]).splitlines()):
            if BEGIN.search(line) or END.search(line):
                inside = only or bool(BEGIN.search(line))
            elif inside:
                hidden.append(line)
            else:
                seen.add(line)
    return [line for line in dict.fromkeys(hidden) if len(line) > TELLING and line not in seen]


def everything(text):
    """The file as it stands, each string in it without JSON's escapes, and what an attachment holds."""
    strings = [text, *strings_of(json.loads(text))]
    return "\n".join([*strings, *filter(None, map(decoded, strings[1:]))])


def strings_of(value):
    if isinstance(value, dict):
        yield from value
        value = list(value.values())
    if isinstance(value, list):
        for each in value:
            yield from strings_of(each)
    elif isinstance(value, str):
        yield value


def decoded(string):
    try:
        return base64.b64decode(string, validate=True).decode(errors="replace")
    except (binascii.Error, ValueError):
        return ""


def shown(name, cell):
    return f"attachment:{name}".replace(" ", "%20") in "".join(cell["source"]).replace(" ", "%20")


# --- the course


def test_there_is_a_solution():
    assert [path.name for path in SOLUTIONS][:1] == ["q1.ipynb"]


@every_solution
def test_a_solution_has_secrets(path):
    assert len(secrets(json.loads(path.read_text(encoding="utf-8")))) >= 3


@every_solution
@pytest.mark.parametrize("place", ["exercises/{}.ipynb", "labkit/drills/{}/exercise.ipynb"])
def test_no_exercise_gives_its_solution_away(path, place):
    text = (ROOT / place.format(path.stem)).read_text(encoding="utf-8")
    assert leaks(json.loads(path.read_text(encoding="utf-8")), text) == []


def test_exercises_holds_nothing_but_what_was_built():
    backup = ".backup-"  # what `labkit reset` has kept, or a new build
    names = {p.name for p in (ROOT / "exercises").glob("*") if not p.name.startswith(".") and backup not in p.name}
    assert names == {path.name for path in SOLUTIONS}, "an answer of your own is better kept outside of exercises/"


def test_the_exercises_are_what_their_solutions_build(capsys):
    code = exercises.main(["--check"])
    said = capsys.readouterr()
    assert code == 0, f"{said.out}{said.err}Run `make exercises`, and commit what it writes."


# --- the judge, judged: a leak is planted, and must be seen

SECRET = "return (ttl - margin - attempt) / (misses + 1)"


@pytest.fixture
def solution():
    """A solution with one secret line, as it stands in a file."""
    source = f"def longest_interval(ttl):\n    # BEGIN SOLUTION\n    {SECRET}\n    # END SOLUTION\n"
    code = {"cell_type": "code", "id": "task", "metadata": {}, "outputs": [], "execution_count": None}
    text = {"cell_type": "markdown", "id": "text", "metadata": {}, "source": "How often?"}
    cells = [code | {"source": source}, text]
    return {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}


def exercise_to(solution, tmp_path):
    """The text that the builder makes of it."""
    path = tmp_path / "solutions" / "q1.ipynb"
    path.parent.mkdir()
    path.write_text(json.dumps(solution))
    return exercises.built(path)[tmp_path / "exercises" / "q1.ipynb"]


def in_cell_metadata(page):
    page["cells"][1]["metadata"]["note"] = SECRET


def in_the_state_of_widgets(page):
    page["metadata"]["widgets"] = {"application/vnd.jupyter.widget-state+json": {"state": {"1": {"value": SECRET}}}}


def in_an_output(page):
    page["cells"][0]["outputs"] = [{"output_type": "stream", "name": "stdout", "text": [SECRET]}]


def in_an_attachment(page):
    coded = base64.b64encode(f"hint: {SECRET}".encode()).decode()
    page["cells"][1]["attachments"] = {"answer.txt": {"text/plain": coded}}


def in_an_attachment_that_is_shown(page):
    in_an_attachment(page)
    page["cells"][1]["source"] = "![](attachment:answer.txt)"


def in_a_comment(page):
    source = page["cells"][0]["source"]
    page["cells"][0]["source"] = "".join(source) + f"\n# for instance {SECRET}"


dropped = [in_cell_metadata, in_the_state_of_widgets, in_an_output, in_an_attachment]
left_in = [in_an_attachment_that_is_shown, in_a_comment]


def test_an_exercise_as_it_is_built_leaks_nothing(solution, tmp_path):
    assert leaks(solution, exercise_to(solution, tmp_path)) == []


@pytest.mark.parametrize("plant", dropped + left_in)
def test_a_line_of_the_solution_is_seen_wherever_it_stands(plant, solution, tmp_path):
    page = json.loads(exercise_to(solution, tmp_path))
    plant(page)
    assert f"a line of the solution: {SECRET}" in leaks(solution, json.dumps(page))


@pytest.mark.parametrize("plant", dropped)
def test_the_builder_drops_what_the_author_left_in_the_file(plant, solution, tmp_path):
    plant(solution)
    assert leaks(solution, exercise_to(solution, tmp_path)) == []


@pytest.mark.parametrize("plant", left_in)
def test_what_the_builder_must_leave_in_is_seen(plant, solution, tmp_path):
    plant(solution)
    assert leaks(solution, exercise_to(solution, tmp_path)) == [f"a line of the solution: {SECRET}"]


def test_a_line_is_seen_through_the_escapes_of_json(solution, tmp_path):
    solution["cells"][0]["source"] = '# BEGIN SOLUTION\non_lost("läuft ab")\n# END SOLUTION'
    page = json.loads(exercise_to(solution, tmp_path))
    page["cells"][1]["source"] = 'on_lost("läuft ab")'
    assert leaks(solution, json.dumps(page)) == ['a line of the solution: on_lost("läuft ab")']


def test_a_line_of_a_cell_that_only_the_solution_has_is_seen(solution, tmp_path):
    cell = {
        "cell_type": "markdown",
        "id": "why",
        "metadata": {"tags": ["solution-only"]},
        "source": "The margin counts.",
    }
    solution["cells"].append(cell)
    page = json.loads(exercise_to(solution, tmp_path))
    page["cells"][1]["source"] = "The margin counts."
    assert leaks(solution, json.dumps(page)) == ["a line of the solution: The margin counts."]


def test_a_line_that_the_learner_is_shown_elsewhere_is_no_secret(solution):
    solution["cells"][1]["source"] = SECRET
    assert secrets(solution) == []


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda page: page["cells"][0].update(execution_count=3), "execution_count of cell task"),
        (lambda page: page["cells"][0]["outputs"].append({"output_type": "stream"}), "outputs of cell task"),
        (lambda page: page["cells"][0]["metadata"].update(tags=["x"]), "metadata tags of cell task"),
        (lambda page: page["cells"][1].update(attachments={"a.png": {}}), "unused a.png of cell text"),
        (lambda page: page["cells"][1].update(source="# END SOLUTION"), "a marker: END SOLUTION"),
        (lambda page: page["metadata"].pop("kernelspec"), "metadata of the notebook"),
    ],
)
def test_what_an_exercise_need_not_carry_is_seen(change, said, solution, tmp_path):
    page = json.loads(exercise_to(solution, tmp_path))
    change(page)
    (found,) = leaks(solution, json.dumps(page))
    assert found.startswith(said)

"""tools/exercises.py: the exercise is the solution without what answers it, and no slip of the author passes unsaid."""

import json

import pytest

from tools import exercises, notebooks

ANSWER = "def longest_interval(ttl, misses):\n    # BEGIN SOLUTION\n    return ttl / misses\n    # END SOLUTION"
STUB = "def longest_interval(ttl, misses):\n    # Your code goes here, in place of the next line.\n    not_attempted()"


def cell(source, kind="code", **more):
    """A cell as it stands in a file; `more` may bring an id, metadata, outputs or attachments."""
    code = {"outputs": [], "execution_count": None} if kind == "code" else {}
    return {"cell_type": kind, "source": source, "metadata": {}} | code | more


@pytest.fixture
def solution(tmp_path):
    """Write solutions/q1.ipynb with these cells into a project of its own and return its path."""

    def save(*cells, **metadata):
        path = tmp_path / "solutions" / "q1.ipynb"
        path.parent.mkdir(exist_ok=True)
        path.write_text(json.dumps({"cells": cells, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}))
        return path

    return save


@pytest.fixture
def exercise(tmp_path):
    return tmp_path / "exercises" / "q1.ipynb"


@pytest.fixture
def copy(tmp_path):
    return tmp_path / "labkit" / "drills" / "q1" / "exercise.ipynb"


@pytest.fixture
def model(tmp_path):
    return tmp_path / "labkit" / "drills" / "q1" / "model.py"


@pytest.fixture
def drill_file(tmp_path):
    """Write a text into the folder of drill q1."""

    def write(name, text):
        path = tmp_path / "labkit" / "drills" / "q1" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    return write


def built(*paths):
    assert exercises.main([str(path) for path in paths]) == 0


def cells_of(path):
    return json.loads(path.read_text(encoding="utf-8"))["cells"]


def source(path, number=0):
    return "".join(cells_of(path)[number]["source"])


def refusal(path, capsys):
    """What is said when the solution at `path` is refused; nothing may have been written."""
    files = {each: each.read_bytes() for each in path.parent.parent.rglob("*") if each.is_file()}
    assert exercises.main([str(path)]) == 1
    assert {each: each.read_bytes() for each in path.parent.parent.rglob("*") if each.is_file()} == files
    return capsys.readouterr().err


# --- what the exercise has


def test_a_region_of_code_becomes_the_stub_at_its_own_indent(solution, exercise):
    built(solution(cell(ANSWER)))
    assert source(exercise) == STUB


def test_a_region_of_text_becomes_the_words_for_an_answer(solution, exercise):
    text = "Why?\n\n<!-- BEGIN SOLUTION -->\nBecause it expires.\n<!-- END SOLUTION -->"
    built(solution(cell(ANSWER), cell(text, kind="markdown")))
    assert source(exercise, 1) == "Why?\n\n*Your answer goes here.*"


@pytest.mark.parametrize("region", ["HIDDEN TESTS", "MARK SCHEME"])
def test_hidden_tests_and_mark_schemes_go(region, solution, exercise):
    built(solution(cell(ANSWER), cell(f"1\n# BEGIN {region}\nassert 2\n# END {region}\n3")))
    assert source(exercise, 1) == "1\n3"


def test_a_cell_of_the_solution_only_is_dropped(solution, exercise):
    discussion = cell("The margin is the point.", kind="markdown", metadata={"tags": ["solution-only"]})
    built(solution(cell(ANSWER), discussion, cell("2")))
    assert [source(exercise, number) for number in range(2)] == [STUB, "2"]
    assert len(cells_of(exercise)) == 2


def test_ids_are_kept(solution, exercise):
    built(solution(cell(ANSWER, id="longest-interval"), cell("2", id="check")))
    assert [each["id"] for each in cells_of(exercise)] == ["longest-interval", "check"]


def test_metadata_outputs_counts_and_widgets_are_dropped(solution, exercise):
    shown = {"output_type": "execute_result", "data": {"text/plain": "10.0"}, "metadata": {}, "execution_count": 7}
    ran = {"outputs": [shown], "execution_count": 7, "metadata": {"note": "ttl / misses", "tags": ["kept-nowhere"]}}
    built(solution(cell(ANSWER, **ran), widgets={"state": {}}, title="the answer", celltoolbar="Edit"))
    assert json.loads(exercise.read_text())["metadata"] == notebooks.METADATA
    assert cells_of(exercise)[0] | {"source": "", "id": ""} == cell("", id="")


def test_an_attachment_stays_only_where_the_text_shows_it(solution, exercise):
    picture = {"image/png": "aGVsZA=="}
    text = "![one](attachment:a%20lease.png)\n\nBEGIN SOLUTION\n![two](attachment:answer.png)\nEND SOLUTION"
    attached = {"a lease.png": picture, "answer.png": picture}
    built(solution(cell(ANSWER), cell(text, kind="markdown", attachments=attached)))
    assert cells_of(exercise)[1]["attachments"] == {"a lease.png": picture}


def test_an_attachment_of_a_mark_scheme_goes_with_it(solution, exercise):
    text = "Why?\nBEGIN MARK SCHEME\n![marks](attachment:marks.png)\nEND MARK SCHEME"
    attached = {"marks.png": {"image/png": "aGVsZA=="}}
    built(solution(cell(ANSWER), cell(text, kind="markdown", attachments=attached)))
    assert source(exercise, 1) == "Why?"
    assert "attachments" not in cells_of(exercise)[1]


def test_a_cell_without_attachments_left_has_no_word_of_them(solution, exercise):
    built(solution(cell(ANSWER), cell("Text.", kind="markdown", attachments={"answer.png": {"image/png": "aA=="}})))
    assert "attachments" not in cells_of(exercise)[1]


def test_the_package_has_the_same_exercise(solution, exercise, copy):
    built(solution(cell(ANSWER)))
    assert copy.read_bytes() == exercise.read_bytes()


def test_a_second_build_changes_no_byte(solution, tmp_path, drill_file):
    drill_file("question.md", "How often?\n")
    path = solution(cell("", kind="markdown", metadata={"labkit": {"from": "question.md"}}), cell(ANSWER))
    built(path)
    first = {each: each.read_bytes() for each in tmp_path.rglob("*") if each.is_file()}
    built(path)
    assert {each: each.read_bytes() for each in tmp_path.rglob("*") if each.is_file()} == first


def test_nothing_is_left_behind_but_what_was_built(solution, tmp_path, exercise, copy, model):
    path = solution(cell(ANSWER))
    built(path)
    assert {each for each in tmp_path.rglob("*") if each.is_file()} == {path, exercise, copy, model}


# --- the model answer


def model_lines(model):
    """The module without its docstring and the empty lines."""
    return [line for line in model.read_text(encoding="utf-8").splitlines()[1:] if line]


def test_the_model_answer_is_the_cells_with_a_solution_without_their_markers(solution, model):
    second = "def stop():\n    # BEGIN SOLUTION\n    return True\n    # END SOLUTION"
    built(solution(cell(ANSWER), cell("print(1)"), cell(second)))
    said = "def longest_interval(ttl, misses):\n    return ttl / misses\n\n\ndef stop():\n    return True\n"
    assert model.read_text().partition("\n\n\n")[2] == said


def test_the_model_answer_opens_by_saying_what_it_is(solution, model):
    built(solution(cell(ANSWER)))
    assert model.read_text().startswith('"""The model answer to q1,')


def test_the_model_answer_has_the_imports_that_it_uses_and_no_others(solution, model):
    imports = "import json\nimport time\n\nfrom labkit.locks import LeaseLost, SafeLock"
    uses = "def wait():\n    # BEGIN SOLUTION\n    raise LeaseLost(time.time())\n    # END SOLUTION"
    built(solution(cell(imports), cell(uses)))
    assert model_lines(model)[:2] == ["import time", "from labkit.locks import LeaseLost"]


def test_its_imports_stand_in_their_groups_and_once(solution, model):
    given = ["from labkit import Lease", "from redis.exceptions import RedisError", "import time", "import time"]
    uses = "def f(x: Lease):\n    # BEGIN SOLUTION\n    return time, RedisError\n    # END SOLUTION"
    built(solution(*map(cell, given), cell(uses)))
    head = '"""\n\nimport time\n\nfrom redis.exceptions import RedisError\n\nfrom labkit import Lease\n\n\ndef f'
    assert head in model.read_text()


def test_a_discussion_of_the_solution_is_no_part_of_the_model_answer(solution, model):
    only = {"tags": ["solution-only"]}
    text = cell("Why?\n<!-- BEGIN SOLUTION -->\nBecause.\n<!-- END SOLUTION -->", kind="markdown")
    built(solution(cell(ANSWER), cell(ANSWER.replace("misses", "7"), metadata=only), text))
    assert model_lines(model) == ["def longest_interval(ttl, misses):", "    return ttl / misses"]


@pytest.mark.parametrize("region", ["HIDDEN TESTS", "MARK SCHEME"])
def test_hidden_tests_are_no_part_of_the_model_answer(region, solution, model):
    built(solution(cell(f"{ANSWER}\n# BEGIN {region}\nassert 2\n# END {region}")))
    assert model_lines(model) == ["def longest_interval(ttl, misses):", "    return ttl / misses"]


def test_a_cell_that_is_no_python_is_refused_with_its_line(solution, capsys):
    said = refusal(solution(cell(ANSWER), cell("1\n%timeit 2", id="slip")), capsys)
    assert "q1.ipynb, cell 'slip', line 2 is no Python" in said


def test_checking_names_the_line_of_the_model_answer_that_differs(solution, model, capsys):
    path = solution(cell(ANSWER))
    built(path)
    model.write_text(model.read_text().replace("ttl / misses", "ttl"))
    assert exercises.main(["--check", str(path)]) == 1
    assert "model.py: changed, first in line 5" in capsys.readouterr().out


# --- texts of the drill


def test_a_text_comes_from_the_folder_of_the_drill_into_both_notebooks(solution, exercise, drill_file):
    drill_file("question.md", "How often is a lease\nof 30 s renewed?\n")
    old = cell("How often?", kind="markdown", id="question", metadata={"labkit": {"from": "question.md"}})
    path = solution(old, cell(ANSWER))
    built(path)
    assert source(exercise) == source(path) == "How often is a lease\nof 30 s renewed?"
    assert cells_of(path)[0]["metadata"] == {"labkit": {"from": "question.md"}}
    assert cells_of(exercise)[0]["metadata"] == {}


def test_a_text_that_is_not_there_is_named(solution, capsys):
    missing = cell("", kind="markdown", id="rubric", metadata={"labkit": {"from": "rubric.md"}})
    said = refusal(solution(missing, cell(ANSWER)), capsys)
    assert "q1.ipynb, cell 'rubric' is to come from rubric.md, and labkit/drills/q1/ has no such file" in said


@pytest.mark.parametrize("name", ["../q2/question.md", "answer.py", 3])
def test_a_text_comes_from_nowhere_else(name, solution, capsys):
    elsewhere = cell("", kind="markdown", id="question", metadata={"labkit": {"from": name}})
    assert f"is to come from {name!r}" in refusal(solution(elsewhere, cell(ANSWER)), capsys)


def test_code_comes_from_no_file(solution, drill_file, capsys):
    drill_file("question.md", "How often?")
    said = refusal(solution(cell(ANSWER, metadata={"labkit": {"from": "question.md"}})), capsys)
    assert "only a Markdown cell can" in said


# --- slips of the author


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        ("1\n# BEGIN SOLUTION to END SOLUTION", 2, "names two markers"),
        ("held = True  # BEGIN SOLUTION\n1\n# END SOLUTION", 1, "has text beside a marker"),
        ("# BEGIN SOLUTION\n1\nheld = True  # END SOLUTION", 3, "has text beside a marker"),
        ("# BEGIN SOLUTIONS\n1\n# END SOLUTION", 1, "has text beside a marker"),
        ("# BEGIN SOLUTION\n# BEGIN SOLUTION\n# END SOLUTION", 2, "«BEGIN SOLUTION» stands inside SOLUTION"),
        ("# BEGIN SOLUTION\n1\n# END HIDDEN TESTS", 3, "«END HIDDEN TESTS» stands inside SOLUTION"),
        ("1\n# END SOLUTION", 2, "«END SOLUTION» stands outside of any region"),
        ("1\n# begin solution\n2\n# end solution", 2, "'# begin solution' is not taken for a marker"),
        ("1\n#BEGIN  SOLUTION\n2\n# END SOLUTION", 2, "'#BEGIN  SOLUTION' is not taken for a marker"),
        ("1\n### BEGIN HIDDEN TEST\n2", 2, "'### BEGIN HIDDEN TEST' is not taken for a marker"),
    ],
)
def test_a_marker_that_would_be_misread_is_refused_with_its_line(text, line, said, solution, capsys):
    heard = refusal(solution(cell(ANSWER), cell(text, id="slip")), capsys)
    assert f"q1.ipynb, cell 'slip', line {line}" in heard
    assert said in heard


def test_a_markdown_line_that_names_both_markers_is_refused(solution, capsys):
    prose = cell("Write between BEGIN SOLUTION and END SOLUTION.", kind="markdown", id="slip")
    assert "cell 'slip', line 1 names two markers" in refusal(solution(cell(ANSWER), prose), capsys)


def test_prose_may_speak_of_solutions(solution, exercise):
    prose = "We begin solution by solution; in the end solutions differ."
    built(solution(cell(ANSWER), cell(prose, kind="markdown")))
    assert source(exercise, 1) == prose


def test_a_region_that_does_not_end_in_its_cell_is_refused(solution, capsys):
    said = refusal(solution(cell("# BEGIN SOLUTION\n1", id="slip"), cell("# END SOLUTION")), capsys)
    assert "q1.ipynb, cell 'slip': «BEGIN SOLUTION» has no «END SOLUTION» in the same cell" in said


def test_a_cell_marked_by_nbgrader_without_a_region_is_refused(solution, capsys):
    marked = cell("held = True", id="slip", metadata={"nbgrader": {"solution": True}})
    assert "cell 'slip' is marked as a solution by nbgrader" in refusal(solution(cell(ANSWER), marked), capsys)


def test_a_solution_with_nothing_to_do_is_refused(solution, capsys):
    assert "q1.ipynb has no «BEGIN SOLUTION»" in refusal(solution(cell("1"), cell("2")), capsys)


def test_a_region_in_a_cell_that_is_dropped_is_nothing_to_do(solution, capsys):
    assert "has no «BEGIN SOLUTION»" in refusal(
        solution(cell(ANSWER, metadata={"tags": ["solution-only"]}), cell("1")), capsys
    )


def test_a_marker_left_over_is_refused(solution, capsys):
    text, name = "![](attachment:END SOLUTION.png)", "END SOLUTION.png"
    odd = cell(text.replace(" ", "%20"), kind="markdown", attachments={name: {"image/png": "aA=="}})
    assert "«END SOLUTION» would still stand in the exercise" in refusal(solution(cell(ANSWER), odd), capsys)


def test_one_that_is_refused_keeps_all_others_from_being_written(solution, tmp_path, exercise, capsys):
    good = solution(cell(ANSWER))
    bad = tmp_path / "solutions" / "q2.ipynb"
    bad.write_text("held = True")
    assert exercises.main([str(good), str(bad)]) == 1
    assert "q2.ipynb cannot be read as a notebook" in capsys.readouterr().err
    assert not exercise.exists()


def test_a_solution_that_is_not_there_is_named(tmp_path, capsys):
    with pytest.raises(SystemExit, match="2"):
        exercises.main([str(tmp_path / "solutions" / "q7.ipynb")])
    assert "there is no solution" in capsys.readouterr().err


@pytest.mark.parametrize("place", ["solutions/answer.ipynb", "exercises/q1.ipynb"])
def test_what_is_no_solution_is_not_built(place, solution, tmp_path, capsys):
    path = tmp_path / place
    path.parent.mkdir(exist_ok=True)
    solution(cell(ANSWER)).rename(path)
    assert "it must be named like solutions/q1.ipynb" in refusal(path, capsys)


def test_an_empty_folder_is_no_success(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(exercises, "ROOT", tmp_path)
    assert exercises.main([]) == 1
    assert "solutions/ holds no notebook" in capsys.readouterr().err


# --- checking


def test_checking_says_yes_when_nothing_would_change(solution):
    path = solution(cell(ANSWER))
    built(path)
    assert exercises.main(["--check", str(path)]) == 0


def test_checking_writes_nothing(solution, exercise):
    path = solution(cell(ANSWER))
    before = path.read_bytes()
    assert exercises.main(["--check", str(path)]) == 1
    assert not exercise.exists()
    assert path.read_bytes() == before


@pytest.mark.parametrize("which", ["exercise", "copy"])
def test_checking_names_the_file_and_the_first_cell_that_differs(which, solution, request, capsys):
    path, target = solution(cell(ANSWER, id="task"), cell("2", id="check")), request.getfixturevalue(which)
    built(path)
    page = json.loads(target.read_text())
    page["cells"][1]["source"] = ["3"]
    target.write_text(json.dumps(page))
    capsys.readouterr()
    assert exercises.main(["--check", str(path)]) == 1
    changed = [line for line in capsys.readouterr().out.splitlines() if "unchanged" not in line]
    assert len(changed) == 1
    assert changed[0].endswith(f"{target.name}: changed, first in cell 2 ('check')")


def test_checking_names_a_cell_that_is_missing(solution, exercise, capsys):
    path = solution(cell(ANSWER, id="task"), cell("2", id="check"))
    built(path)
    page = json.loads(exercise.read_text())
    exercise.write_text(json.dumps(page | {"cells": page["cells"][:1]}))
    assert exercises.main(["--check", str(path)]) == 1
    assert "exercises/q1.ipynb: changed, first in cell 2 ('check')" in capsys.readouterr().out


def test_checking_sees_a_change_outside_of_the_cells(solution, exercise, capsys):
    path = solution(cell(ANSWER))
    built(path)
    page = json.loads(exercise.read_text())
    exercise.write_text(json.dumps(page | {"metadata": {"widgets": {}}}))
    assert exercises.main(["--check", str(path)]) == 1
    assert "exercises/q1.ipynb: changed, not in a cell but in the rest of the file" in capsys.readouterr().out


def test_checking_compares_the_texts_of_the_drill(solution, drill_file, capsys):
    text = drill_file("question.md", "How often?")
    path = solution(
        cell(ANSWER), cell("", kind="markdown", id="question", metadata={"labkit": {"from": "question.md"}})
    )
    built(path)
    text.write_text("How seldom?")
    assert exercises.main(["--check", str(path)]) == 1
    assert "solutions/q1.ipynb: changed, first in cell 2 ('question')" in capsys.readouterr().out


# --- an exercise that somebody worked in


def test_an_exercise_that_somebody_worked_in_is_kept(solution, exercise, capsys):
    built(solution(cell(ANSWER)))
    exercise.write_text("an hour's work")
    built(solution(cell(ANSWER), cell("2")))
    assert (exercise.parent / "q1.backup-1.ipynb").read_text() == "an hour's work"
    assert "q1.backup-1.ipynb" in capsys.readouterr().out


def test_an_exercise_that_nobody_touched_is_replaced_without_a_backup(solution, exercise):
    built(solution(cell(ANSWER)))
    built(solution(cell(ANSWER), cell("2")))
    assert [each.name for each in exercise.parent.iterdir()] == ["q1.ipynb"]

"""tools/notebooks.py: what it saves follows from the sources alone, and a cell that fails is shown."""

import json

import pytest

from tools import notebooks

WIDGET = {notebooks.VIEW: {"model_id": "8e7f", "version_major": 2}, "text/plain": "A panel."}


def cell(source, *outputs, kind="code", **more):
    """A cell as it stands in a file; `more` may bring an id or metadata."""
    code = {"outputs": list(outputs), "execution_count": None} if kind == "code" else {}
    return {"cell_type": kind, "source": source, "metadata": {}} | code | more


def shown(data, output_type="display_data"):
    more = {"execution_count": 41} if output_type == "execute_result" else {}
    return {"output_type": output_type, "data": dict(data), "metadata": {}} | more


@pytest.fixture
def saved(tmp_path):
    """Write a notebook of these cells and return its path."""

    def save(*cells, **metadata):
        path = tmp_path / "page.ipynb"
        path.write_text(json.dumps({"cells": cells, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}))
        return path

    return save


def untouched(notebook, folder):
    """Stands in for the kernel: the outputs in the file are what the run gave."""


def rendered(path):
    return json.loads(notebooks.rendered(path, untouched))


def test_a_real_run_gives_the_same_bytes_twice(saved):
    path = saved(cell("# A page", kind="markdown"), cell("import ipywidgets\nprint(1)\nipywidgets.IntSlider()"))
    assert notebooks.main([str(path)]) == 0
    first = path.read_bytes()
    assert notebooks.main([str(path)]) == 0
    assert path.read_bytes() == first
    assert b"IntSlider(value=0)" in first
    assert b"widget-view" not in first


def test_a_cell_that_raises_is_shown_and_leaves_the_file_as_it_was(saved, capsys):
    path = saved(cell("held = True"), cell("raise ValueError('the lock is gone')"))
    before = path.read_bytes()
    assert notebooks.main([str(path)]) == 1
    said = capsys.readouterr().err
    assert "cell 2 failed" in said
    assert "raise ValueError('the lock is gone')" in said
    assert path.read_bytes() == before


def test_a_run_has_a_progress_file_of_its_own(saved, monkeypatch):
    monkeypatch.setenv("LABKIT_HOME", "/home/reader")
    path = saved(cell("import os\nos.environ['LABKIT_HOME'] == '/home/reader'"))
    assert rendered_output(json.loads(notebooks.rendered(path))) == "False"


def rendered_output(notebook):
    return notebook["cells"][0]["outputs"][0]["data"]["text/plain"][0]


def test_checking_saves_nothing_and_says_no_when_something_would_change(saved, monkeypatch):
    monkeypatch.setattr(notebooks, "execute", untouched)
    path = saved(cell("1 + 1"))
    before = path.read_bytes()
    assert notebooks.main(["--check", str(path)]) == 1
    assert path.read_bytes() == before


def test_checking_says_yes_when_nothing_would_change(saved, monkeypatch):
    monkeypatch.setattr(notebooks, "execute", untouched)
    path = saved(cell("1 + 1"))
    notebooks.main([str(path)])
    assert notebooks.main(["--check", str(path)]) == 0


def test_a_notebook_that_is_not_there_is_named(capsys):
    with pytest.raises(SystemExit, match="2"):
        notebooks.main(["nowhere.ipynb"])
    assert "there is no notebook 'nowhere.ipynb'" in capsys.readouterr().err


def test_a_widget_view_is_dropped_and_its_words_stay(saved):
    page = rendered(saved(cell("panel", shown(WIDGET))))
    assert page["cells"][0]["outputs"][0]["data"] == {"text/plain": ["A panel."]}


def test_an_output_that_was_a_widget_view_only_goes_altogether(saved):
    page = rendered(saved(cell("panel", shown({notebooks.VIEW: {"model_id": "8e7f"}}))))
    assert page["cells"][0]["outputs"] == []


def test_the_state_of_widgets_and_the_version_of_python_are_dropped(saved):
    path = saved(cell("1"), widgets={"state": {}}, language_info={"name": "python", "version": "3.12.4"})
    assert rendered(path)["metadata"] == notebooks.METADATA


def test_times_are_dropped_and_tags_are_kept(saved):
    metadata = {"tags": ["hide-input"], "execution": {"iopub.execute_input": "2024-05-04"}, "scrolled": True}
    assert rendered(saved(cell("1", metadata=metadata)))["cells"][0]["metadata"] == {"tags": ["hide-input"]}


def test_cells_that_run_are_numbered_from_one(saved):
    path = saved(cell("1"), cell(""), cell("text", kind="markdown"), cell("2", execution_count=17))
    assert [each.get("execution_count", "none") for each in rendered(path)["cells"]] == [1, None, "none", 2]


def test_a_result_carries_the_number_of_its_cell(saved):
    page = rendered(saved(cell("1"), cell("2", shown({"text/plain": "2"}, "execute_result"))))
    assert page["cells"][1]["outputs"][0]["execution_count"] == 2


def test_an_id_that_is_there_is_kept(saved):
    assert rendered(saved(cell("1", id="the-crash")))["cells"][0]["id"] == "the-crash"


def test_a_cell_without_an_id_gets_one_from_its_text_wherever_it_stands(saved):
    alone = rendered(saved(cell("acquire()")))["cells"][0]["id"]
    assert rendered(saved(cell("1"), cell("acquire()")))["cells"][1]["id"] == alone


def test_two_equal_cells_have_two_ids(saved):
    first, second = rendered(saved(cell("acquire()"), cell("acquire()")))["cells"]
    assert second["id"] == f"{first['id']}-2"


def test_the_file_ends_with_one_line_end(saved):
    assert notebooks.rendered(saved(cell("1")), untouched).endswith("}\n")

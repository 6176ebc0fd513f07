"""What a client prints, logs and displays arrives, and takes no virtual time: in plain Python and in a real kernel."""

from __future__ import annotations

import io
import json
import logging
import sys
import warnings
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient

from labkit.faults import Crash
from tests.sim.playing import play, result


def test_print_takes_no_time(capsys: pytest.CaptureFixture[str]) -> None:
    def code(me: Any) -> float:
        print("one", flush=True)
        print("two", file=sys.stderr)
        sys.stdout.write("three\n")
        sys.stdout.flush()
        return me.world.now

    assert result(code) == 0
    assert capsys.readouterr() == ("one\nthree\n", "two\n")


def test_print_into_a_file_of_ones_own() -> None:
    box = io.StringIO()
    play(lambda me: print("a", "b", sep="-", end="!", file=box))
    assert box.getvalue() == "a-b!"


def test_logging_takes_no_time_and_bears_the_clients_name_and_time(caplog: pytest.LogCaptureFixture) -> None:
    def code(me: Any) -> float:
        logging.getLogger("story").warning("late by %d s", 3)
        return me.world.now

    assert result(code) == 0
    (record,) = caplog.records
    assert (record.getMessage(), record.threadName, record.created) == ("late by 3 s", "A", 1_700_000_000)


def test_a_handler_with_a_lock_of_its_own_works() -> None:
    def code(me: Any) -> str:
        box = io.StringIO()
        handler = logging.StreamHandler(box)
        logger = logging.getLogger("story.locked")
        logger.addHandler(handler)
        try:
            logger.error("written")
        finally:
            logger.removeHandler(handler)
        return box.getvalue()

    assert result(code) == "written\n"


def test_a_warning_reaches_whoever_collects_them() -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        play(lambda me: warnings.warn("beware", stacklevel=1))
    assert [str(warning.message) for warning in caught] == ["beware"]


def test_a_crashed_client_prints_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    import time

    def code(me: Any) -> None:
        try:
            time.sleep(5)
        finally:
            print("I am dead")

    play(code, lambda me: time.sleep(9), faults=[Crash("A", at=1)])
    assert capsys.readouterr().out == ""


def test_what_a_client_prints_keeps_its_order_among_clients(capsys: pytest.CaptureFixture[str]) -> None:
    import time

    def code(me: Any) -> None:
        for _ in range(3):
            print(me.name, me.world.now)
            time.sleep(1)

    play(code, code)
    assert capsys.readouterr().out == "A 0.0\nB 0.0\nA 1.0\nB 1.0\nA 2.0\nB 2.0\n"


CELL = """
import json, logging, sys, time
import ipywidgets
from IPython.display import HTML, clear_output, display
from labkit.sim import World

slider = ipywidgets.FloatSlider(value=1.0)
label = ipywidgets.Label("before")
display(slider)
stood = []

def code(me):
    for act in (
        lambda: print("printed", flush=True),
        lambda: (sys.stdout.write("written\\n"), sys.stdout.flush()),
        lambda: logging.warning("logged"),
        lambda: display(HTML("<b>shown</b>")),
        lambda: setattr(label, "value", "after"),
        lambda: setattr(slider, "value", 7.0),
        lambda: display(label),
        lambda: display({"text/plain": "raw"}, raw=True),
    ):
        act()
        stood.append(me.world.now)
    time.sleep(60)
    print("a minute", "later", me.world.now, flush=True)
    me.note("done")

with World() as world:
    world.client("A").start(code)
    timeline = world.run()
print(json.dumps([stood, timeline.end, time.sleep.__module__, slider.value]))
"""


def test_in_a_kernel_output_takes_no_time_and_arrives(tmp_path: Path) -> None:
    notebook = nbformat.v4.new_notebook()
    notebook.cells = [nbformat.v4.new_code_cell(CELL), nbformat.v4.new_code_cell("print('alive', time.sleep(0))")]
    client = NotebookClient(
        notebook, timeout=120, kernel_name="python3", resources={"metadata": {"path": str(tmp_path)}}
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # nbclient's own, about its event loop
        client.execute()
    text = "".join(o.get("text", "") for o in notebook.cells[0].outputs)
    shown = [o.data for o in notebook.cells[0].outputs if o.output_type == "display_data"]
    lines = [line for line in text.splitlines() if line]
    assert {"printed", "written"} <= set(lines)
    assert any("logged" in line for line in lines)
    assert "a minute later 60.0" in lines
    assert json.loads(lines[-1]) == [[0.0] * 8, 60.0, "time", 7.0]
    assert any(data.get("text/html") == "<b>shown</b>" for data in shown)
    assert any("Label(value='after')" in data.get("text/plain", "") for data in shown)
    assert any(data.get("text/plain") == "raw" for data in shown)
    assert notebook.cells[1].outputs[0].text == "alive None\n"

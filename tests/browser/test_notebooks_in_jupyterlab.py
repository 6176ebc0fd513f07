"""The notebooks as a reader meets them: JupyterLab in Chromium, opened, run from top to bottom, turned by the keyboard.

JupyterLab is started as `make lab` starts it (loopback, its own token, the settings in tools/jupyter), on a copy of the
notebooks and with a progress file, settings and trust of its own, so that a run changes nothing. Nothing waits for a
time to pass, only for something to be seen.
"""

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from io import BytesIO
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from PIL import Image

from tests.conftest import missing, services_promised

if not services_promised():
    pytest.importorskip("playwright", reason="Playwright is not installed: pip install playwright.")
from playwright.sync_api import Browser, Locator, Page, expect, sync_playwright

pytestmark = pytest.mark.browser

ROOT = Path(__file__).resolve().parents[2]
START = "00-start-here.ipynb"
SECOND = "02-set-nx-px.ipynb"
CHROMIUMS = ("chromium", "chromium-browser", "google-chrome")
QUIET = "--disable-gpu --disable-quic --no-first-run --disable-background-networking --disable-component-update"
PATIENCE = 30_000  # ms; what is waited for takes a second or two on an idle machine


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        own = playwright.chromium.executable_path
        found = next(filter(None, map(shutil.which, CHROMIUMS)), own if os.path.exists(own) else None)
        if found is None:
            missing("No Chromium was found: install the package chromium, or run: playwright install chromium.")
        sandbox = ["--no-sandbox"] if getattr(os, "geteuid", lambda: 1)() == 0 else []  # root cannot have one
        browser = playwright.chromium.launch(executable_path=found, args=[*QUIET.split(), "--disable-sync", *sandbox])
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the notebooks, for the browser to run and to save."""
    return Path(shutil.copytree(ROOT / "notebooks", tmp_path_factory.mktemp("course") / "notebooks"))


@pytest.fixture(scope="module")
def lab(course: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a running JupyterLab with {} for the notebook's name, token and all."""
    home = tmp_path_factory.mktemp("jupyter")
    folders = {f"JUPYTER_{name}_DIR": str(home / name.lower()) for name in ("CONFIG", "DATA", "RUNTIME")}
    surroundings = {"LABKIT_HOME": str(home), "IPYTHONDIR": str(home), "PYTHONPATH": str(ROOT)}
    settings = {"JUPYTER_CONFIG_PATH": str(ROOT / "tools" / "jupyter")}
    command = [sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root", "--ServerApp.ip=127.0.0.1"]
    command += ["--ServerApp.port=0", f"--ServerApp.root_dir={course.parent}"]
    environment = os.environ | folders | surroundings | settings
    with subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True) as server:
        try:
            yield _address(server)
        finally:
            server.terminate()
            server.wait(timeout=30)


def _address(server: "subprocess.Popen[str]") -> str:
    """Reads the server's log up to the line with its address, as somebody at the terminal would."""
    assert server.stderr is not None
    log = []
    for line in server.stderr:
        log.append(line)
        if found := re.search(r"(http://127\.0\.0\.1:\d+)/lab\?(token=\w+)", line):
            Thread(target=server.stderr.read, daemon=True).start()  # a full pipe would stop the server
            return f"{found[1]}/lab/tree/notebooks/{{}}?{found[2]}&reset"
    raise AssertionError("JupyterLab did not start:\n" + "".join(log))


def opened(browser: Browser, lab: str, name: str, requests: list[str] | None = None) -> Page:
    page = browser.new_page(viewport={"width": 1300, "height": 850})
    if requests is not None:
        page.on("request", lambda request: requests.append(request.url))
    page.set_default_timeout(PATIENCE)
    page.goto(lab.format(name))
    expect(page.locator(".jp-Notebook-ExecutionIndicator").first).to_have_attribute(
        "data-status", "idle", timeout=PATIENCE
    )
    return page


def choose(page: Page, menu: str, *items: str) -> None:
    for name in (menu, *items):
        labels = page.locator(".lm-MenuBar-itemLabel, .lm-Menu-itemLabel")
        labels.filter(has_text=re.compile(f"^{re.escape(name)}$")).click()


def run_all(page: Page) -> None:
    """Runs every cell, and returns when the last one has its number and the kernel is idle."""
    page.locator(".jp-Notebook .jp-Cell").first.click()
    choose(page, "Edit", "Clear Outputs of All Cells")
    last = page.locator(".jp-Notebook .jp-CodeCell").last
    last.scroll_into_view_if_needed()
    expect(last.locator(".jp-InputPrompt")).to_have_text("[ ]:")  # the numbers that were saved are gone
    choose(page, "Run", "Run All Cells")
    with suppress(AssertionError):  # a cell that fails stops the others; `problems` names it
        expect(last.locator(".jp-InputPrompt")).to_have_text(re.compile(r"\d"), timeout=PATIENCE)
    expect(page.locator(".jp-Notebook-ExecutionIndicator").first).to_have_attribute("data-status", "idle")


def saved(page: Page, path: Path) -> list[dict[str, Any]]:
    """The code cells of the notebook as JupyterLab writes it."""
    with page.expect_response(lambda r: r.request.method == "PUT" and "/api/contents/" in r.url):
        page.keyboard.press("Control+s")
    return [cell for cell in json.loads(path.read_text("utf-8"))["cells"] if cell["cell_type"] == "code"]


def problems(cells: list[dict[str, Any]]) -> list[str]:
    """What a reader should not meet: cells that did not run, errors, and anything on stderr."""
    unrun = [f"{cell['id']} did not run" for cell in cells if cell["source"] and not cell["execution_count"]]
    outputs = [(cell["id"], output) for cell in cells for output in cell["outputs"]]
    errors = [f"{id_}: {o['ename']}: {o['evalue']}" for id_, o in outputs if o["output_type"] == "error"]
    return unrun + errors + [f"{id_}: {o['text']}" for id_, o in outputs if o.get("name") == "stderr"]


def look_at_every_cell(page: Page) -> None:
    """Cells are drawn when they come into view."""
    for cell in page.locator(".jp-Notebook .jp-Cell").all():
        cell.scroll_into_view_if_needed()


def first_panel(page: Page) -> Locator:
    look_at_every_cell(page)
    return page.locator(".jp-OutputArea-output", has=page.locator(".widget-slider")).first


def pictures(page: Page, name: str = START) -> list[tuple[int, str]]:
    """Width and alternative text of every picture. JupyterLab makes a missing text «Image»; ours is a sentence."""
    look_at_every_cell(page)
    shown = page.locator(".jp-Notebook .jp-OutputArea img")
    expect(shown).to_have_count((ROOT / "notebooks" / name).read_text("utf-8").count("<img alt="), timeout=PATIENCE)
    shown.evaluate_all("all => Promise.all(all.map(image => image.decode()))")
    return [(int(width), alt) for width, alt in shown.evaluate_all("all => all.map(i => [i.naturalWidth, i.alt])")]


def corners(picture: Locator) -> list[tuple[int, ...]]:
    """What is painted just inside the four corners of the picture, as the screen shows it."""
    shot = Image.open(BytesIO(picture.screenshot())).convert("RGB")
    right, bottom = shot.width - 6, shot.height - 6
    return [shot.getpixel(spot) for spot in ((5, 5), (right, 5), (5, bottom), (right, bottom))]


@pytest.fixture(scope="module")
def requests() -> list[str]:
    """Every address that the page of `unrun` and `ran` has asked for."""
    return []


@pytest.fixture(scope="module")
def unrun(browser: Browser, lab: str, requests: list[str]) -> Iterator[Page]:
    """The first notebook as it lies in the folder: opened by somebody who has not run it, and not trusted."""
    page = opened(browser, lab, START, requests)
    yield page
    page.close()


@pytest.fixture(scope="module")
def ran(unrun: Page) -> Page:
    """The same page after «Run All Cells»; its tests stand last, for to load a page takes longer than to run it."""
    run_all(unrun)
    return unrun


# --- opened and not run


def test_the_saved_pictures_are_there_before_anything_runs(unrun: Page) -> None:
    assert all(width > 0 and alt.endswith(".") for width, alt in pictures(unrun))


def test_a_notebook_from_elsewhere_is_not_trusted_and_shows_its_pictures_all_the_same(unrun: Page) -> None:
    expect(unrun.locator(".jp-StatusItem-trust")).to_have_attribute("title", re.compile("not trusted"))
    assert pictures(unrun)


def test_there_is_no_pop_up(unrun: Page) -> None:
    assert unrun.locator(".Toastify__toast, .jp-Dialog").all_inner_texts() == []


def test_on_a_dark_page_the_picture_stands_on_a_light_card(unrun: Page) -> None:
    choose(unrun, "Settings", "Theme", "JupyterLab Dark")
    expect(unrun.locator("body")).to_have_attribute("data-jp-theme-light", "false")
    picture = unrun.locator(".jp-Notebook .jp-OutputArea img").first
    painted = (corners(picture) for _ in range(20) if unrun.wait_for_timeout(200) is None)  # the page settles first
    assert any(all(min(colour) > 230 for colour in four) for four in painted)
    choose(unrun, "Settings", "Theme", "JupyterLab Light")


# --- run


def test_the_second_notebook_runs_from_top_to_bottom(browser: Browser, lab: str, course: Path) -> None:
    page = opened(browser, lab, SECOND)
    run_all(page)
    assert problems(saved(page, course / SECOND)) == []
    page.close()


def test_the_first_notebook_runs_from_top_to_bottom(ran: Page, course: Path) -> None:
    assert problems(saved(ran, course / START)) == []


def test_every_picture_of_a_run_is_visible_and_has_its_sentence(ran: Page) -> None:
    assert all(width > 0 and alt.endswith(".") for width, alt in pictures(ran))


def test_a_slider_moved_by_keyboard_changes_the_picture_and_the_verdict(ran: Page) -> None:
    output = first_panel(ran)
    picture, words = output.locator("img"), output.locator("ul").last
    before = picture.get_attribute("alt")
    expect(words).not_to_contain_text("BROKEN")
    output.get_by_role("slider").first.focus()
    for _ in range(5):  # steps of half a second: from 8 s to 10.5 s
        ran.keyboard.press("ArrowRight")
    expect(words).to_contain_text("BROKEN")
    expect(picture).not_to_have_attribute("alt", str(before))


def test_a_panel_fits_into_a_narrow_window(ran: Page) -> None:
    ran.set_viewport_size({"width": 760, "height": 850})
    panel = first_panel(ran)
    room, slider = panel.bounding_box(), panel.locator(".widget-slider").first.bounding_box()
    assert room and slider and slider["x"] + slider["width"] <= room["x"] + room["width"] + 2  # its margin


def test_nothing_was_asked_of_another_machine(ran: Page, requests: list[str]) -> None:
    assert [url for url in requests if not re.match(r"http://127\.0\.0\.1:|data:|blob:", url)] == []

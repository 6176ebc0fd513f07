"""The glossary is what the notebooks say, and they say one thing for one word."""

from __future__ import annotations

import pytest

from tools import glossary

NOTEBOOKS = sorted((glossary.ROOT / "notebooks").glob("0[1-7]*.ipynb"))


def test_the_page_is_what_the_notebooks_say() -> None:
    assert glossary.PAGE.read_text(encoding="utf-8") == glossary.page(glossary.words())


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_explains_its_words_and_leads_to_the_glossary(notebook: object) -> None:
    assert len(glossary.table(notebook)) >= 4
    assert "(../docs/glossary.md)" in notebook.read_text(encoding="utf-8")


def test_a_word_has_one_chinese_term() -> None:
    terms: dict[str, set[str]] = {}
    for notebook in NOTEBOOKS:
        for word in glossary.table(notebook):
            terms.setdefault(word.word, set()).add(word.chinese)
    assert {word: chinese for word, chinese in terms.items() if len(chinese) > 1} == {}

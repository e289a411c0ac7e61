"""The language check finds words in text, in identifiers and across lines, and leaves quotations alone."""

import pytest
from tools.language import ROOT, Allowed, Rules, read_texts

RULES = Rules(
    {"heart": "heartbeat", "doom*": "planned deletion", "keeper": "sync", "alive": "active"},
    {"in the way": "conflicts"},
    [Allowed("quoted.md", "a heart of stone"), Allowed("old/", "*")],
)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("the heart stops", ["heart"]),
        ("its_heart", ["heart"]),
        ("OneHeart", ["heart"]),
        ("HEART = 1", ["heart"]),
        ("an-open-heart", ["heart"]),
        ("a heartbeat, HeartbeatInterval", []),
        ("doomed_files", ["doom*"]),
        ("ZooKeeper, zookeeper.py, ZOOKEEPER", []),
        ("thread.is_alive()", []),
        ("stands in\n    # the way", ["in the way"]),
        ("in the wayside", []),
    ],
)
def test_words_are_matched_whole(text: str, words: list[str]) -> None:
    """A word is found in text and as a part of an identifier, a phrase also across the lines of a comment."""
    assert [use.word for use in RULES.find_wrong_uses("file.py", text)] == words


def test_allowed_quotations() -> None:
    """An allowed quotation counts in its file or folder only, and only on its line."""
    assert not list(RULES.find_wrong_uses("quoted.md", "a heart of stone"))
    assert not list(RULES.find_wrong_uses("old/names", "heart"))
    assert [use.line for use in RULES.find_wrong_uses("quoted.md", "a heart of stone\nmy heart")] == [2]
    assert list(RULES.find_wrong_uses("other.md", "a heart of stone"))


def test_a_use_is_shown_with_its_place_and_a_suggestion() -> None:
    """A finding has the form file:line: word -> suggestion."""
    assert [str(use) for use in RULES.find_wrong_uses("a.py", "\nheart")] == ["a.py:2: heart -> heartbeat"]


def test_the_table_loads() -> None:
    """Every word of the committed table is in lower case and has a suggestion."""
    rules = Rules.load()
    assert all(word == word.lower() and better for word, better in [*rules.words.items(), *rules.phrases.items()])


@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="needs a git checkout")
def test_the_repository_uses_no_word_of_the_table() -> None:
    """No tracked file uses a word of the table outside the allowed quotations: run `python -m tools.language`."""
    rules = Rules.load()
    assert not [str(use) for path, text in read_texts(ROOT) for use in rules.find_wrong_uses(path, text)]

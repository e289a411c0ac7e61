"""Check the language of the repository: words that the project does not use, with what to write instead.

    python -m tools.language                     every use, as file:line: word -> suggestion; exit code 1 if there is one
    python -m tools.language docs tools          only files below these paths
    python -m tools.language --counts            lines and uses of each word, without the list of allowed quotations

The words, the phrases and the allowed quotations are in `tools/language.toml`.
"""

import argparse
import re
import subprocess
import sys
import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
TABLE = Path(__file__).with_suffix(".toml")
SUFFIXES = (".py", ".md", ".toml", ".j2")
#: A word inside text or an identifier: `LockHeld`, `lock_held` and `lock-held` have two each. An acronym is one word.
WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
#: Names of other projects that contain such a word.
NAMES = re.compile(r"zoo_?keeper|is_alive", re.IGNORECASE)
#: The text that may separate two words of a phrase: spaces, a line break, comment marks.
GAP = r"[\s#|>]+"


@dataclass(frozen=True)
class Use:
    """A word or phrase that the project does not use, found in a file."""

    path: str
    line: int
    word: str
    suggestion: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.word} -> {self.suggestion}"


@dataclass(frozen=True)
class Allowed:
    """A quotation, in which a word may be used, in one file, in the files of a folder, or in all files (`*`)."""

    path: str
    phrase: str

    def mask(self, path: str, text: str) -> str:
        """The text of a file with the quotation replaced by spaces."""
        here = self.path == "*" or (path.startswith(self.path) if self.path.endswith("/") else path == self.path)
        if not here:
            return text
        return "" if self.phrase == "*" else text.replace(self.phrase, " " * len(self.phrase))


@dataclass(frozen=True)
class Rules:
    """The table of words, phrases and quotations."""

    words: Mapping[str, str]
    phrases: Mapping[str, str]
    allowed: Sequence[Allowed]

    @classmethod
    def load(cls) -> "Rules":
        """The rules in `tools/language.toml`."""
        table = tomllib.loads(TABLE.read_text("utf-8"))
        return cls(table["words"], table["phrases"], [Allowed(one["path"], one["phrase"]) for one in table["allowed"]])

    @cached_property
    def _prefixes(self) -> tuple[str, ...]:
        return tuple(word[:-1] for word in self.words if word.endswith("*"))

    @cached_property
    def _phrase(self) -> re.Pattern[str]:
        return re.compile(r"\b(" + "|".join(phrase.replace(" ", GAP) for phrase in self.phrases) + r")\b", re.IGNORECASE)

    def find_rule(self, word: str) -> str | None:
        """The entry of the table that a word in lower case matches."""
        if word in self.words:
            return word
        return next((f"{prefix}*" for prefix in self._prefixes if word.startswith(prefix)), None)

    def find_uses(self, path: str, text: str) -> Iterator[Use]:
        """All uses in a file in the order of lines, including quotations."""
        found = [*self._word_uses(path, text), *self._phrase_uses(path, text)]
        return iter(sorted(found, key=lambda use: use.line))

    def _word_uses(self, path: str, text: str) -> Iterator[Use]:
        for number, line in enumerate(text.splitlines(), 1):
            for match in WORD.finditer(NAMES.sub("Z", line)):
                if rule := self.find_rule(match[0].lower()):
                    yield Use(path, number, rule, self.words[rule])

    def _phrase_uses(self, path: str, text: str) -> Iterator[Use]:
        for match in self._phrase.finditer(text):
            phrase = re.sub(GAP, " ", match[0]).lower()
            yield Use(path, text.count("\n", 0, match.start()) + 1, phrase, self.phrases[phrase])

    def find_wrong_uses(self, path: str, text: str) -> Iterator[Use]:
        """All uses in a file that are not quotations."""
        for one in self.allowed:
            text = one.mask(path, text)
        return self.find_uses(path, text)


def checked_files(root: Path, below: Sequence[str] = ()) -> Iterator[str]:
    """The tracked files whose language is checked, relative to the root."""
    listed = subprocess.run(["git", "ls-files", "-z", "--", *below], cwd=root, capture_output=True, text=True, check=True)
    for path in listed.stdout.split("\0"):
        if (path.endswith(SUFFIXES) or Path(path).name == "case.json") and (root / path).is_file():
            yield path


def read_texts(root: Path, below: Sequence[str] = ()) -> Iterator[tuple[str, str]]:
    """Path and text of each file that is checked."""
    for path in checked_files(root, below):
        yield path, (root / path).read_text("utf-8")


def count_words(rules: Rules, root: Path, below: Sequence[str] = ()) -> Iterator[str]:
    """A line for each word that is used: how many lines of .py, .md, .toml and .j2 files, and uses in golden cases."""
    source: Counter[str] = Counter()
    cases: Counter[str] = Counter()
    for path, text in read_texts(root, below):
        found = {(use.word, use.line) for use in rules.find_uses(path, text) if path != "tools/language.toml"}
        (cases if path.endswith(".json") else source).update(word for word, _ in found)
    for word in (*rules.words, *rules.phrases):
        if source[word] or cases[word]:
            yield f"{word:18} {source[word]:6} {cases[word]:6}"
    yield f"{'all':18} {source.total():6} {cases.total():6}"


def main() -> int:
    """0 if no file uses a word of the table, 1 otherwise."""
    parser = argparse.ArgumentParser(prog="tools.language", description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("paths", nargs="*", help="files and folders; the whole repository if absent")
    parser.add_argument("--counts", action="store_true", help="print how often each word is used")
    parser.add_argument("--root", type=Path, default=ROOT, help="another checkout")
    asked = parser.parse_args()
    rules = Rules.load()
    if asked.counts:
        print(f"{'word':18} {'lines':>6} {'cases':>6}", *count_words(rules, asked.root, asked.paths), sep="\n")
        return 0
    found = [use for path, text in read_texts(asked.root, asked.paths) for use in rules.find_wrong_uses(path, text)]
    print(*found, sep="\n", end="\n" if found else "")
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main())

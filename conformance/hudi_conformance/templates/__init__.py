"""Templates of adapters, which `hudi-conformance new-engine` copies. They import no module of the project.

Each language has a folder with one small program and its build files. All of them read the same tables and refuse the same
things, so a change of one is a change of all.
"""

from dataclasses import dataclass
from importlib.resources import files


@dataclass(frozen=True)
class Template:
    """The files of one language, the program first, and the commands that build and start the adapter in their folder."""

    language: str
    files: tuple[str, ...]
    needs: str
    build: str
    adapter: str

    def text(self, name: str) -> str:
        """The content of one of `files`."""
        return files(__name__).joinpath(self.language, *name.split("/")).read_text(encoding="utf-8")


#: The template of each language.
TEMPLATES = {
    one.language: one
    for one in (
        Template(
            "python",
            ("adapter.py", "requirements.txt"),
            needs="Python 3.11",
            build="pip install -r requirements.txt",
            adapter="python adapter.py",
        ),
        Template(
            "typescript",
            ("adapter.ts", "package.json", "package-lock.json", "tsconfig.json"),
            needs="Node.js 20.15",
            build="npm install && npx tsc",
            adapter="node dist/adapter.js",
        ),
        Template(
            "go",
            ("main.go", "go.mod", "go.sum"),
            needs="Go 1.25",
            build="go build -o adapter .",
            adapter="./adapter",
        ),
        Template(
            "rust",
            ("src/main.rs", "Cargo.toml", "Cargo.lock"),
            needs="Rust 1.89",
            build="cargo build",
            adapter="target/debug/my-engine",
        ),
        Template(
            "java",
            ("src/main/java/Adapter.java", "pom.xml"),
            needs="Java 17 and Maven",
            build="mvn -q package",
            adapter="java -jar target/adapter.jar",
        ),
        Template(
            "cpp",
            ("adapter.cpp", "CMakeLists.txt"),
            needs="C++20, CMake 3.20",
            build="cmake -B build && cmake --build build",
            adapter="build/adapter",
        ),
    )
}

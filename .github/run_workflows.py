"""Run the jobs of the workflows on this machine: the last commit, in a fresh clone, home and virtual environment for each job.

python .github/run_workflows.py --list            list the jobs, and say which cannot run here and why
python .github/run_workflows.py --job lint docs   run these, after the jobs that they need
python .github/run_workflows.py                   run all

`run:` steps run in bash, with the values of the matrix. Of the actions, checkout is the clone, setup-python a virtual environment
that comes first in PATH, and artifacts are folders below --out, beside a log of each job. Other actions need GitHub and are left
out. Jobs without a `run:` step, or for a system or Python that this machine lacks, are skipped. Conditions (`if:`) are not
evaluated. The clone of a failed job is kept. Uncommitted changes are not part of a clone.

`act` does the same in containers, for which it downloads images and actions; here only pip and npm download.
"""

from __future__ import annotations

import argparse
import itertools
import os
import platform
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple, TextIO

import yaml

ROOT = Path(__file__).resolve().parents[1]
WORKFLOWS = ROOT / ".github" / "workflows"
SYSTEMS = {
    "ubuntu-latest": ("Linux", "x86_64"),
    "ubuntu-24.04-arm": ("Linux", "aarch64"),
    "macos-latest": ("Darwin", "arm64"),
    "windows-latest": ("Windows", "AMD64"),
}
"""What Python says of these systems."""
DROPPED = ("NAINJAUNE_", "XDG_", "PYTHON", "VIRTUAL_ENV", "VENV", "MAKE")
"""Variables that begin so are not handed on: they would point to files of the caller."""


class Job(NamedTuple):
    """A job with one combination of the values of its matrix."""

    key: str
    settings: dict[str, Any]
    env: dict[str, str]
    """The workflow's."""
    values: dict[str, str]
    """Of the matrix and of the repository's variables, by name: ``matrix.python``."""

    @property
    def name(self) -> str:
        """As GitHub shows it."""
        chosen = ", ".join(value for name, value in self.values.items() if name.startswith("matrix."))
        return f"{self.key} ({chosen})" if chosen else self.key

    @property
    def needs(self) -> list[str]:
        needs = self.settings.get("needs", [])
        return [needs] if isinstance(needs, str) else needs

    def steps(self, action: str) -> list[dict[str, str]]:
        """Returns what each step that uses an action is given, filled in."""
        used = [step for step in self.settings["steps"] if step.get("uses", "").split("@")[0] == action]
        return [{name: fill(str(text), self.values) for name, text in step.get("with", {}).items()} for step in used]

    def commands(self) -> list[str]:
        return [fill(step["run"], self.values) for step in self.settings["steps"] if "run" in step]

    def python(self) -> str:
        """Returns the command of the Python that the job sets up."""
        return "".join(f"python{step['python-version']}" for step in self.steps("actions/setup-python"))

    def obstacle(self) -> str:
        """Returns why the job cannot run here; nothing if it can."""
        system = fill(self.settings["runs-on"], self.values)
        if system not in SYSTEMS:
            raise ValueError(f"Job {self.key!r}: expected a system of {', '.join(SYSTEMS)}; got {system!r}.")
        if not self.commands():
            return "only actions of GitHub"
        if (platform.system(), platform.machine()) != SYSTEMS[system]:
            return f"another system: {system}"
        here = (
            shutil.which(self.python()) and not subprocess.run([self.python(), "-V"], check=False, capture_output=True).returncode
        )
        return "" if here else f"no {self.python()}"


def fill(text: str, values: dict[str, str]) -> str:
    """Returns ``text`` with a value for each expression: the first name or quoted text between ``||`` that is not empty."""

    def value(match: re.Match[str]) -> str:
        for part in match[1].split("||"):
            name = part.strip()
            if not re.fullmatch(r"'[^']*'|vars\.\w+", name) and name not in values:
                raise ValueError(f"Expected names of the matrix, vars.NAME or 'text', with || between; got {match[0]!r}.")
            if result := name[1:-1] if name[0] == "'" else values.get(name, ""):
                return result
        return ""

    return re.sub(r"\$\{\{(.*?)\}\}", value, text)


def jobs(path: Path, variables: dict[str, str]) -> Iterator[Job]:
    """Yields the jobs of a workflow, once for each combination of a matrix."""
    workflow = yaml.safe_load(path.read_text(encoding="utf-8"))
    for key, settings in workflow["jobs"].items():
        matrix = settings.get("strategy", {}).get("matrix", {})
        lists = matrix.values() if isinstance(matrix, dict) else [matrix]
        if {"include", "exclude"} & set(matrix) or not all(isinstance(choices, list) for choices in lists):
            raise ValueError(f"Job {key!r}: expected a matrix of lists, without include and exclude; got {matrix!r}.")
        for chosen in itertools.product(*lists):
            values = {f"matrix.{name}": str(one) for name, one in zip(matrix, chosen, strict=True)}
            yield Job(key, settings, workflow.get("env", {}), variables | values)


def store(artifact: dict[str, str], folder: Path, artifacts: Path) -> None:
    """Copies the files of an artifact; of several paths it keeps the part of the names that differs, as GitHub does."""
    paths = [folder / line.strip() for line in artifact["path"].splitlines()]
    root, target = Path(os.path.commonpath(paths)), artifacts / artifact.get("name", "github-pages")
    shutil.rmtree(target, ignore_errors=True)
    for path in paths:
        if path.exists():
            shutil.copytree(path, target / path.relative_to(root), dirs_exist_ok=True)


def run(job: Job, out: Path, log: TextIO) -> str:
    """Runs a job. Returns what went wrong; nothing if it succeeded."""
    folder, artifacts, home = out / job.name / "work", out / "artifacts", out / job.name / "home"
    shutil.rmtree(out / job.name, ignore_errors=True)
    home.mkdir(parents=True)
    subprocess.run(["git", "clone", "--quiet", ROOT, folder], check=True)
    subprocess.run([job.python(), "-m", "venv", home / "python"], check=True)
    env = {name: text for name, text in os.environ.items() if not name.startswith(DROPPED)}
    env |= {name: fill(text, job.values) for name, text in (job.env | job.settings.get("env", {})).items()}
    env.setdefault("RUSTUP_HOME", str(Path.home() / ".rustup"))  # compilers are the machine's, as Python is
    env |= {
        "HOME": str(home),
        "PATH": f"{home / 'python' / 'bin'}{os.pathsep}{env['PATH']}",
        "CI": "true",
        "GITHUB_ACTIONS": "true",
    }
    for artifact in job.steps("actions/download-artifact"):
        shutil.copytree(artifacts / artifact["name"], folder / artifact["path"], dirs_exist_ok=True)
    end = time.monotonic() + 60 * job.settings["timeout-minutes"]
    for step in [step for step in job.settings["steps"] if "run" in step]:
        command = fill(step["run"], job.values)
        print(f"$ {command}", file=log, flush=True)
        step_env = env | {name: fill(text, job.values) for name, text in step.get("env", {}).items()}
        process = subprocess.Popen(
            ["bash", "-e", "-o", "pipefail", "-c", command],
            cwd=folder, env=step_env, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True,
        )  # fmt: skip
        try:
            status = process.wait(max(0.0, end - time.monotonic()))
        except BaseException as stopped:
            os.killpg(process.pid, signal.SIGKILL)
            if not isinstance(stopped, subprocess.TimeoutExpired):
                raise
            return f"`{command}` took more than the {job.settings['timeout-minutes']} minutes of the job"
        if status:
            return f"`{command}` ended with status {status}"
    for action in ("actions/upload-artifact", "actions/upload-pages-artifact"):
        for artifact in job.steps(action):
            store(artifact, folder, artifacts)
    shutil.rmtree(out / job.name)
    return ""


def with_needed(chosen: set[str], everything: list[Job]) -> list[Job]:
    """Returns the jobs that are named, or all if none is, and those that they need."""
    unknown = chosen - {name for job in everything for name in (job.key, job.name)}
    if unknown:
        raise ValueError(
            f"No job is called {sorted(unknown)[0]!r}; the jobs are {', '.join(dict.fromkeys(job.key for job in everything))}."
        )
    result = [job for job in everything if not chosen or {job.key, job.name} & chosen]
    needed = {name for job in result for name in job.needs} - chosen
    return with_needed(chosen | needed, everything) if chosen and needed else result


def main(words: list[str] | None = None) -> None:
    about, _, rest = (__doc__ or "").partition("\n\n")
    parser = argparse.ArgumentParser(description=about, epilog=rest, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--list", action="store_true", help="list the jobs, and run none")
    parser.add_argument(
        "--job", nargs="+", default=[], metavar="NAME", help="'tests' is all of a matrix, 'tests (3.11)' one of it"
    )
    parser.add_argument("--out", type=Path, default=ROOT / "build" / "workflows", metavar="FOLDER", help="default: %(default)s")
    parser.add_argument(
        "--variable", nargs="+", default=[], metavar="NAME=TEXT", help="variables of the repository: TORCH_CPU_INDEX=URL"
    )
    options = parser.parse_args(words)
    for word in options.variable:
        if "=" not in word:
            parser.error(f"--variable: expected NAME=TEXT; got {word!r}.")
    variables = {f"vars.{name}": text for name, _, text in (word.partition("=") for word in options.variable)}
    try:
        everything = [job for path in sorted(WORKFLOWS.glob("*.yml")) for job in jobs(path, variables)]
        selected = with_needed(set(options.job), everything)
        obstacles = [job.obstacle() for job in selected]
    except ValueError as error:
        parser.error(str(error))
    out = options.out.resolve()
    width = max(len(job.name) for job in selected)
    print(f"{'job':{width}}  seconds  result")
    without: set[str] = set()  # jobs whose artifacts are not there
    failed = False
    for job, obstacle in zip(selected, obstacles, strict=True):
        needed = "".join(f"needs {name}, which did not succeed" for name in job.needs if name in without)
        result, seconds = f"skipped: {obstacle or needed}" if obstacle or needed else "", ""
        if not options.list:
            if not result:
                begun = time.monotonic()
                out.mkdir(parents=True, exist_ok=True)
                with (out / f"{job.name}.log").open("w", encoding="utf-8") as log:
                    fault = run(job, out, log)
                result, seconds = f"failed: {fault}" if fault else "ok", f"{time.monotonic() - begun:.0f}"
                failed = failed or bool(fault)
            without |= set() if result == "ok" else {job.key}
        print(f"{job.name:{width}}  {seconds:>7}  {result}".rstrip(), flush=True)
    if failed:
        sys.exit(f"The logs are in {out}.")


if __name__ == "__main__":
    main()

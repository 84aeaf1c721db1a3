"""Check a release, and try what it is made of. Nothing is uploaded: `make release` calls it, and a person pushes the tag.

python .github/release/release.py changelog 1.2.3   make the changelog's unreleased changes the section of a version
python .github/release/release.py before            check that the commit is a release: clean, tagged, with its section
python .github/release/release.py built             check the files in dist, try each kind in an empty environment, write recipes

The first thing that is wrong ends it with a sentence and status 1.
"""

from __future__ import annotations

import argparse
import datetime
import hashlib
import re
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

from packaging.utils import parse_sdist_filename, parse_wheel_filename
from packaging.version import Version

ROOT = Path(__file__).resolve().parents[2]
HERE = ".github/release"
PROJECT = "nainjaune-env"
MAX_SDIST, MAX_WHEEL = 10_000_000, 100_000_000
"""Bytes. The second is what PyPI takes without asking."""
NUMBERS = re.compile(r"\d+\.\d+\.\d+")
SECTION = re.compile(r"^## \[([^\]]+)\](?: - (\S+))?\n(.*?)(?=^## |\Z)", re.MULTILINE | re.DOTALL)
RECIPES = ("conda-forge", "emscripten-forge")
GAME = """
import gymnasium, nainjaune_env
env = gymnasium.make("NainJaune-v0", players=4)
observation, info = env.reset(seed=7)
done = False
while not done:
    observation, reward, done, _, info = env.step(env.action_space.sample(info["action_mask"]))
"""
EVALUATIONS = {"wheel": ["zoo:strong", "tally"], "sdist": ["tally", "random"]}
"""Agents of the evaluation: a source distribution has no trained players."""


def output_of(*command: str) -> str:
    """Returns what a command prints. Ends the script if the command fails."""
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"`{' '.join(command)}` failed: {(done.stderr or done.stdout).strip()}")
    return done.stdout.strip()


def entries(body: str) -> list[str]:
    """Returns the lines of a section of the changelog that begin a change."""
    return re.findall(r"^- .*", body, re.MULTILINE)


def sections(text: str) -> dict[str, tuple[str, str]]:
    """Returns date and body of each section of the changelog, newest first. Ends the script if the first is not Unreleased."""
    result = {name: (date, body) for name, date, body in SECTION.findall(text)}
    if next(iter(result), None) != "Unreleased":
        sys.exit("CHANGELOG.md must begin with the section [Unreleased].")
    return result


def with_version(text: str, version: str, today: datetime.date) -> str:
    """Returns the changelog with its unreleased changes as the section of ``version``. Ends the script if that cannot be."""
    if not NUMBERS.fullmatch(version):
        sys.exit(f"A version is three numbers, 1.2.3; not {version!r}.")
    _, *released = known = sections(text)
    if released and Version(version) <= Version(released[0]):
        sys.exit(f"The changelog already has version {released[0]}; {version} is not after it.")
    if not entries(known["Unreleased"][1]):
        sys.exit("The changelog has no unreleased change, so there is nothing to release.")
    return text.replace("## [Unreleased]\n", f"## [Unreleased]\n\n## [{version}] - {today}\n", 1)


def check_changelog(text: str, version: str, today: datetime.date) -> None:
    """Ends the script unless the newest section is that of ``version``, dated, with changes, and none is unreleased."""
    known = sections(text)
    if entries(known["Unreleased"][1]):
        sys.exit(
            f"The changelog has unreleased changes. `python {HERE}/release.py changelog {version}` makes them those of "
            f"{version}; commit that, and move the tag to that commit (`git tag --force v{version}`)."
        )
    name, (date, body) = (*known.items(), ("", ("", "")))[1]
    if name != version:
        sys.exit(f"The newest section of the changelog must be version {version}, the tag's; it is {name or 'missing'}.")
    if not re.fullmatch(r"\d{4}-\d\d-\d\d", date) or date > str(today):
        sys.exit(f"The section of version {version} must have a date, not after {today}; it has {date or 'none'}.")
    if not entries(body):
        sys.exit(f"The section of version {version} has no change.")


def tagged_version() -> str:
    """Returns the version of this commit. Ends the script unless files are as committed and the commit is a version's."""
    if changed := output_of("git", "status", "--porcelain"):
        sys.exit(f"A release is made of a commit, but these files differ from it:\n{changed}")
    version = output_of(sys.executable, "-m", "setuptools_scm")
    if not NUMBERS.fullmatch(version):
        sys.exit(
            f"This commit is version {version}, not a release. `python {HERE}/release.py changelog 1.2.3` writes the section of "
            "a release; commit it, and tag that commit: `git tag v1.2.3`."
        )
    if (tag := f"v{version}") not in output_of("git", "tag", "--points-at", "HEAD").split():
        sys.exit(f"This commit has no tag {tag}, though its version is {version}: `git tag {tag}`.")
    return version


def built_files(folder: Path, version: str) -> tuple[Path, list[Path]]:
    """Returns the source distribution and the wheels. Ends the script unless they are of ``version`` and of acceptable size."""
    sources, wheels = sorted(folder.glob("*.tar.gz")), sorted(folder.glob("*.whl"))
    if len(sources) != 1 or not wheels:
        sys.exit(f"{folder} must have one source distribution and at least one wheel; it has {len(sources)} and {len(wheels)}.")
    versions = {path: parse_wheel_filename(path.name)[1] for path in wheels}
    versions[sources[0]] = parse_sdist_filename(sources[0].name)[1]
    for path, its_version in versions.items():
        if its_version != Version(version):
            sys.exit(f"{path.name} is version {its_version}; this commit is {version}.")
        most = MAX_WHEEL if path in wheels else MAX_SDIST
        if (size := path.stat().st_size) > most:
            sys.exit(f"{path.name} has {size / 1e6:.1f} MB; the most is {most / 1e6:.0f} MB. MANIFEST.in says what stays out.")
    return sources[0], wheels


def try_in_empty_environment(dist: Path, kind: str, version: str) -> None:
    """Installs a wheel that fits this machine, or the source distribution, then plays a round and evaluates two agents."""
    with tempfile.TemporaryDirectory() as folder:
        venv.create(folder, with_pip=True)
        programs = Path(folder, "Scripts" if sys.platform == "win32" else "bin")
        python, nainjaune = str(programs / "python"), str(programs / "nainjaune")
        choice = "--only-binary" if kind == "wheel" else "--no-binary"
        pip = [python, "-m", "pip", "install", "--quiet", "--find-links", str(dist), choice, PROJECT]
        extras = "players" if kind == "wheel" else "players,numba"  # the wheel brings compiled loops, the sources do not
        output_of(*pip, f"{PROJECT}[{extras}]=={version}")
        output_of(python, "-c", GAME)
        table = output_of(nainjaune, "evaluate", "--agents", *EVALUATIONS[kind], "--deals", "100", "--seed", "1")
        print(f"The {kind}, installed in an empty environment, plays a round, and evaluates:\n{table}")


def filled(recipe: str, version: str, source: Path, wheel: Path) -> str:
    """Returns a conda recipe with the version, and the hashes of the files that it takes."""
    hashes = {digit * 64: hashlib.sha256(path.read_bytes()).hexdigest() for digit, path in {"0": source, "f": wheel}.items()}
    for place, value in {"version: 0.0.0": f"version: {version}", **hashes}.items():
        recipe = recipe.replace(place, value)
    return recipe


def write_recipes(out: Path, version: str, source: Path, wheels: list[Path]) -> None:
    """Writes the conda recipes, with the hashes of this release. Ends the script if no wheel is for any machine."""
    anywhere = [wheel for wheel in wheels if wheel.name.endswith("-none-any.whl")]
    if not anywhere:
        sys.exit("The conda recipes take the networks from a wheel for any machine (py3-none-any), and there is none.")
    for channel in RECIPES:
        (out / channel).mkdir(parents=True, exist_ok=True)
        for path in (ROOT / HERE / channel).iterdir():
            text = path.read_text(encoding="utf-8")
            text = filled(text, version, source, anywhere[0]) if path.name == "recipe.yaml" else text
            (out / channel / path.name).write_text(text, encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    steps = parser.add_subparsers(dest="step", required=True)
    steps.add_parser("changelog").add_argument("version")
    steps.add_parser("before")
    steps.add_parser("built")
    arguments = parser.parse_args()
    changelog, today = ROOT / "CHANGELOG.md", datetime.datetime.now(datetime.UTC).date()
    text = changelog.read_text(encoding="utf-8")
    if arguments.step == "changelog":
        changelog.write_text(with_version(text, arguments.version, today), encoding="utf-8")
        return
    version = tagged_version()
    if arguments.step == "before":
        check_changelog(text, version, today)
        print(f"This commit is release {version}.")
        return
    source, wheels = built_files(ROOT / "dist", version)
    for kind in EVALUATIONS:
        try_in_empty_environment(ROOT / "dist", kind, version)
    write_recipes(ROOT / "build" / "conda", version, source, wheels)


if __name__ == "__main__":
    main()

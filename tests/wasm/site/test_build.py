"""The folder of the static site: small, with no file that it would overwrite by mistake."""

import gzip
import re
from pathlib import Path

import pytest

from nainjaune_agents.tables.site.build import build_site
from nainjaune_env.core.errors import ConfigError


def test_a_folder_with_other_files_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("mine")
    with pytest.raises(ConfigError, match=r"has files that are none of an earlier site"):
        build_site(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.txt"]


@pytest.mark.long
def test_the_site_is_small_and_its_own(site: Path) -> None:
    files = [path for path in site.rglob("*") if path.is_file()]
    assert sum(len(gzip.compress(path.read_bytes())) for path in files) <= 3_000_000
    listed = re.search(r'"paths":\[(.*?)\]', (site / "service_worker.js").read_text(encoding="utf-8"))
    assert listed is not None
    kept = {path.strip('"') for path in listed[1].split(",")}
    assert kept == {"./", *(path.relative_to(site).as_posix() for path in files)} - {"index.html", "service_worker.js"}
    page = (site / "index.html").read_text(encoding="utf-8")
    assert "default-src 'none'" in page
    assert re.findall(r'(?:src|href)="(?:https?:|/)', page) == []

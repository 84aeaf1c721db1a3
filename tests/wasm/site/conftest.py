from pathlib import Path
import pytest
@pytest.fixture
def site(): return Path("/tmp/play/site")

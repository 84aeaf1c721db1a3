"""Finds the packages. `agents` ships as `nainjaune_agents`, a renaming that pyproject.toml cannot express for found packages."""

from setuptools import find_packages, setup

AGENTS = ["nainjaune_agents", *(f"nainjaune_agents.{name}" for name in find_packages("agents"))]
setup(packages=[*find_packages(include=["nainjaune_env", "nainjaune_env.*"]), *AGENTS])

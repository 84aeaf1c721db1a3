# The two commands of the README. `make help` lists all.
PYTHON ?= python3
VENV ?= .venv
RLLIB ?= .venv-rllib
PEERS ?= .venv-peers
RUN ?= runs/first
CONFIG ?= configs/nain_jaune/ppo.yaml
NOTEBOOK ?=
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
CUDA_STAMP := $(VENV)/.installed-cuda
# without the notice that Material for MkDocs prints of its successor
MKDOCS := NO_MKDOCS_2_WARNING=1 $(BIN)/python -W error -m mkdocs
SITE := --config-file docs/site/mkdocs.yml

.PHONY: help setup train test lint prove bench bench-growth bench-training peers rllib docs docs-serve notebooks pictures clean

help:  ## list the targets
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 16

setup: $(STAMP)  ## make the virtual environment

$(STAMP): pyproject.toml constraints.txt
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and f"Python 3.11 or newer is needed; {sys.executable} is {sys.version.split()[0]}. Set PYTHON=…")'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[all,dev,docs]'
	touch $@

# apart: 200 MB with which the tests compile every kernel for GPUs, and nothing else here wants
$(CUDA_STAMP): $(STAMP)
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[cuda]'
	touch $@

train: $(STAMP)  ## train a player for 4 seats, rate it, show a table and a picture (RUN=folder CONFIG=file)
	@if [ -e $(RUN)/config.yaml ]; then \
	  $(BIN)/python train.py $(CONFIG) --out $(RUN) --resume; \
	else \
	  $(BIN)/python train.py $(CONFIG) --out $(RUN); \
	fi
	@if [ -e $(RUN)/rating/results.json ]; then \
	  cat $(RUN)/rating/results.txt; echo "Report: $(RUN)/rating/results.html"; \
	else \
	  $(BIN)/python evaluate.py --agents longest lowest tally closer $(RUN) --deals 3000 --seed 1 --out $(RUN)/rating; \
	fi

test: lint $(CUDA_STAMP)  ## everything CI runs
	$(BIN)/python -m pytest -n 2

lint: $(STAMP)  ## ruff and mypy
	$(BIN)/ruff check .
	$(BIN)/mypy

prove: $(STAMP)  ## hold a million rounds of each game against its slow twin, ply by ply
	$(BIN)/python -m tests.prove --game nain_jaune --rounds 1000000 --seed 0 --processes 2
	$(BIN)/python -m tests.prove --game batasaurus --rounds 1000000 --seed 0 --processes 2

bench: $(STAMP) $(PEERS)/.installed  ## time the environment and its peers in turn, into docs/speed.md: about ten minutes
	$(BIN)/python benchmarks/speed.py --peers-python $(PEERS)/bin/python --markdown

bench-growth: $(STAMP)  ## what it costs as tables, seats, threads and deals grow, into docs/speed.md: about half an hour
	$(BIN)/python benchmarks/growth.py --markdown

bench-training: $(STAMP)  ## our PPO and MaskablePPO, time to equal strength, into docs/speed.md: about half an hour
	OMP_NUM_THREADS=1 $(BIN)/python benchmarks/training.py --markdown

peers: $(PEERS)/.installed  ## an environment with what `make bench` compares with

$(PEERS)/.installed: pyproject.toml constraints-peers.txt benchmarks/build_tripletriad.py
	$(PYTHON) -m venv $(PEERS)
	$(PEERS)/bin/python -m pip install --quiet --constraint constraints-peers.txt --editable '.[peers]'
	-$(PEERS)/bin/python benchmarks/build_tripletriad.py
	touch $@

rllib: $(RLLIB)/.installed  ## train with RLlib, which pins Gymnasium, in an environment of its own; its tests
	OMP_NUM_THREADS=1 $(RLLIB)/bin/python -m pytest -o filterwarnings= -rP tests/rllib

$(RLLIB)/.installed: pyproject.toml constraints-rllib.txt
	$(PYTHON) -m venv $(RLLIB)
	$(RLLIB)/bin/python -m pip install --quiet --constraint constraints-rllib.txt --editable '.[train,rllib,dev]'
	touch $@

docs: $(STAMP)  ## write the generated pages, and build the site of all into build/site
	$(BIN)/python docs/generate.py
	$(MKDOCS) build $(SITE)

docs-serve: $(STAMP)  ## show the site while you write
	$(MKDOCS) serve $(SITE)

notebooks: $(STAMP)  ## run the notebooks and keep their figures; goes on where it was (NOTEBOOK=part of a name)
	$(BIN)/python notebooks/regenerate.py $(NOTEBOOK)

pictures: $(STAMP)  ## draw the pictures and the film in the docs
	$(BIN)/nainjaune film --agents run_pot tally longest lowest --seed 23 --seat 0 --seconds 1 --scale 0.55 --out docs/images/round.gif
	$(BIN)/nainjaune film --agents run_pot tally longest lowest --seed 21 --seat 0 --ply 11 --scale 0.8 --out docs/images/nain_jaune.png
	$(BIN)/nainjaune film --preset batasaurus --players 3 --set memory=perfect --agents mirror random random --seed 3 --seat 0 --ply 15 --scale 0.8 --out docs/images/batasaurus.png
	$(BIN)/python -c 'from nainjaune_env.games.nain_jaune.view.dwarf import emblem; from nainjaune_env.render.svg import document; print(document(128, 128, "Nain Jaune", [emblem(64, 124, 120)]), end="")' > docs/images/logo.svg

clean:  ## remove the virtual environment and caches
	rm -rf $(VENV) $(RLLIB) $(PEERS) .mypy_cache .pytest_cache .ruff_cache .hypothesis build *.egg-info

"""Metrics logged to services that keep many runs: Weights & Biases and MLflow, each an extra.

Addresses and accounts are set as users of these libraries set them: by ``WANDB_MODE``, ``WANDB_PROJECT`` and ``wandb login``, and
by ``MLFLOW_TRACKING_URI`` and ``MLFLOW_EXPERIMENT_NAME``. A resumed run goes on in the same place: the file ``log_ids.json`` in
its folder has the identifiers that the services know it by.
"""

from __future__ import annotations

import json
import math
import os
import tempfile
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from nainjaune_env.core.atomic_files import write_text
from nainjaune_env.core.errors import ConfigError, MissingLibraryError, NainJauneError, as_sentence, unknown_name_message
from nainjaune_env.core.validation import read_json

from .metric_log import MetricLog

IDS_NAME = "log_ids.json"
"""The identifiers that the services know the run by, by the name of the log."""
PROJECT = "nainjaune-env"
"""The project or experiment of runs where the environment names none."""
STEP = "global_step"
"""The iteration in Weights & Biases, where runs that are copied from TensorBoard have it too."""
IMPATIENCE = {
    "WANDB_INIT_TIMEOUT": "15",
    "MLFLOW_HTTP_REQUEST_TIMEOUT": "5",
    "MLFLOW_HTTP_REQUEST_MAX_RETRIES": "1",
    "MLFLOW_HTTP_REQUEST_BACKOFF_FACTOR": "1",
}
"""Variables of the libraries while a log is opened, where the environment sets none: their defaults try for 90 s to 4 minutes."""


def read_ids(folder: Path) -> dict[str, str]:
    """Returns the identifiers of the run at ``folder`` by log; raises :class:`ConfigError` where their file is damaged."""
    path = folder / IDS_NAME
    ids = read_json(path, "record of a run's identifiers", ConfigError) if path.exists() else {}
    if not isinstance(ids, dict) or not all(isinstance(value, str) for value in ids.values()):
        raise ConfigError(f"{str(path)!r} should hold the run's identifiers as texts, by log: remove it, or restore it.")
    return ids


def keep_id(folder: Path, log: str, value: str) -> None:
    """Keeps the identifier of the run at ``folder`` in a ``log``."""
    write_text(folder / IDS_NAME, json.dumps({**read_ids(folder), log: value}, indent=2) + "\n")


class WandbLog:
    """A run of Weights & Biases, with the name of the folder."""

    def __init__(self, folder: Path, iteration: int) -> None:
        """The service keeps points after ``iteration``, which a killed process logged, beside the new ones."""
        import wandb

        name = read_ids(folder).get("wandb", uuid.uuid4().hex)
        self._run: Any = wandb.init(
            project=os.environ.get("WANDB_PROJECT", PROJECT),
            id=name,
            name=folder.resolve().name,
            dir=folder,
            resume="allow",
            settings=wandb.Settings(silent=True, console="off"),
        )
        self._run.define_metric("*", step_metric=STEP)
        keep_id(folder, "wandb", name)

    def log(self, iteration: int, metrics: dict[str, float]) -> None:
        """Hands the metrics to the library's own process, at :data:`STEP`: its own count of steps cannot go back."""
        self._run.log({STEP: iteration, **metrics})

    def flush(self) -> None:
        """Does nothing: the library writes every 15 seconds, and has no call for it. ``metrics.csv`` has what a kill loses."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._run.finish(exit_code=0 if kind is None else 1)


class MlflowLog:
    """A run of MLflow, with the name of the folder; the default store is the file ``mlflow.db`` there."""

    def __init__(self, folder: Path, iteration: int) -> None:
        """MLflow keeps points after ``iteration``, which a killed process logged, beside the new ones."""
        import mlflow

        place = os.environ.get("MLFLOW_TRACKING_URI", f"sqlite:///{(folder / 'mlflow.db').resolve()}")
        check_place(place)
        mlflow.set_tracking_uri(place)
        mlflow.set_experiment(os.environ.get("MLFLOW_EXPERIMENT_NAME", PROJECT))
        self._run: Any = mlflow.start_run(run_id=read_ids(folder).get("mlflow"), run_name=folder.resolve().name)
        self._sending: list[Any] = []
        keep_id(folder, "mlflow", self._run.info.run_id)

    def log(self, iteration: int, metrics: dict[str, float]) -> None:
        """Sends the metrics at the step ``iteration``, while training goes on."""
        import mlflow

        numbers = {name: value for name, value in metrics.items() if not math.isnan(value)}
        self._sending.append(mlflow.log_metrics(numbers, step=iteration, synchronous=False))

    def flush(self) -> None:
        """Waits until all have arrived."""
        while self._sending:
            self._sending.pop(0).wait()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        try:
            self.flush()
        finally:
            self._run.__exit__(kind, error, trace)  # finished, or failed


def check_place(uri: str) -> None:
    """Raises :class:`OSError` if the SQLite file of ``uri`` cannot be written; MLflow itself would retry for minutes."""
    path = uri.removeprefix("sqlite:///")
    if path != uri:
        with tempfile.TemporaryFile(dir=Path(path).parent), open(path, "ab"):  # SQLite writes its journal beside the file
            pass


class GuardedLog:
    """A log of a service whose errors are sentences. After the first one nothing is sent to it any more."""

    def __init__(self, name: str, folder: Path, iteration: int) -> None:
        self._name = name
        self._failed = False
        with self._errors_as("cannot be opened", ""), _impatient():
            self._log = EXPERIMENT_LOGS[name](folder, iteration)

    def log(self, iteration: int, metrics: dict[str, float]) -> None:
        """See :class:`MetricLog`; raises :class:`ConfigError` where the service fails."""
        with self._errors_as():
            self._log.log(iteration, metrics)

    def flush(self) -> None:
        """See :class:`MetricLog`; raises :class:`ConfigError` where the service fails."""
        with self._errors_as():
            self._log.flush()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if self._failed:
            return
        try:
            with self._errors_as():
                self._log.__exit__(kind, error, trace)
        except ConfigError:
            if kind is None:  # else the first error is the one to show
                raise

    @contextmanager
    def _errors_as(
        self,
        what: str = "has failed",
        then: str = " The run can be resumed, when the service answers or with other logs (--resume --set 'logs=[]').",
    ) -> Iterator[None]:
        try:
            yield
        except NainJauneError:
            raise
        except Exception as error:  # the libraries have no common class for what goes wrong with an account or on the way
            self._failed = True
            raise ConfigError(f"The log {self._name!r} {what}: {' '.join(as_sentence(error).split())}{then}") from error


@contextmanager
def _impatient() -> Iterator[None]:
    """Within this context the libraries wait for seconds, unless the environment says how long."""
    added = IMPATIENCE.keys() - os.environ.keys()
    os.environ.update({name: IMPATIENCE[name] for name in added})
    try:
        yield
    finally:
        for name in added:
            del os.environ[name]


EXPERIMENT_LOGS: dict[str, Callable[[Path, int], MetricLog]] = {"wandb": WandbLog, "mlflow": MlflowLog}
"""By name in configurations, which is also the name of the library and of its extra."""


def open_log(name: str, folder: Path, iteration: int) -> MetricLog:
    """Returns the log called ``name`` of the run at ``folder``, which goes on from ``iteration``.

    Raises :class:`ConfigError` with the library's sentence where the service refuses it, or does not answer within seconds.
    """
    return GuardedLog(name, folder, iteration)


def check_logs(names: list[str]) -> None:
    """Raises :class:`ConfigError` for an unknown name, or one twice, and :class:`MissingLibraryError` for a missing library."""
    for number, name in enumerate(names):
        if name not in EXPERIMENT_LOGS:
            raise ConfigError(unknown_name_message("log", name, EXPERIMENT_LOGS))
        if name in names[:number]:
            raise ConfigError(f"'logs' names {name!r} twice.")
        if find_spec(name) is None:
            raise MissingLibraryError(f"A run that logs to {name!r}", name, name)

"""Metrics logged to services that keep many runs: Weights & Biases and MLflow, each an extra.

Addresses, accounts and patience are set as users of these libraries set them: by ``WANDB_MODE``, ``WANDB_PROJECT`` and
``wandb login``, and by ``MLFLOW_TRACKING_URI`` and ``MLFLOW_EXPERIMENT_NAME``. A resumed run goes on in the same place: the file
``log_ids.json`` in its folder has the identifiers that the services know it by.

Both libraries can follow TensorBoard by themselves, and lost in a live run of each: ``mlflow.pytorch.autolog`` sends every number
in a request of its own, for which training waits, and ``wandb.init(sync_tensorboard=True)`` logs every iteration three times, as
it also reads the copies of TensorBoard's file in its folder in the run's.
"""

from __future__ import annotations

import json
import math
import os
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from nainjaune_env.core.atomic_files import write_text
from nainjaune_env.core.errors import ConfigError, MissingLibraryError, as_sentence, unknown_name_message
from nainjaune_env.core.validation import read_json

IDS_NAME = "log_ids.json"
"""The identifiers that the services know the run by, by the name of the log."""
PROJECT = "nainjaune-env"
"""The project or experiment of runs where the environment names none."""
STEP = "global_step"
"""The iteration in Weights & Biases, where runs that are copied from TensorBoard have it too."""


class WandbRun:
    """A run of Weights & Biases."""

    def __init__(self, folder: Path, run_id: str | None) -> None:
        """Begins the run of ``folder``, or goes on with the one that ``run_id`` names."""
        import wandb

        self._run: Any = wandb.init(
            project=os.environ.get("WANDB_PROJECT", PROJECT),
            id=run_id or uuid.uuid4().hex,
            name=folder.resolve().name,
            dir=folder,
            resume="allow",
            settings=wandb.Settings(silent=True, console="off"),
        )
        self._run.define_metric("*", step_metric=STEP)
        self.run_id: str = self._run.id

    def log(self, iteration: int, metrics: dict[str, float]) -> None:
        """Hands the metrics to the library's own process, at :data:`STEP`: its own count of steps cannot go back."""
        self._run.log({STEP: iteration, **metrics})

    def flush(self) -> None:
        """Does nothing: the library writes every 15 seconds, and has no call for it. ``metrics.csv`` has what a kill loses."""

    def close(self, *, failed: bool) -> None:
        """Ends the run as finished or failed."""
        self._run.finish(exit_code=int(failed))


class MlflowRun:
    """A run of MLflow; the default store is the file ``mlflow.db`` in the folder."""

    def __init__(self, folder: Path, run_id: str | None) -> None:
        """Begins the run of ``folder``, or goes on with the one that ``run_id`` names."""
        import mlflow

        mlflow.set_tracking_uri(os.environ.get("MLFLOW_TRACKING_URI", f"sqlite:///{(folder / 'mlflow.db').resolve()}"))
        mlflow.set_experiment(os.environ.get("MLFLOW_EXPERIMENT_NAME", PROJECT))
        self._run: Any = mlflow.start_run(run_id=run_id, run_name=folder.resolve().name)
        self._sending: list[Any] = []
        self.run_id: str = self._run.info.run_id

    def log(self, iteration: int, metrics: dict[str, float]) -> None:
        """Sends all metrics at once, from a thread of the library."""
        import mlflow

        numbers = {name: value for name, value in metrics.items() if not math.isnan(value)}
        self._sending.append(mlflow.log_metrics(numbers, step=iteration, synchronous=False))

    def flush(self) -> None:
        """Waits until the service has all metrics that were sent."""
        while self._sending:
            self._sending.pop(0).wait()

    def close(self, *, failed: bool) -> None:
        """Waits for the service, and ends the run as finished or failed."""
        import mlflow

        try:
            self.flush()
        finally:
            mlflow.end_run("FAILED" if failed else "FINISHED")


SERVICES: dict[str, type[WandbRun] | type[MlflowRun]] = {"wandb": WandbRun, "mlflow": MlflowRun}
"""By name in configurations, which is also the name of the library and of its extra."""


class ServiceLog:
    """A log at a service, see ``MetricLog``: a run with the name of the folder, whose errors are sentences.

    A service keeps what a killed process logged beside what the resumed run logs at the same iterations.
    """

    def __init__(self, name: str, folder: Path) -> None:
        """``name``: of the log."""
        self._name, self._failed = name, False
        path = folder / IDS_NAME
        with self._errors_as("cannot be opened", ""):
            ids = read_json(path, "record of a run's identifiers", ConfigError) if path.exists() else {}
            if not isinstance(ids, dict):
                raise ConfigError(f"{str(path)!r} should hold the run's identifiers by log: remove it, or restore it.")
            self._service = SERVICES[name](folder, ids.get(name))
            write_text(path, json.dumps({**ids, name: self._service.run_id}, indent=2) + "\n")

    def log(self, iteration: int, metrics: dict[str, float]) -> None:
        """Sends metrics; raises :class:`ConfigError` where the service fails."""
        with self._errors_as():
            self._service.log(iteration, metrics)

    def flush(self) -> None:
        """Waits for the service; raises :class:`ConfigError` where it fails."""
        with self._errors_as():
            self._service.flush()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if self._failed:  # the service is not asked again
            return
        try:
            with self._errors_as():
                self._service.close(failed=kind is not None)
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
        except ConfigError:
            raise
        except Exception as error:  # the libraries have no common class for what goes wrong with an account or on the way
            self._failed = True
            raise ConfigError(f"The log {self._name!r} {what}: {' '.join(as_sentence(error).split())}{then}") from error


def check_logs(names: list[str]) -> None:
    """Raises :class:`ConfigError` for an unknown name, or one twice, and :class:`MissingLibraryError` for a missing library."""
    for number, name in enumerate(names):
        if name not in SERVICES:
            raise ConfigError(unknown_name_message("log", name, SERVICES))
        if name in names[:number]:
            raise ConfigError(f"'logs' names {name!r} twice.")
        if find_spec(name) is None:
            raise MissingLibraryError(f"A run that logs to {name!r}", name, name)

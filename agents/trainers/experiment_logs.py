"""Metrics logged to services that keep those of many runs: Weights & Biases and MLflow, each an extra.

Addresses and accounts are set as users of these libraries set them: by ``WANDB_MODE``, ``WANDB_PROJECT`` and ``wandb login``, and
by ``MLFLOW_TRACKING_URI`` and ``MLFLOW_EXPERIMENT_NAME``. A resumed run goes on in the same place: the file ``log_ids.json`` in
its folder has the identifiers that the services know it by.
"""

from __future__ import annotations

import json
import math
import os
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from nainjaune_env.core.atomic_files import write_text
from nainjaune_env.core.errors import ConfigError, MissingLibraryError, NainJauneError, as_sentence, choose_one
from nainjaune_env.core.validation import read_json

from .metric_log import MetricLog

IDS_NAME = "log_ids.json"
"""The identifiers that the services know the run by, by the name of the log."""
PROJECT = "nainjaune-env"
"""The project or experiment of runs where the environment names none."""
IMPATIENCE = {
    "WANDB_INIT_TIMEOUT": "15",
    "MLFLOW_HTTP_REQUEST_TIMEOUT": "5",
    "MLFLOW_HTTP_REQUEST_MAX_RETRIES": "1",
    "MLFLOW_HTTP_REQUEST_BACKOFF_FACTOR": "1",
}
"""Variables of the libraries while a log is opened, where the environment sets none: their defaults try for 90 s to 4 minutes."""


def run_id(folder: Path, log: str, make: Callable[[], str]) -> str:
    """Returns the identifier of the run at ``folder`` in a ``log``; made by ``make`` and kept when there is none yet."""
    path = folder / IDS_NAME
    ids = read_json(path, "record of a run's identifiers", ConfigError) if path.exists() else {}
    if not isinstance(ids, dict) or not isinstance(ids.get(log, ""), str):
        raise ConfigError(f"{str(path)!r} should hold the run's identifier in {log!r}, as text: remove it, or restore it.")
    if log not in ids:
        ids[log] = make()
        write_text(path, json.dumps(ids, indent=2) + "\n")
    return str(ids[log])


class WandbLog:
    """A run of Weights & Biases, with the name of the folder."""

    def __init__(self, folder: Path, iteration: int) -> None:
        """The run goes on from ``iteration``; the service leaves out steps that it has already, so none is there twice."""
        import wandb

        self._run: Any = wandb.init(
            project=os.environ.get("WANDB_PROJECT", PROJECT),
            id=run_id(folder, "wandb", lambda: uuid.uuid4().hex),
            name=folder.resolve().name,
            dir=folder,
            resume="allow",
            settings=wandb.Settings(silent=True, console="off"),
        )

    def log(self, iteration: int, metrics: dict[str, float]) -> None:
        """Adds the metrics at the step ``iteration``, and sends them."""
        self._run.log(metrics, step=iteration, commit=True)

    def flush(self) -> None:
        """Does nothing: what is logged is with the library's own process at once, which survives this one."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._run.finish(exit_code=0 if kind is None else 1)


class MlflowLog:
    """A run of MLflow, with the name of the folder; the default store is the file ``mlflow.db`` there."""

    def __init__(self, folder: Path, iteration: int) -> None:
        """The run goes on from ``iteration``; MLflow keeps later points, which a killed process logged, beside the new ones."""
        from mlflow.tracking import MlflowClient

        path = (folder / "mlflow.db").resolve()
        place = os.environ.get("MLFLOW_TRACKING_URI", f"sqlite:///{path}")
        check_database(place)
        self._client: Any = MlflowClient(tracking_uri=place)
        self._metrics: list[Any] = []

        def make() -> str:
            name = os.environ.get("MLFLOW_EXPERIMENT_NAME", PROJECT)
            found = self._client.get_experiment_by_name(name)
            experiment = self._client.create_experiment(name) if found is None else found.experiment_id
            return str(self._client.create_run(experiment, run_name=folder.resolve().name).info.run_id)

        self._id = run_id(folder, "mlflow", make)
        self._client.update_run(self._id, status="RUNNING")

    def log(self, iteration: int, metrics: dict[str, float]) -> None:
        """Adds the metrics at the step ``iteration``; they are sent by :meth:`flush`."""
        from mlflow.entities import Metric

        now = int(1000 * time.time())
        self._metrics += [Metric(name, value, now, iteration) for name, value in metrics.items() if not math.isnan(value)]

    def flush(self) -> None:
        """Sends all points, as many at a time as the service takes."""
        from mlflow.utils.validation import MAX_METRICS_PER_BATCH

        while self._metrics:
            self._client.log_batch(self._id, metrics=self._metrics[:MAX_METRICS_PER_BATCH])
            del self._metrics[:MAX_METRICS_PER_BATCH]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.flush()
        self._client.set_terminated(self._id, "FINISHED" if kind is None else "FAILED")


def check_database(place: str) -> None:
    """Connects once to the SQL database at the tracking address ``place``, if it is one, and writes to a SQLite file.

    Raises what SQLAlchemy raises. MLflow would try ten times in 100 s.
    """
    from mlflow.store.db.db_types import DATABASE_ENGINES

    if not place.startswith(tuple(DATABASE_ENGINES)):
        return
    from sqlalchemy import create_engine

    engine = create_engine(place)
    try:
        file = engine.url.database or ""
        if engine.dialect.name == "sqlite" and not file.startswith("file:"):
            Path(file).parent.mkdir(parents=True, exist_ok=True)  # as MLflow does
        with engine.connect() as connection:
            if engine.dialect.name == "sqlite":  # others hold no transaction open over the creation of a table
                for statement in ("BEGIN IMMEDIATE", "CREATE TABLE can_be_written (x)", "ROLLBACK"):
                    connection.exec_driver_sql(statement)
    finally:
        engine.dispose()


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
            reason = getattr(error, "orig", None) or error  # SQLAlchemy's errors go on with the statement and an address
            raise ConfigError(f"The log {self._name!r} {what}: {' '.join(as_sentence(reason).split())}{then}") from error


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
"""By the name that configurations choose it by, which is its library's and its extra's."""


def open_log(name: str, folder: Path, iteration: int) -> MetricLog:
    """Returns the log called ``name`` of the run at ``folder``, which goes on from ``iteration``.

    Raises :class:`ConfigError` with the library's sentence where the service refuses it, or does not answer within seconds.
    """
    return GuardedLog(name, folder, iteration)


def check_logs(names: list[str]) -> None:
    """Raises :class:`ConfigError` for an unknown name, or one twice, and :class:`MissingLibraryError` for a missing library."""
    for number, name in enumerate(names):
        if name not in EXPERIMENT_LOGS:
            raise ConfigError(choose_one("log", name, EXPERIMENT_LOGS))
        if name in names[:number]:
            raise ConfigError(f"'logs' names {name!r} twice.")
        if find_spec(name) is None:
            raise MissingLibraryError(f"A run that logs to {name!r}", name, name)

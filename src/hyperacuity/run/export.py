"""A run as tables for other programs: one file per protocol, a row per cell, a column per array of its tally.

Parquet keeps arrays as (nested) lists. CSV, which has none, gets them as JSON. Rows are written as they are read, so the size
of a run does not matter.
"""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterable, Iterator
from importlib import import_module
from itertools import islice
from pathlib import Path
from typing import Any

from hyperacuity.data.remote import display
from hyperacuity.errors import UsageError, not_installed, option
from hyperacuity.outputs import output_file
from hyperacuity.run.records import Detail, Run
from hyperacuity.tally import Signature, unpacked_arrays

FORMATS = ("parquet", "csv")
ROWS = 1000
COLUMNS = ("signature", "system", "image", "state", "reason", "prediction", "truths", "inputs", "code")


def export_run(run: Run, folder: Path, format: str = "parquet") -> list[Path]:
    """Write the cells of a run; the files are named after the protocols' tasks (``boundary.parquet``, ``boundary-2.parquet`` …).

    Columns: ``signature``, ``system``, ``image``, ``state`` (done, failed or waiting), ``reason``, ``prediction``, ``truths``,
    ``inputs`` (digest of the files, hexadecimal), ``code``, then the arrays of the tally. ``UsageError``: an unknown format,
    Parquet without pyarrow, a folder that cannot be written to.
    """
    if format not in FORMATS:
        raise UsageError(f"{option('format', format)}: expected {' or '.join(FORMATS)}")
    write = _write_parquet if format == "parquet" else _write_csv
    written: list[Path] = []
    for signature in run.signatures():
        task = re.sub(r"[^\w.-]", "_", Signature.parse(signature).task)
        taken = sum(path.stem == task or path.stem.startswith(f"{task}-") for path in written)
        path = folder / f"{task if not taken else f'{task}-{taken + 1}'}.{format}"
        with output_file(path) as part:
            write(part, signature, run.details(signature), _fields(run.details(signature)))
        written.append(path)
    return written


def _fields(details: Iterable[Detail]) -> dict[str, Any]:
    """The arrays of the first tally, which say what columns there are."""
    first = next((detail.tally for detail in details if detail.tally is not None), None)
    return {} if first is None else unpacked_arrays(first)


def _row(signature: str, detail: Detail) -> dict[str, Any]:
    cell, inputs = detail.cell, None if detail.inputs is None else detail.inputs.hex()
    files = (display(cell.prediction), [display(path) for path in cell.truths])
    values = (signature, cell.system, cell.image, detail.state, detail.reason, *files, inputs, detail.code)
    row: dict[str, Any] = dict(zip(COLUMNS, values, strict=True))
    if detail.tally is not None:
        row |= {name: array.tolist() for name, array in unpacked_arrays(detail.tally).items()}
    return row


def _write_csv(path: Path, signature: str, details: Iterator[Detail], fields: dict[str, Any]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, [*COLUMNS, *fields])
        writer.writeheader()
        for detail in details:
            row = _row(signature, detail)
            writer.writerow({name: json.dumps(item) if isinstance(item, list) else item for name, item in row.items()})


def _write_parquet(path: Path, signature: str, details: Iterator[Detail], fields: dict[str, Any]) -> None:
    try:
        arrow, parquet = import_module("pyarrow"), import_module("pyarrow.parquet")
    except ImportError as error:
        raise not_installed(f"{option('format', 'parquet')} needs pyarrow (csv does not)", "parquet") from error
    plain = [(name, arrow.list_(arrow.string()) if name == "truths" else arrow.string()) for name in COLUMNS]
    schema = arrow.schema([*plain, *((name, _type_of(array, arrow)) for name, array in fields.items())])
    with parquet.ParquetWriter(path, schema) as writer:
        while batch := [_row(signature, detail) for detail in islice(details, ROWS)]:
            writer.write_table(arrow.Table.from_pylist(batch, schema))


def _type_of(array: Any, arrow: Any) -> Any:
    kind = arrow.from_numpy_dtype(array.dtype)
    for _ in range(array.ndim):
        kind = arrow.list_(kind)
    return kind

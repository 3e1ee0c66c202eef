"""Progress of a grid: a bar with rate and time left on a terminal, a few plain lines anywhere else."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Literal

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, ProgressColumn, Task, TextColumn, TimeRemainingColumn
from rich.text import Text

Ending = Literal["computed", "reused", "failed"]

_QUIET_SECONDS = 2.0


@contextmanager
def watching(title: str, total: int, *, shown: bool) -> Iterator[Callable[[Ending], None]]:
    """Show progress on standard error until the block ends; call the value once per cell with how it ended.

    On a terminal: a bar that vanishes when done. Elsewhere (a log file): a line at each quarter, if it takes longer than
    two seconds. Either way, one last line with the counts. With ``shown=False``: nothing at all.
    """
    if not shown:
        yield lambda ending: None
        return
    console = Console(stderr=True, highlight=False)
    counts: Counter[str] = Counter()
    started = time.monotonic()

    def summary() -> str:
        parts = [f"{counts[ending]} {ending}" for ending in ("computed", "reused", "failed") if counts[ending]]
        seconds = time.monotonic() - started
        return f"{title}: {counts.total()} of {total} cells in {seconds:.1f} s ({', '.join(parts) or 'none'})"

    try:
        if console.is_terminal:
            name = TextColumn("{task.description}")
            columns = (name, BarColumn(), MofNCompleteColumn(), _Rate(), TimeRemainingColumn())
            failed = TextColumn("[red]{task.fields[failed]}")
            with Progress(*columns, failed, console=console, transient=True) as bar:
                task = bar.add_task(title, total=total, failed="")

                def tick(ending: Ending) -> None:
                    counts[ending] += 1
                    bar.update(task, advance=1, failed=f"{counts['failed']} failed" if counts["failed"] else "")

                yield tick
        else:

            def tick(ending: Ending) -> None:
                before = counts.total()
                counts[ending] += 1
                quarter = 4 * counts.total() // total
                if 4 * before // total < quarter < 4 and time.monotonic() - started > _QUIET_SECONDS:
                    console.print(summary(), markup=False, soft_wrap=True)

            yield tick
    finally:
        console.print(summary(), markup=False, soft_wrap=True)


class _Rate(ProgressColumn):
    def render(self, task: Task) -> Text:
        if task.speed is None:
            return Text("")
        digits = 0 if task.speed >= 10 else 2
        return Text(f"{task.speed:.{digits}f} cells/s", style="progress.data.speed")

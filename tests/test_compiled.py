"""Where compiled kernels lie, and who begins to compile early."""

from __future__ import annotations

import pytest

from hyperacuity import compiled


@pytest.mark.parametrize(("processors", "started"), [(1, 0), (2, 1)])
def test_a_head_start_takes_a_second_processor_and_a_machine_without_kernels(
    tmp_path, monkeypatch, processors, started
):
    calls = []
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(compiled, "processors", lambda: processors)
    monkeypatch.setattr(compiled, "start_half", lambda: calls.append("started"))
    compiled.head_start()
    assert len(calls) == started
    (tmp_path / "kernels" / "sweep-0123").mkdir(parents=True)
    compiled.head_start()
    assert len(calls) == started


def test_one_other_process_is_enough(monkeypatch):
    monkeypatch.setattr(compiled, "_running", [])
    monkeypatch.setattr(compiled, "HALF", "this")
    process = compiled.start_half()
    assert compiled.start_half() is process
    assert process.wait() == 0

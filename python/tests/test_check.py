# SPDX-License-Identifier: Apache-2.0
"""The checks of a machine."""
import pytest
import warren


def test_all_pass():
    with warren.Session(device="cpu", threads=2):
        checks = warren.check_machine(devices=1)
    assert {check["verdict"] for check in checks} == {"passed"}, checks
    assert {"bfs, 1 rank", "train, 1 rank"} <= {check["name"] for check in checks}
    assert all(check["seconds"] >= 0 and check["message"] == "" for check in checks)


def test_one_that_fails_is_told(monkeypatch):
    monkeypatch.setenv("WARREN_CHECK_FAULT", "memory")
    failed = [check for check in warren.check_machine("cpu", 1) if check["verdict"] == "failed"]
    assert [check["name"] for check in failed] == ["memory, cpu"] and "word" in failed[0]["message"]


@pytest.mark.parametrize("options", [{"device": "gpu"}, {"devices": 0}, {"session": 3}])
def test_refused(options):
    with pytest.raises(ValueError, match=next(iter(options))):
        warren.check_machine(**options)

# SPDX-License-Identifier: Apache-2.0
"""Whether the machine does what it should."""
from __future__ import annotations

import json
from typing import Any

from . import _core
from ._session import Session, run_of


def check_machine(device: str = "auto", devices: int | str = "auto", session: Session | None = None) -> list[dict[str, Any]]:
    """Tries memory, copies, barriers and every algorithm, on one rank and on `devices`, in less than a minute: what `warren info --check` does.

    A dict a check: name; verdict, "passed", "failed" or "unavailable" (it needs a path between GPUs that is not there); seconds; message, why it did not pass.
    devices: "auto" is the session's number, or all GPUs; on the CPU two ranks. One check that fails does not keep the others from running.
    Raises ValueError for an option that is none, and a device that is not there.
    """
    checks: list[dict[str, Any]] = json.loads(_core.check_machine(run_of("auto", "auto", device, devices, session)))["checks"]
    return checks

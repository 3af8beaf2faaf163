# SPDX-License-Identifier: Apache-2.0
"""Where a row that a script measures comes from: for rivals, which do not say it themselves."""
import datetime
import pathlib
import subprocess
import sys


def commit():
    """Of this checkout: twelve digits, with -dirty where tracked files are changed; "unknown" outside of one."""
    folder = pathlib.Path(__file__).resolve().parent
    try:
        head = subprocess.run(["git", "rev-parse", "--short=12", "HEAD"], cwd=folder, capture_output=True, text=True, check=True).stdout.strip()
        changes = subprocess.run(["git", "status", "--porcelain", "--untracked-files=no"], cwd=folder, capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
    return f"{head}-dirty" if changes else head


def driver():
    """The number of the GPUs' kernel driver."""
    try:
        run = subprocess.run(["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"], capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return "not told"
    return run.stdout.splitlines()[0].strip()


def origin(on_gpu):
    """The facts of a row: commit, date, driver and command."""
    now = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    return {"commit": commit(), "date": now, "driver": driver() if on_gpu else "none", "command": " ".join([f"bench/{pathlib.Path(sys.argv[0]).name}", *sys.argv[1:]])}

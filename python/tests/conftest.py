# SPDX-License-Identifier: Apache-2.0
"""What the tests of the package share: scripts that run in an interpreter of their own, and the same random cases each time."""
import os
import signal
import subprocess
import sys
import tempfile
import textwrap
from pathlib import Path

import pytest
from hypothesis import settings

import warren

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = Path(warren.__file__).parent

# What the engine measures and remembers stays out of the user's cache.
CACHE = tempfile.TemporaryDirectory()
os.environ["XDG_CACHE_HOME"] = CACHE.name

# What a shell starts in the background ignores it, and so would the scripts that tests send it to.
signal.signal(signal.SIGINT, signal.default_int_handler)

# No script takes a tenth of it where it does not hang, also on a machine with much other work.
HANG_SECONDS = 300

settings.register_profile("same", derandomize=True, deadline=None, max_examples=60)
settings.load_profile("same")


def ranks(count):
    """The options of so many ranks: GPUs where the machine has enough, else the CPU's."""
    return {"devices": count, "device": "cpu" if 0 < warren._core.gpu_count() < count else "auto"}


def environment():
    """With the package that is being tested."""
    paths = [str(PACKAGE.parent), os.environ.get("PYTHONPATH", "")]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths))}


def start(script, *arguments):
    return subprocess.Popen([sys.executable, "-c", textwrap.dedent(script), *arguments], env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def rest(process):
    """(output, errors) from here on. After readline(), since communicate() does not know what that read ahead."""
    out, err = process.stdout.read(), process.stderr.read()
    process.wait()
    return out, err


def run(script):
    """(status, output, errors) of a script."""
    process = start(script)
    try:
        out, err = process.communicate(timeout=HANG_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        pytest.fail(f"the script hangs:\n{script}")
    return process.returncode, out, err


def cpu_seconds(process):
    """What a process that was not waited for has used of all cores."""
    # Its name, in brackets, may have blanks.
    fields = Path(f"/proc/{process.pid}/stat").read_text(encoding="utf-8").rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

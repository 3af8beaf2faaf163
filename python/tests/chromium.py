# SPDX-License-Identifier: Apache-2.0
"""A headless Chromium over its pipe for developer tools: pages at a size and in a colour scheme, what they say on the console, and what is drawn."""
import itertools
import json
import os
import select
import shutil
import subprocess
import sys
import tempfile
import time

SECONDS = 90  # No command takes a hundredth of it, where the machine is free.

# The program takes its pipes at 3 and 4, which may be in use.
START = """
import fcntl, os, sys
pipes = [fcntl.fcntl(int(pipe), fcntl.F_DUPFD, 10) for pipe in sys.argv[1:3]]
os.dup2(pipes[0], 3), os.dup2(pipes[1], 4)
os.execv(sys.argv[3], sys.argv[3:])
"""

# Keeps a screenshot in the page, and counts the colours of a rectangle of it: {"#rrggbb": pixels}.
KEEP = """async (png) => {
  const image = new Image();
  image.src = "data:image/png;base64," + png;
  await image.decode();
  const canvas = new OffscreenCanvas(image.width, image.height);
  window.kept = canvas.getContext("2d", { willReadFrequently: true });
  window.kept.drawImage(image, 0, 0);
}"""
COUNT_COLOURS = """(box) => {
  const pixels = new Uint32Array(window.kept.getImageData(box.x + scrollX, box.y + scrollY, box.width, box.height).data.buffer);
  const counts = new Map();
  for (const pixel of pixels) counts.set(pixel, (counts.get(pixel) || 0) + 1);
  const hex = (pixel) => "#" + [0, 8, 16].map((shift) => ((pixel >>> shift) & 255).toString(16).padStart(2, "0")).join("");
  return Object.fromEntries(Array.from(counts, ([pixel, count]) => [hex(pixel), count]));
}"""


def find():
    """The program, or None."""
    return next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


class Chromium:
    """One page, which open() fills. `console` has its errors and warnings, `requests` all that it asked for."""

    def __init__(self, program):
        self._home = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        to_child, self._write = os.pipe()
        self._read, from_child = os.pipe()
        arguments = [program, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars", "--no-first-run", "--disable-extensions",
                     "--disable-background-networking", "--remote-debugging-pipe", f"--user-data-dir={self._home.name}", "about:blank"]
        self._process = subprocess.Popen([sys.executable, "-c", START, str(to_child), str(from_child), *arguments], pass_fds=(to_child, from_child), stdout=subprocess.DEVNULL,
                                         stderr=subprocess.DEVNULL, env={**os.environ, "HOME": self._home.name})
        os.close(to_child), os.close(from_child)
        self._numbers = itertools.count(1)
        self._rest = b""
        self._session = None
        self.console, self.requests = [], []
        targets = self.call("Target.getTargets")["targetInfos"]
        page = next(target["targetId"] for target in targets if target["type"] == "page")
        self._session = self.call("Target.attachToTarget", targetId=page, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def close(self):
        os.close(self._write)
        os.close(self._read)
        try:
            self._process.wait(20)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._home.cleanup()

    def call(self, method, **parameters):
        number = next(self._numbers)
        message = {"id": number, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._write, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._next(method)
            if answer.get("id") == number:
                assert "error" not in answer, f"{method}: {answer['error']}"
                return answer["result"]

    def _next(self, method):
        """The next message; events are noted."""
        deadline = time.monotonic() + SECONDS
        while b"\0" not in self._rest:
            ready, _, _ = select.select([self._read], [], [], max(0, deadline - time.monotonic()))
            assert ready, f"{method}: no answer of Chromium's"
            more = os.read(self._read, 1 << 20)
            assert more, f"{method}: Chromium ended"
            self._rest += more
        text, self._rest = self._rest.split(b"\0", 1)
        message = json.loads(text)
        event, about = message.get("method"), message.get("params", {})
        if event == "Runtime.exceptionThrown":
            self.console.append(json.dumps(about["exceptionDetails"])[:2000])
        elif event == "Runtime.consoleAPICalled" and about["type"] in ("error", "warning", "assert"):
            self.console.append(json.dumps(about["args"])[:2000])
        elif event == "Log.entryAdded" and about["entry"]["level"] in ("error", "warning"):
            self.console.append(json.dumps(about["entry"])[:2000])
        elif event == "Network.requestWillBeSent":
            self.requests.append(about["request"]["url"])
        return message

    def open(self, path, width, dark=False, height=900):
        """Waits until all charts are drawn."""
        self.console.clear(), self.requests.clear()
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 600)
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])
        self.call("Page.navigate", url=path.resolve().as_uri())
        self.wait_for("document.readyState === 'complete' && document.documentElement.dataset.drawn !== undefined")

    def wait_for(self, expression):
        deadline = time.monotonic() + SECONDS
        while not self.value(expression):
            assert time.monotonic() < deadline, f"never so: {expression}; the console: {self.console}"
            time.sleep(0.05)

    def value(self, expression):
        result = self.call("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True)
        assert "exceptionDetails" not in result, result["exceptionDetails"]
        return result["result"].get("value")

    def point_at(self, selector):
        """Moves the mouse into the middle of an element."""
        self.value(f"document.querySelector({json.dumps(selector)}).scrollIntoView({{block: 'center'}})")
        x, y = self.value(f"(box => [box.x + box.width / 2, box.y + box.height / 2])(document.querySelector({json.dumps(selector)}).getBoundingClientRect())")
        for shift in (1, 0):
            self.call("Input.dispatchMouseEvent", type="mouseMoved", x=x + shift, y=y)

    def screenshot(self):
        """Base64 of a PNG of the whole page."""
        width, height = self.value("[document.documentElement.scrollWidth, document.documentElement.scrollHeight]")
        return self.call("Page.captureScreenshot", captureBeyondViewport=True, optimizeForSpeed=True, clip={"x": 0, "y": 0, "width": width, "height": height, "scale": 1})["data"]

    def look(self):
        """What colours() then counts."""
        self.value(f"({KEEP})({json.dumps(self.screenshot())})")

    def colours(self, selector="html"):
        """{"#rrggbb": how many pixels} of an element, when look() was called last."""
        return self.value(f"({COUNT_COLOURS})(document.querySelector({json.dumps(selector)}).getBoundingClientRect())")

# SPDX-License-Identifier: Apache-2.0
"""What GPUs can do at most, by the name that the driver gives them: measured with plain copies and reads, apart from `float32_flops`, the vendor's figure."""
from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Ceiling:
    """Bytes and operations a second of one device. None: not known."""

    memory: float | None = None  # A copy within the device's memory, bytes read and bytes written.
    host_link: float | None = None  # The device reads pinned host memory in the order of its addresses.
    float32_flops: float | None = None


GPUS = {
    "NVIDIA H200": Ceiling(memory=4.29e12, host_link=51.5e9, float32_flops=67e12),
    "NVIDIA H100 80GB HBM3": Ceiling(memory=3.0e12, host_link=52.6e9, float32_flops=67e12),
}

# SPDX-License-Identifier: Apache-2.0
"""The version, as in CMakeLists.txt."""
__version__ = "0.1.0"

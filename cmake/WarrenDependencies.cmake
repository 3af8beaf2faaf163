# SPDX-License-Identifier: Apache-2.0
# Libraries that warren stands on. What can be linked statically is, so that one binary starts everywhere.
find_package(Threads REQUIRED)
find_package(fmt REQUIRED)
# Within the objects, so that an installed library needs no other. Sanitized builds are not installed, and compile in two thirds of the
# time with fmt's own library.
set(WARREN_FMT fmt::fmt-header-only)
if(WARREN_SANITIZE)
  set(WARREN_FMT fmt::fmt)
endif()
find_package(spdlog REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(CLI11 REQUIRED)

find_library(WARREN_ZLIB NAMES libz.a z REQUIRED)
find_path(WARREN_ZLIB_INCLUDE zlib.h REQUIRED)
find_library(WARREN_ZSTD NAMES libzstd.a zstd REQUIRED)
find_path(WARREN_ZSTD_INCLUDE zstd.h REQUIRED)
# Our threads share a product out and call OpenBLAS at the same time. Its flavour without threads is not safe to be called so.
find_library(WARREN_OPENBLAS NAMES libopenblas.a openblas
  PATH_SUFFIXES openblas-pthread x86_64-linux-gnu/openblas-pthread aarch64-linux-gnu/openblas-pthread
  NO_CMAKE_SYSTEM_PATH PATHS /usr/local/lib /usr/lib /usr/lib64 /opt/OpenBLAS/lib REQUIRED)
find_path(WARREN_OPENBLAS_INCLUDE cblas.h PATH_SUFFIXES openblas-pthread openblas x86_64-linux-gnu/openblas-pthread
  aarch64-linux-gnu/openblas-pthread REQUIRED)

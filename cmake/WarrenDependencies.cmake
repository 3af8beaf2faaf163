# SPDX-License-Identifier: Apache-2.0
# Libraries that warren stands on. What can be linked statically is, so that one binary starts everywhere.
find_package(Threads REQUIRED)
find_package(fmt REQUIRED)
# Within our objects, so that an installed library needs no other: version 9 as one object of the lowest floor, the others, whose
# parts differ, header-only, which compiles slower.
set(WARREN_FMT fmt::fmt-header-only)
set(WARREN_FMT_SOURCE "")
if(fmt_VERSION VERSION_GREATER_EQUAL 9 AND fmt_VERSION VERSION_LESS 10)
  set(WARREN_FMT_SOURCE format.cpp)
  add_library(warren_fmt INTERFACE)
  target_include_directories(warren_fmt SYSTEM INTERFACE
    $<TARGET_PROPERTY:fmt::fmt-header-only,INTERFACE_INCLUDE_DIRECTORIES>)
  set(WARREN_FMT warren_fmt)
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

# SPDX-License-Identifier: Apache-2.0
# Libraries that warren stands on. What can be linked statically is, so that one binary starts everywhere.
find_package(Threads REQUIRED)
find_package(fmt REQUIRED)
find_package(spdlog REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(CLI11 REQUIRED)

find_library(WARREN_ZLIB NAMES libz.a z REQUIRED)
find_path(WARREN_ZLIB_INCLUDE zlib.h REQUIRED)
find_library(WARREN_ZSTD NAMES libzstd.a zstd REQUIRED)
find_path(WARREN_ZSTD_INCLUDE zstd.h REQUIRED)

# SPDX-License-Identifier: Apache-2.0
# Toolchain file: compiles for Linux on aarch64 with Debian's cross compiler, and runs programs in QEMU.
# `scripts/install-dependencies --arm64` installs both, and unpacks the libraries of that machine into build/arm64/sysroot.
#
#   cmake --preset arm64 && cmake --build --preset arm64 && ctest --preset arm64 -L emulated
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)

get_filename_component(warren_sysroot ${CMAKE_CURRENT_LIST_DIR}/../build/arm64/sysroot ABSOLUTE)
set(WARREN_SYSROOT ${warren_sysroot} CACHE PATH "Libraries for aarch64, as on such a machine's disk")
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES WARREN_SYSROOT)
if(NOT IS_DIRECTORY ${WARREN_SYSROOT}/usr/include)
  message(FATAL_ERROR "warren: no libraries for aarch64 in ${WARREN_SYSROOT}: run scripts/install-dependencies --arm64")
endif()

# The compiler has its own C library; only what warren links is looked for in the other machine's files.
set(CMAKE_FIND_ROOT_PATH ${WARREN_SYSROOT})
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64-static -L ${WARREN_SYSROOT})

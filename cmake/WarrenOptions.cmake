# SPDX-License-Identifier: Apache-2.0
# Build options, the warning set and the sanitizers.
set(WARREN_CUDA "AUTO" CACHE STRING "Build the CUDA backend: AUTO (where nvcc is found), ON, OFF")
set_property(CACHE WARREN_CUDA PROPERTY STRINGS AUTO ON OFF)
set(WARREN_MPI "AUTO" CACHE STRING "Build the plug-in for ranks on several hosts: AUTO (where MPI is found), ON, OFF")
set_property(CACHE WARREN_MPI PROPERTY STRINGS AUTO ON OFF)
set(WARREN_SANITIZE "" CACHE STRING "Sanitizers, as for -fsanitize= (for example address,undefined)")
set(WARREN_MARCH "" CACHE STRING "CPU to build for, as for -march= (empty: the compiler's baseline)")
option(WARREN_TESTS "Build the tests" ${PROJECT_IS_TOP_LEVEL})
option(WARREN_BENCH "Build the benchmarks" ${PROJECT_IS_TOP_LEVEL})
# For builds that compile everything once, as scripts/test does. (ccache would have to be told not to look at precompiled headers.)
option(WARREN_COMPILED_ONCE "Compile fast: headers of tests precompiled, little optimised" OFF)
option(WARREN_PRECOMPILED "Precompile the headers of tests that are compiled once" ON)
option(WARREN_WERROR "Treat warnings as errors" OFF)
option(WARREN_PYTHON "Build the Python extension (pyproject.toml does; needs nanobind)" OFF)
option(WARREN_FUZZ "Build the libFuzzer targets (needs clang)" OFF)

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Build type" FORCE)
endif()

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)

find_program(WARREN_NVCC nvcc HINTS ENV CUDA_PATH ENV CUDA_HOME PATHS /usr/local/cuda PATH_SUFFIXES bin)
if(WARREN_CUDA STREQUAL "ON" OR (WARREN_CUDA STREQUAL "AUTO" AND WARREN_NVCC))
  if(WARREN_NVCC AND NOT DEFINED CMAKE_CUDA_COMPILER)
    set(CMAKE_CUDA_COMPILER ${WARREN_NVCC})
  endif()
  if(WARREN_CUDA_ARCHITECTURES AND DEFINED CMAKE_CUDA_ARCHITECTURES)
    message(FATAL_ERROR "WARREN_CUDA_ARCHITECTURES is ${WARREN_CUDA_ARCHITECTURES} and CMAKE_CUDA_ARCHITECTURES is "
      "${CMAKE_CUDA_ARCHITECTURES}: give one of them (-U CMAKE_CUDA_ARCHITECTURES forgets an old one)")
  endif()
  if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES)
    warren_own_architectures(warren_own)
    warren_toolkit_architectures(warren_toolkit ${CMAKE_CUDA_COMPILER})
    warren_choose_architectures(CMAKE_CUDA_ARCHITECTURES "${WARREN_CUDA_ARCHITECTURES}" "${warren_own}" "${warren_toolkit}")
  endif()
  string(REPLACE ";" ", " warren_built_for "${CMAKE_CUDA_ARCHITECTURES}")
  enable_language(CUDA)
  # Only now, and by hand: CMake 3.25 does not know that nvcc speaks C++20.
  if(NOT CMAKE_CUDA20_STANDARD_COMPILE_OPTION)
    set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION "-std=c++20")
    set(CMAKE_CUDA20_EXTENSION_COMPILE_OPTION "-std=c++20")
  endif()
  set(CMAKE_CUDA_STANDARD 20)
  set(CMAKE_CUDA_STANDARD_REQUIRED ON)
  set(CMAKE_CUDA_EXTENSIONS OFF)
  find_package(CUDAToolkit 12.4 REQUIRED)
  set(WARREN_HAS_CUDA 1)
  message(STATUS "warren: CUDA ${CUDAToolkit_VERSION} found, building the CPU and CUDA backends for capabilities ${warren_built_for}")
else()
  set(WARREN_HAS_CUDA 0)
  if(WARREN_CUDA_ARCHITECTURES)
    message(WARNING "WARREN_CUDA_ARCHITECTURES is ${WARREN_CUDA_ARCHITECTURES}, but this build has no kernels for GPUs")
  endif()
  message(STATUS "warren: building the CPU backend only (WARREN_CUDA=${WARREN_CUDA}, nvcc: ${WARREN_NVCC})")
endif()

add_library(warren_settings INTERFACE)
# Headers that floors, the program and the tests share, and that are not installed.
target_include_directories(warren_settings INTERFACE $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/internal>)
target_compile_options(warren_settings INTERFACE
  $<$<COMPILE_LANGUAGE:CXX>:-Wall -Wextra -Wpedantic -Wshadow -Wconversion>
  $<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=-Wall,-Wextra --expt-relaxed-constexpr --extended-lambda>)
# Code for a GPU is packed, to a tenth or less; by default nvcc leaves what is for one capability as it is. Drivers unpack it when a
# kernel is first called. Those that toolkits before 13 allow need not know how.
if(WARREN_HAS_CUDA AND CUDAToolkit_VERSION VERSION_GREATER_EQUAL 13)
  target_compile_options(warren_settings INTERFACE $<$<COMPILE_LANGUAGE:CUDA>:--compress-mode=size>)
endif()
# For profilers. At -O1 nvcc 13 writes a line's mark in the middle of a call, which ptxas refuses.
if(NOT WARREN_COMPILED_ONCE)
  target_compile_options(warren_settings INTERFACE $<$<COMPILE_LANGUAGE:CUDA>:-lineinfo>)
endif()
# Of clang, which compiles the sanitized builds: its -Wconversion includes signs, g++'s does not; and it knows fewer attributes.
target_compile_options(warren_settings INTERFACE
  $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<CXX_COMPILER_ID:Clang>>:-Wno-sign-conversion -Wno-ignored-attributes>)
if(WARREN_WERROR)
  target_compile_options(warren_settings INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-Werror>)
  # What g++ says of memory depends on what it inlined, and of C++20's strings g++ 12 says what is not so.
  target_compile_options(warren_settings INTERFACE $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<CXX_COMPILER_ID:GNU>>:-Wno-error=restrict
    -Wno-error=maybe-uninitialized -Wno-error=array-bounds -Wno-error=stringop-overflow -Wno-error=stringop-overread>)
endif()
# Sources that are joined are included, so that g++ takes their anonymous namespaces for a header's.
if(CMAKE_UNITY_BUILD)
  target_compile_options(warren_settings INTERFACE $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<CXX_COMPILER_ID:GNU>>:-Wno-subobject-linkage>)
endif()
# Of builds that compile everything once: this target takes longer to compile than to run.
function(warren_compile_fast target)
  if(WARREN_COMPILED_ONCE)
    target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-O0>)
  endif()
endfunction()
if(WARREN_MARCH)
  target_compile_options(warren_settings INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-march=${WARREN_MARCH}>)
endif()
if(WARREN_SANITIZE)
  target_compile_options(warren_settings INTERFACE
    $<$<COMPILE_LANGUAGE:CXX>:-fsanitize=${WARREN_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all>)
  target_link_options(warren_settings INTERFACE -fsanitize=${WARREN_SANITIZE})
  # Kernels for the CPU are compiled once for each width of its vectors, with all that they call: most of what some sources take.
  target_compile_definitions(warren_settings INTERFACE WARREN_ONE_WIDTH)
endif()

# SPDX-License-Identifier: Apache-2.0
# Which GPUs the kernels are built for: WARREN_CUDA_ARCHITECTURES.
#
#   native   those of this machine's GPUs, as nvidia-smi names them, and PTX of the last for later ones
#   all      every one that warren knows and the toolkit has, and PTX of the last
#   80;90    these (also 8.0;9.0), and PTX of the last; 90-real leaves the PTX out, 90-virtual has PTX alone
#   (empty)  native where there is a GPU, else 90
#
# Read before the language is enabled: CMake's own default may be one that the toolkit no longer has. CMAKE_CUDA_ARCHITECTURES,
# where somebody sets that, is taken as it is.
set(WARREN_CUDA_ARCHITECTURES "" CACHE STRING
  "GPUs to build for: native, all, or capabilities such as 80;90 (empty: this machine's GPU, else 90)")

# Every capability that kernels have been compiled for, oldest first.
set(WARREN_KNOWN_ARCHITECTURES 75 80 86 89 90 100 120)

# warren_check_architectures(VALUE): ends the configuration where VALUE is none of the forms above.
function(warren_check_architectures value)
  if(value STREQUAL "" OR value MATCHES "^(native|all)$")
    return()
  endif()
  foreach(word IN LISTS value)
    if(NOT word MATCHES "^([1-9][0-9]?\\.[0-9]|[1-9][0-9][0-9]?)(-real|-virtual)?$")
      message(FATAL_ERROR "WARREN_CUDA_ARCHITECTURES: got \"${word}\" in \"${value}\"; give native, all, or compute capabilities "
        "with semicolons between, such as 80;90 or 8.0;9.0-virtual")
    endif()
    string(REGEX REPLACE "-.*|\\." "" number "${word}")
    if(number LESS 75)
      message(FATAL_ERROR "WARREN_CUDA_ARCHITECTURES: got \"${word}\", but the oldest GPUs that warren's kernels run on have compute "
        "capability 7.5 (Turing); give 75 or later ones")
    endif()
  endforeach()
endfunction()

# The capabilities of this machine's GPUs, such as 80;90; empty without one.
function(warren_own_architectures result)
  find_program(WARREN_NVIDIA_SMI nvidia-smi)
  mark_as_advanced(WARREN_NVIDIA_SMI)
  set(found "")
  if(WARREN_NVIDIA_SMI)
    execute_process(COMMAND ${WARREN_NVIDIA_SMI} --query-gpu=compute_cap --format=csv,noheader
      OUTPUT_VARIABLE said ERROR_QUIET RESULT_VARIABLE failed)
    if(NOT failed)
      string(REGEX MATCHALL "[0-9]+\\.[0-9]" found "${said}")
      list(TRANSFORM found REPLACE "\\." "")
      list(REMOVE_DUPLICATES found)
      list(SORT found COMPARE NATURAL)
    endif()
  endif()
  set(${result} "${found}" PARENT_SCOPE)
endfunction()

# warren_choose_architectures(RESULT VALUE OWN TOOLKIT): VALUE as CMAKE_CUDA_ARCHITECTURES has it. OWN: the capabilities of this
# machine's GPUs; TOOLKIT: those that nvcc compiles for.
function(warren_choose_architectures result value own toolkit)
  set(all "")
  foreach(number IN LISTS WARREN_KNOWN_ARCHITECTURES)
    if(number IN_LIST toolkit)
      list(APPEND all ${number})
    endif()
  endforeach()
  if(value STREQUAL "" AND own STREQUAL "")
    set(value 90)
  elseif(value STREQUAL "" OR value STREQUAL "native")
    if(own STREQUAL "")
      message(FATAL_ERROR "WARREN_CUDA_ARCHITECTURES: native was asked for, but nvidia-smi names no GPU of this machine; give "
        "capabilities such as 80;90, or all")
    endif()
    set(value "")
    list(GET all -1 newest)
    foreach(number IN LISTS own)
      if(number LESS 75)
        message(WARNING "warren: a GPU of this machine has compute capability ${number}, tenths counted; kernels need 7.5 (75)")
      elseif(number IN_LIST toolkit)
        list(APPEND value ${number})
      else()  # Newer than the toolkit: it compiles what the GPU's driver reads.
        list(APPEND value ${newest}-virtual)
      endif()
    endforeach()
    list(REMOVE_DUPLICATES value)
    if(value STREQUAL "")
      set(value 90)
    endif()
  elseif(value STREQUAL "all")
    set(value "${all}")
  endif()
  set(chosen "")
  list(LENGTH value left)
  foreach(word IN LISTS value)
    math(EXPR left "${left} - 1")
    string(REGEX REPLACE "-.*|\\." "" number "${word}")
    if(NOT number IN_LIST toolkit)
      string(REPLACE ";" ", " known "${toolkit}")
      message(FATAL_ERROR "WARREN_CUDA_ARCHITECTURES: got \"${word}\", which this CUDA toolkit does not compile for; it has: ${known}")
    endif()
    if(word MATCHES "-(real|virtual)$")
      list(APPEND chosen ${number}-${CMAKE_MATCH_1})
    elseif(left EQUAL 0)
      list(APPEND chosen ${number})  # Also its PTX.
    else()
      list(APPEND chosen ${number}-real)
    endif()
  endforeach()
  set(${result} "${chosen}" PARENT_SCOPE)
endfunction()

# warren_toolkit_architectures(RESULT NVCC)
function(warren_toolkit_architectures result nvcc)
  execute_process(COMMAND ${nvcc} --list-gpu-arch OUTPUT_VARIABLE said ERROR_QUIET)
  string(REGEX MATCHALL "compute_[0-9]+" found "${said}")
  list(TRANSFORM found REPLACE "compute_" "")
  list(SORT found COMPARE NATURAL)
  set(${result} "${found}" PARENT_SCOPE)
endfunction()

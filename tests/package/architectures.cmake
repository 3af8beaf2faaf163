# SPDX-License-Identifier: Apache-2.0
# cmake -D source=FOLDER -D work=FOLDER -P architectures.cmake
#
# What WARREN_CUDA_ARCHITECTURES becomes, without a GPU or a toolkit, and what is said of values that it cannot have.
cmake_minimum_required(VERSION 3.25)
include(${source}/cmake/WarrenArchitectures.cmake)
set(toolkit 75 80 86 89 90 100 120 121)

function(expect value own knows expected)
  warren_choose_architectures(chosen "${value}" "${own}" "${knows}")
  if(NOT "${chosen}" STREQUAL "${expected}")
    message(SEND_ERROR "\"${value}\" on a machine with [${own}]: expected [${expected}], got [${chosen}]")
  endif()
endfunction()
expect("" "" "${toolkit}" "90")
expect("" "80" "${toolkit}" "80")
expect("native" "80;90" "${toolkit}" "80-real;90")
expect("native" "130" "${toolkit}" "120-virtual")
expect("all" "80" "${toolkit}" "75-real;80-real;86-real;89-real;90-real;100-real;120")
expect("all" "" "75;80;86;89;90" "75-real;80-real;86-real;89-real;90")
expect("8.0;9.0" "" "${toolkit}" "80-real;90")
expect("75-virtual" "90" "${toolkit}" "75-virtual")
expect("80-virtual;90-real" "" "${toolkit}" "80-virtual;90-real")

# A machine whose GPUs are told by a program of ours.
file(WRITE ${work}/bin/nvidia-smi "#!/bin/sh\nprintf '9.0\\n8.0\\n9.0\\n'\n")
file(CHMOD ${work}/bin/nvidia-smi PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE)
set(WARREN_NVIDIA_SMI ${work}/bin/nvidia-smi)
warren_own_architectures(own)
if(NOT "${own}" STREQUAL "80;90")
  message(SEND_ERROR "nvidia-smi said 9.0, 8.0, 9.0: got [${own}]")
endif()

# The whole project's first step.
function(refused value expected)
  execute_process(COMMAND ${CMAKE_COMMAND} -S ${source} -B ${work}/refused "-DWARREN_CUDA_ARCHITECTURES=${value}"
    RESULT_VARIABLE failed OUTPUT_VARIABLE said ERROR_VARIABLE said)
  string(REGEX REPLACE "[ \n]+" " " said "${said}")
  string(FIND "${said}" "WARREN_CUDA_ARCHITECTURES: got \"${expected}" found)
  if(NOT failed OR found LESS 0)
    message(SEND_ERROR "-DWARREN_CUDA_ARCHITECTURES=${value} should be refused, naming \"${expected}\"; got:\n${said}")
  endif()
endfunction()
refused("hopper" "hopper\" in")
refused("80;9o" "9o\" in")
refused("7.0" "7.0\", but the oldest")

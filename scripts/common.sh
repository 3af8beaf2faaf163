# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
#
# What quickstart and test share: where the source is, how many jobs this machine can carry, whether
# there is a CUDA compiler and a GPU. Sourced, never run.

source_folder=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$source_folder" || exit

say() {
  echo
  echo "== $*"
}

# One job a core, but none without 2 GB of memory: compiling a kernel file takes about that.
build_jobs() {
  local cores memory_gb
  cores=$(nproc)
  memory_gb=$(awk '/^MemAvailable:/ {print int($2 / 1024 / 1024)}' /proc/meminfo)
  local by_memory=$((memory_gb / 2))
  local jobs=$((by_memory < cores ? by_memory : cores))
  echo $((jobs > 0 ? jobs : 1))
}

# Prints the path of nvcc; fails where there is none.
find_nvcc() {
  command -v nvcc && return
  local folder
  for folder in "${CUDA_PATH:-}" "${CUDA_HOME:-}" /usr/local/cuda; do
    if [[ -n "$folder" && -x "$folder/bin/nvcc" ]]; then
      echo "$folder/bin/nvcc"
      return
    fi
  done
  return 1
}

has_gpu() {
  command -v nvidia-smi > /dev/null && nvidia-smi -L 2> /dev/null | grep -q '^GPU '
}

export CMAKE_BUILD_PARALLEL_LEVEL="${CMAKE_BUILD_PARALLEL_LEVEL:-$(build_jobs)}"

# For builds from nothing: several sources in each compilation. A build that is changed and built again is better off without.
# shellcheck disable=SC2034
joined_sources=(-DCMAKE_UNITY_BUILD=ON -DCMAKE_UNITY_BUILD_BATCH_SIZE=8)

# A second build, or the same sources in another preset or clone, costs little with ccache: paths
# below the project's folder are compared as if all clones lay in one place.
use_ccache() {
  if command -v ccache > /dev/null; then
    export CCACHE_BASEDIR="${CCACHE_BASEDIR-$source_folder}" CCACHE_NOHASHDIR="${CCACHE_NOHASHDIR-true}"
    export CMAKE_CXX_COMPILER_LAUNCHER="${CMAKE_CXX_COMPILER_LAUNCHER-ccache}"
    export CMAKE_CUDA_COMPILER_LAUNCHER="${CMAKE_CUDA_COMPILER_LAUNCHER-ccache}"
  fi
}

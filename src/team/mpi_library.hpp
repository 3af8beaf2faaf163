// SPDX-License-Identifier: Apache-2.0
// Where the plug-in for MPI is found.
#pragma once

#include "team/mpi_functions.hpp"

namespace warren::team {

/// Of libwarren_mpi.so beside the program or library that this code is in, or in the folder above,
/// or where libraries are installed; or of the file that WARREN_MPI names. Throws UsageError where
/// there is none, or none that can be loaded: it names what to install.
[[nodiscard]] const MpiFunctions& mpi_library();

}  // namespace warren::team

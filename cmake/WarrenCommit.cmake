# SPDX-License-Identifier: Apache-2.0
# cmake -DSOURCE=folder -DOUTPUT=file.cpp [-DCOMMIT=name] -P WarrenCommit.cmake
#
# Writes the one source that knows the commit: the first twelve digits, "-dirty" behind them where tracked files are changed, "unknown"
# outside a git checkout. A name given by hand goes before git's. An unchanged file is left alone, so that only programs are linked anew.
set(name "${COMMIT}")
if(name STREQUAL "")
  set(name "unknown")
  find_program(GIT git)
  if(GIT AND EXISTS "${SOURCE}/.git")
    execute_process(COMMAND ${GIT} rev-parse --short=12 HEAD WORKING_DIRECTORY ${SOURCE}
      OUTPUT_VARIABLE head OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE failed)
    if(NOT failed)
      execute_process(COMMAND ${GIT} status --porcelain --untracked-files=no WORKING_DIRECTORY ${SOURCE}
        OUTPUT_VARIABLE changes ERROR_QUIET)
      set(name "${head}")
      if(NOT changes STREQUAL "")
        string(APPEND name "-dirty")
      endif()
    endif()
  endif()
endif()
file(CONFIGURE OUTPUT "${OUTPUT}" CONTENT [[// Written by cmake/WarrenCommit.cmake at each build.
#include "warren/stamp/stamp.hpp"

namespace warren::stamp {
const char* commit() noexcept { return "@name@"; }
}  // namespace warren::stamp
]] @ONLY)

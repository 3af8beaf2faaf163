# SPDX-License-Identifier: Apache-2.0
# Installs the build folder `build` into `work`/prefix, builds the project `consumer` against it, which
# runs its programs. Stops with an error where any step fails.
cmake_minimum_required(VERSION 3.25)
file(REMOVE_RECURSE ${work}/prefix ${work}/consumer)

execute_process(COMMAND ${CMAKE_COMMAND} --install ${build} --config ${config} --prefix ${work}/prefix
  OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${CMAKE_COMMAND} -S ${consumer} -B ${work}/consumer -G ${generator}
    -D CMAKE_BUILD_TYPE=${config} -D CMAKE_CXX_COMPILER=${compiler}
    -D CMAKE_PREFIX_PATH=${work}/prefix -D CMAKE_CXX_FLAGS_RELEASE=-O0
  COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${CMAKE_COMMAND} --build ${work}/consumer --config ${config}
  COMMAND_ERROR_IS_FATAL ANY)

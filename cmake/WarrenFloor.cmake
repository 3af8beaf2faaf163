# SPDX-License-Identifier: Apache-2.0
# warren_floor(NAME SOURCES ... [CUDA ...] [DEPENDS floor ...] [PRIVATE lib ...])
#
# One static library warren_NAME per floor. Floors may use only those below them, so DEPENDS names lower floors. CUDA sources are
# compiled only where the CUDA backend is built; there is no relocatable device code: a kernel and its launch share a file.
function(warren_floor name)
  cmake_parse_arguments(FLOOR "" "" "SOURCES;CUDA;DEPENDS;PRIVATE" ${ARGN})
  set(target warren_${name})
  add_library(${target} STATIC ${FLOOR_SOURCES})
  if(WARREN_HAS_CUDA)
    target_sources(${target} PRIVATE ${FLOOR_CUDA})
  endif()
  target_include_directories(${target}
    PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>
    PRIVATE ${PROJECT_SOURCE_DIR}/src)
  target_compile_features(${target} PUBLIC cxx_std_20)
  target_compile_definitions(${target} PUBLIC WARREN_HAS_CUDA=${WARREN_HAS_CUDA})
  foreach(floor IN LISTS FLOOR_DEPENDS)
    target_link_libraries(${target} PUBLIC warren_${floor})
  endforeach()
  target_link_libraries(${target} PUBLIC Threads::Threads PRIVATE
    $<BUILD_INTERFACE:warren_settings> $<BUILD_INTERFACE:${WARREN_FMT}> ${FLOOR_PRIVATE})
  set_target_properties(${target} PROPERTIES EXPORT_NAME ${name})
  install(TARGETS ${target} EXPORT warrenTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
endfunction()

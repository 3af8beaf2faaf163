# SPDX-License-Identifier: Apache-2.0
# cmake --install: headers, libraries, the program, the shipped dataset, and a package for find_package(warren).
include(CMakePackageConfigHelpers)
install(DIRECTORY include/warren DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(TARGETS warren_program RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(DIRECTORY data/debian DESTINATION ${CMAKE_INSTALL_DATADIR}/warren)
install(EXPORT warrenTargets NAMESPACE warren:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/warren)
configure_package_config_file(cmake/warrenConfig.cmake.in ${PROJECT_BINARY_DIR}/warrenConfig.cmake
  INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/warren)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/warrenConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/warrenConfig.cmake ${PROJECT_BINARY_DIR}/warrenConfigVersion.cmake
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/warren)

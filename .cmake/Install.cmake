# SPDX-License-Identifier: Apache-2.0
# The files of `cmake --install`. kubectl finds kubectl-sandgate on the path and runs it as `kubectl sandgate`.
include(GNUInstallDirs)
install(TARGETS sandgate RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
file(CREATE_LINK sandgate ${PROJECT_BINARY_DIR}/kubectl-sandgate SYMBOLIC)
install(FILES ${PROJECT_BINARY_DIR}/kubectl-sandgate DESTINATION ${CMAKE_INSTALL_BINDIR})
install(FILES README.md CHANGELOG.md LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})

# SPDX-License-Identifier: Apache-2.0
# sandgate_module(NAME SOURCES a.c b.c USES modules LIBRARIES libraries PRIVATE_LIBRARIES libraries)
# One directory as a static library. USES names the modules whose headers its files include, no more and no fewer:
# tests/lint/layers.py compares the list with the include lines, and both with the order of the layers.
function(sandgate_module name)
    cmake_parse_arguments(ARG "" "" "SOURCES;USES;LIBRARIES;PRIVATE_LIBRARIES" ${ARGN})
    add_library(${name} STATIC ${ARG_SOURCES})
    target_include_directories(${name} PUBLIC ${PROJECT_SOURCE_DIR})
    target_link_libraries(${name} PUBLIC ${ARG_USES} ${ARG_LIBRARIES} sandgate_hardening
        PRIVATE ${ARG_PRIVATE_LIBRARIES} sandgate_warnings)
endfunction()

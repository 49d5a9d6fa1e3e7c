# SPDX-License-Identifier: Apache-2.0
# Two interface targets, linked by all our targets and by no others.
#   sandgate_warnings   compiler warnings
#   sandgate_hardening  hardening of the installed binary, and sanitizers
# The list follows the Compiler Options Hardening Guide of OpenSSF; .github/CONTRIBUTING.md says what is left out.
include(CheckCCompilerFlag)
include(CheckLinkerFlag)
include(CheckPIESupported)
check_pie_supported(LANGUAGES C) # with CMAKE_POSITION_INDEPENDENT_CODE: -fPIE and -pie, whatever the compiler's default is

# Every flag of these lists is required: an unknown one fails the configure step.
function(sandgate_require_flag target flag)
    string(MAKE_C_IDENTIFIER "HAVE${flag}" var)
    set(CMAKE_REQUIRED_FLAGS "-Werror -Wformat") # without the second one, format-security is refused
    check_c_compiler_flag("${flag}" ${var})
    if(NOT ${var})
        message(FATAL_ERROR "compiler does not know ${flag}")
    endif()
    target_compile_options(${target} INTERFACE "${flag}")
endfunction()

# For flags that only newer compilers have, or those of one architecture.
function(sandgate_add_known_flag target flag)
    string(MAKE_C_IDENTIFIER "HAVE${flag}" var)
    set(CMAKE_REQUIRED_FLAGS "-Werror")
    check_c_compiler_flag("${flag}" ${var})
    if(${var})
        target_compile_options(${target} INTERFACE "${flag}")
    endif()
endfunction()

function(sandgate_require_link_flag target flag)
    string(MAKE_C_IDENTIFIER "HAVE${flag}" var)
    check_linker_flag(C "${flag}" ${var})
    if(NOT ${var})
        message(FATAL_ERROR "linker does not know ${flag}")
    endif()
    target_link_options(${target} INTERFACE "${flag}")
endfunction()

add_library(sandgate_warnings INTERFACE)
foreach(flag
        -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Wstrict-prototypes
        -Wmissing-prototypes -Wmissing-variable-declarations -Wold-style-definition -Wvla
        -Wformat=2 -Wcast-qual -Wcast-align -Wpointer-arith -Wwrite-strings -Wundef
        -Wswitch-enum -Wimplicit-fallthrough -Wnull-dereference -Wdouble-promotion
        -Werror=format-security -Werror=implicit -Werror=incompatible-pointer-types -Werror=int-conversion)
    if(flag STREQUAL "-Wmissing-variable-declarations" AND CMAKE_C_COMPILER_ID STREQUAL "GNU" AND CMAKE_C_COMPILER_VERSION VERSION_LESS 14)
        continue()
    endif()
    sandgate_require_flag(sandgate_warnings ${flag})
endforeach()
if(CMAKE_C_COMPILER_ID STREQUAL "GNU")
    foreach(flag -Wlogical-op -Wduplicated-cond -Wduplicated-branches -Wformat-signedness -Wtrampolines)
        sandgate_require_flag(sandgate_warnings ${flag})
    endforeach()
    sandgate_add_known_flag(sandgate_warnings -Wbidi-chars=any) # gcc 12
endif()
if(SANDGATE_WERROR)
    target_compile_options(sandgate_warnings INTERFACE -Werror)
endif()

add_library(sandgate_hardening INTERFACE)
foreach(flag -fstack-protector-strong -fstack-clash-protection -fno-strict-overflow -fno-strict-aliasing
        -fno-delete-null-pointer-checks)
    sandgate_require_flag(sandgate_hardening ${flag})
endforeach()
sandgate_add_known_flag(sandgate_hardening -fstrict-flex-arrays=3)      # gcc 13, clang 16
sandgate_add_known_flag(sandgate_hardening -fzero-init-padding-bits=all) # gcc 15
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
    sandgate_require_flag(sandgate_hardening -fcf-protection=full)
elseif(CMAKE_SYSTEM_PROCESSOR MATCHES "aarch64|arm64")
    sandgate_require_flag(sandgate_hardening -mbranch-protection=standard)
endif()
if(NOT SANDGATE_SANITIZE AND CMAKE_BUILD_TYPE MATCHES "Rel")
    target_compile_options(sandgate_hardening INTERFACE -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3)
    # not with sanitizers: a variable that is never set would be zero there too, and not be found
    sandgate_add_known_flag(sandgate_hardening -ftrivial-auto-var-init=zero) # gcc 12, clang 16
endif()
foreach(flag -Wl,-z,relro -Wl,-z,now -Wl,-z,noexecstack -Wl,--as-needed -Wl,--no-copy-dt-needed-entries)
    sandgate_require_link_flag(sandgate_hardening ${flag})
endforeach()
if(SANDGATE_SANITIZE)
    target_compile_options(sandgate_hardening INTERFACE -fsanitize=${SANDGATE_SANITIZE}
        -fno-sanitize-recover=all -fno-omit-frame-pointer)
    target_link_options(sandgate_hardening INTERFACE -fsanitize=${SANDGATE_SANITIZE})
endif()
if(SANDGATE_FUZZ)
    # The libraries, not only the fuzz targets, must be instrumented for coverage.
    target_compile_options(sandgate_hardening INTERFACE -fsanitize=fuzzer-no-link)
endif()

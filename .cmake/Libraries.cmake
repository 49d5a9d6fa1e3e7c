# SPDX-License-Identifier: Apache-2.0
# The required libraries, with the oldest tested version (Debian 12).
find_package(PkgConfig REQUIRED)

function(sandgate_library name module version package)
    pkg_check_modules(${name} IMPORTED_TARGET GLOBAL ${module}>=${version})
    if(NOT ${name}_FOUND)
        message(FATAL_ERROR "${module} ${version} or newer is required: on Debian and Ubuntu, apt-get install ${package} (or: make setup)")
    endif()
endfunction()

sandgate_library(CJSON libcjson 1.7.15 libcjson-dev)
sandgate_library(YAML yaml-0.1 0.2.5 libyaml-dev)
sandgate_library(GNUTLS gnutls 3.7.9 libgnutls28-dev)
sandgate_library(CURL libcurl 7.88 libcurl4-gnutls-dev)
sandgate_library(MICROHTTPD libmicrohttpd 0.9.75 libmicrohttpd-dev)
sandgate_library(ZLIB zlib 1.2.11 zlib1g-dev)
if(SANDGATE_TESTS)
    sandgate_library(CRITERION criterion 2.4.1 libcriterion-dev)
endif()

# SPDX-License-Identifier: Apache-2.0
# sandgate_embed(OUT file.c NAME symbol_prefix FILES a b): writes a C file with the bytes of each file, followed by NUL.
# For a.css with the prefix page_: `extern const unsigned char page_a_css[]; extern const unsigned long page_a_css_bytes;`
function(sandgate_embed)
    cmake_parse_arguments(ARG "" "OUT;NAME" "FILES" ${ARGN})
    set(text "/* Made by .cmake/Embed.cmake. */\n")
    foreach(file ${ARG_FILES})
        set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
        get_filename_component(name ${file} NAME)
        string(MAKE_C_IDENTIFIER ${name} name)
        file(READ ${file} hex HEX)
        string(LENGTH "${hex}" length)
        math(EXPR bytes "${length} / 2")
        string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," hex "${hex}")
        string(REGEX REPLACE "(................................................................................)" "\\1\n"
            hex "${hex}")
        string(APPEND text "extern const unsigned char ${ARG_NAME}${name}[];\n"
            "extern const unsigned long ${ARG_NAME}${name}_bytes;\n"
            "const unsigned long ${ARG_NAME}${name}_bytes = ${bytes};\n"
            "const unsigned char ${ARG_NAME}${name}[] = {\n${hex}0};\n")
    endforeach()
    file(CONFIGURE OUTPUT ${ARG_OUT} CONTENT "${text}" @ONLY)
endfunction()

# What each floor takes from outside: third_party_FLOOR is linked into pagoda_FLOOR. Debian's -dev
# packages come from apt (tools/packages.txt); what is fetched is pinned in third_party/pins.txt.
find_package(Threads REQUIRED)

add_library(third_party_base INTERFACE)
target_compile_definitions(third_party_base INTERFACE
  SPDLOG_HEADER_ONLY SPDLOG_FMT_EXTERNAL_HO)
# fmt is compiled in one file, for all to link; spdlog, which is used in one file, has it inside.
set_source_files_properties(${CMAKE_SOURCE_DIR}/src/base/log.cc PROPERTIES COMPILE_DEFINITIONS FMT_HEADER_ONLY)
target_link_libraries(third_party_base INTERFACE Threads::Threads ${CMAKE_DL_LIBS})

# text: regular expressions and normal forms, from static archives so that the tarball needs no .so.
find_library(PAGODA_PCRE2 NAMES libpcre2-8.a REQUIRED)
find_library(PAGODA_UTF8PROC NAMES libutf8proc.a REQUIRED)
add_library(third_party_text INTERFACE)
target_compile_definitions(third_party_text INTERFACE PCRE2_STATIC UTF8PROC_STATIC)

# text: the Jinja engine of llama.cpp (MIT), from the pinned sdist; its tests' templates and vocabularies are ours too.
find_package(Python3 REQUIRED COMPONENTS Interpreter)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/third_party/pins.txt)
execute_process(COMMAND ${Python3_EXECUTABLE} ${CMAKE_SOURCE_DIR}/tools/fetch.py llama-cpp
  OUTPUT_VARIABLE PAGODA_LLAMA_CPP OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
set(PAGODA_LLAMA_CPP ${PAGODA_LLAMA_CPP}/llama.cpp)
file(GLOB jinja_sources ${PAGODA_LLAMA_CPP}/common/jinja/*.cpp)
add_library(third_party_jinja STATIC ${jinja_sources}
  ${PAGODA_LLAMA_CPP}/common/json.cpp ${PAGODA_LLAMA_CPP}/common/unicode.cpp)
# Its headers have names such as json.h and log.h: only the folder jinja is shown to us. Its json.cpp wants ggml.h for
# one macro.
file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/third_party/include)
file(CREATE_LINK ${PAGODA_LLAMA_CPP}/common/jinja ${CMAKE_BINARY_DIR}/third_party/include/jinja SYMBOLIC)
file(WRITE ${CMAKE_BINARY_DIR}/third_party/ggml_shim/ggml.h
  "#include <cassert>\n#define GGML_ASSERT(condition) assert(condition)\n")
target_include_directories(third_party_jinja
  PRIVATE ${PAGODA_LLAMA_CPP}/common ${CMAKE_BINARY_DIR}/third_party/ggml_shim)
target_include_directories(third_party_jinja SYSTEM INTERFACE ${CMAKE_BINARY_DIR}/third_party/include)
target_compile_options(third_party_jinja PRIVATE -w)
# It keeps a float's integer value beside it, whatever the float: past 64 bits that is what the CPU makes of it.
if(PAGODA_SANITIZE AND CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  target_compile_options(third_party_jinja PUBLIC
    -fsanitize-ignorelist=${CMAKE_SOURCE_DIR}/third_party/sanitizer_ignored.txt)
endif()
target_link_libraries(third_party_text INTERFACE third_party_jinja ${PAGODA_PCRE2} ${PAGODA_UTF8PROC})

# HTTP: Boost's headers, with Asio and Beast compiled once (src/http/boost_asio_beast.cc) rather than in
# every file that includes them; OpenSSL static, so that a release needs no libssl of the machine.
find_package(Boost 1.81 REQUIRED)
set(OPENSSL_USE_STATIC_LIBS TRUE)
find_package(OpenSSL 3.0 REQUIRED)
add_library(third_party_http INTERFACE)
target_compile_definitions(third_party_http INTERFACE
  BOOST_ASIO_SEPARATE_COMPILATION BOOST_BEAST_SEPARATE_COMPILATION BOOST_ERROR_CODE_HEADER_ONLY
  BOOST_ASIO_NO_DEPRECATED)
target_link_libraries(third_party_http INTERFACE Boost::headers OpenSSL::SSL OpenSSL::Crypto Threads::Threads)

# faults: many sentences at once (Hyperscan; vectorscan has the same header), one sentence's parts (PCRE2), archives.
# libarchive is asked for tar and gzip only, so that of its libraries zlib alone is linked.
find_library(PAGODA_HYPERSCAN NAMES libhs.a REQUIRED)
find_library(PAGODA_ARCHIVE NAMES libarchive.a REQUIRED)
find_library(PAGODA_ZLIB NAMES libz.a REQUIRED)
add_library(third_party_faults INTERFACE)
target_compile_definitions(third_party_faults INTERFACE PCRE2_STATIC)
target_link_libraries(third_party_faults INTERFACE ${PAGODA_HYPERSCAN} ${PAGODA_PCRE2} ${PAGODA_ARCHIVE} ${PAGODA_ZLIB})

# YAML: --config of app, scenarios of simulate, CDI specs of container (whose TOML is toml++, header only).
find_library(PAGODA_YAML_CPP NAMES libyaml-cpp.a REQUIRED)
# smi --watch: ncurses, whose terminal descriptions are the machine's.
find_library(PAGODA_NCURSES NAMES libncursesw.a REQUIRED)
find_library(PAGODA_TINFO NAMES libtinfo.a REQUIRED)
add_library(third_party_simulate INTERFACE)
target_link_libraries(third_party_simulate INTERFACE ${PAGODA_YAML_CPP})
add_library(third_party_container INTERFACE)
target_link_libraries(third_party_container INTERFACE ${PAGODA_YAML_CPP})
add_library(third_party_app INTERFACE)
target_link_libraries(third_party_app INTERFACE ${PAGODA_YAML_CPP} ${PAGODA_NCURSES} ${PAGODA_TINFO})

# driver: NVML's header from the pinned wheel. The library itself is never linked: it is the machine's, loaded by dlopen.
execute_process(COMMAND ${Python3_EXECUTABLE} ${CMAKE_SOURCE_DIR}/tools/fetch.py nvml
  OUTPUT_VARIABLE PAGODA_NVML OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
set(PAGODA_NVML_HEADER ${PAGODA_NVML}/nvidia/cu13/include/nvml.h)
add_library(third_party_driver INTERFACE)
target_include_directories(third_party_driver SYSTEM INTERFACE ${PAGODA_NVML}/nvidia/cu13/include)
# Every version of a call is declared under its own name.
target_compile_definitions(third_party_driver INTERFACE NVML_NO_UNVERSIONED_FUNC_DEFS)
target_link_libraries(third_party_driver INTERFACE Threads::Threads ${CMAKE_DL_LIBS})

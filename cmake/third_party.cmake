# What each floor takes from outside: third_party_FLOOR is linked into pagoda_FLOOR. Debian's -dev
# packages come from apt (tools/packages.txt); what is fetched is pinned in third_party/pins.txt.
find_package(Threads REQUIRED)

add_library(third_party_base INTERFACE)
target_compile_definitions(third_party_base INTERFACE
  FMT_HEADER_ONLY SPDLOG_HEADER_ONLY SPDLOG_FMT_EXTERNAL_HO)
target_link_libraries(third_party_base INTERFACE Threads::Threads ${CMAKE_DL_LIBS})

# app: YAML for --config, JSON.
find_library(PAGODA_YAML_CPP NAMES libyaml-cpp.a REQUIRED)
add_library(third_party_app INTERFACE)
target_link_libraries(third_party_app INTERFACE ${PAGODA_YAML_CPP})

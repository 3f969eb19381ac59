# The simulated libnvidia-ml.so.1: a shared object of its own with NVML's C ABI, in ${CMAKE_BINARY_DIR}/simulated, so that
# pagoda and any other NVML client find it by its name. Nothing links to it.
set(simulated_out ${CMAKE_BINARY_DIR}/simulated_sources)
file(GLOB simulated_yaml CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/simulate/*/*.yaml)
add_custom_command(
  OUTPUT ${simulated_out}/shipped_texts.cc ${simulated_out}/unsupported_calls.cc
  COMMAND ${Python3_EXECUTABLE} ${CMAKE_SOURCE_DIR}/tools/simulated_sources.py ${PAGODA_NVML_HEADER}
          ${CMAKE_SOURCE_DIR}/src/simulate ${simulated_out}
  DEPENDS ${CMAKE_SOURCE_DIR}/tools/simulated_sources.py ${simulated_yaml} ${PAGODA_NVML_HEADER}
  COMMENT "Texts and names of the simulated GPUs")
target_sources(pagoda_simulate PRIVATE ${simulated_out}/shipped_texts.cc)

file(GLOB simulated_sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/simulate/abi/*.cc)
add_library(simulated_nvml SHARED ${simulated_sources} ${simulated_out}/unsupported_calls.cc)
target_link_libraries(simulated_nvml PRIVATE pagoda_simulate)
set_target_properties(simulated_nvml PROPERTIES
  OUTPUT_NAME nvidia-ml SOVERSION 1 LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/simulated
  CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
# Nothing of its libraries is seen by, or taken from, the client's process.
target_link_options(simulated_nvml PRIVATE LINKER:--exclude-libs,ALL -static-libstdc++ -static-libgcc)
if(NOT PAGODA_SANITIZE)  # whose symbols come from the program that loads it
  target_link_options(simulated_nvml PRIVATE LINKER:-z,defs)
  target_sources(simulated_nvml PRIVATE src/app/old_glibc.cc)
endif()
install(TARGETS simulated_nvml LIBRARY DESTINATION lib/pagoda/simulated NAMELINK_SKIP)
foreach(kind IN ITEMS models workloads scenarios)
  install(DIRECTORY src/simulate/${kind} DESTINATION share/pagoda/simulate FILES_MATCHING PATTERN "*.yaml")
endforeach()

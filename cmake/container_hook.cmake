# The container hook: a program of its own, fully static, because it runs where an image's libraries lie.
add_executable(pagoda-container-hook
  src/container/hook/main.cc src/container/hook/confined_root.cc src/container/hook/container_state.cc
  src/container/hook/library_cache.cc)
target_include_directories(pagoda-container-hook PRIVATE ${CMAKE_SOURCE_DIR}/src)
target_compile_definitions(pagoda-container-hook PRIVATE FMT_HEADER_ONLY)
if(NOT PAGODA_SANITIZE)
  target_link_options(pagoda-container-hook PRIVATE -static LINKER:--gc-sections)
  target_compile_options(pagoda-container-hook PRIVATE -ffunction-sections -fdata-sections)
  install(TARGETS pagoda-container-hook RUNTIME DESTINATION bin)
endif()

# The program itself, and what `cmake --install` and the release tarball hold.
if(TARGET pagoda_app)
  target_compile_definitions(pagoda_app PRIVATE PAGODA_VERSION="${PROJECT_VERSION}")
  add_executable(pagoda src/app/main.cc)
  target_link_libraries(pagoda PRIVATE pagoda_app)
  target_link_options(pagoda PRIVATE -static-libstdc++ -static-libgcc)
  install(TARGETS pagoda RUNTIME DESTINATION bin)
endif()

# The program itself, and what `cmake --install` and the release tarball (target `package`) hold.
if(TARGET pagoda_app)
  target_compile_definitions(pagoda_app PRIVATE PAGODA_VERSION="${PROJECT_VERSION}")
  add_executable(pagoda src/app/main.cc)
  target_link_libraries(pagoda PRIVATE pagoda_app)
  if(NOT PAGODA_SANITIZE)
    # Nothing but glibc is needed at run time, and no newer one than 2.34 (src/app/old_glibc.cc).
    target_link_options(pagoda PRIVATE -static-libstdc++ -static-libgcc
      LINKER:--undefined=_dl_find_object LINKER:--undefined=arc4random)
  endif()
  install(TARGETS pagoda RUNTIME DESTINATION bin)
  install(FILES README.md CHANGELOG.md LICENSE NOTICE DESTINATION share/doc/pagoda)
  # The licences of what is linked in, as Debian's packages carry them.
  foreach(package libfmt-dev libspdlog-dev nlohmann-json3-dev libexpected-dev libyaml-cpp-dev libboost1.81-dev
                  libssl-dev libhyperscan-dev libarchive-dev zlib1g-dev libpcre2-dev libutf8proc-dev libstdc++-12-dev)
    if(EXISTS /usr/share/doc/${package}/copyright)
      install(FILES /usr/share/doc/${package}/copyright DESTINATION share/doc/pagoda/third-party RENAME ${package})
    endif()
  endforeach()
  install(FILES ${PAGODA_LLAMA_CPP}/LICENSE DESTINATION share/doc/pagoda/third-party RENAME llama.cpp)

  set(CPACK_GENERATOR TGZ)
  set(CPACK_PACKAGE_NAME pagoda)
  set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
  set(CPACK_SYSTEM_NAME linux-${CMAKE_SYSTEM_PROCESSOR})
  set(CPACK_STRIP_FILES ON)
  set(CPACK_PACKAGE_DIRECTORY ${CMAKE_SOURCE_DIR}/dist)
  include(CPack)
endif()

# pagoda-grpc: a program of its own for what is spoken by gRPC, so that pagoda links none of it. Debian's static archives
# are for programs only (not position-independent enough for a shared object). Without libgrpc++-dev and
# protobuf-compiler-grpc it is left out, and pagoda says so when it is asked for.
if(PAGODA_SANITIZE)  # Abseil's headers look otherwise to a sanitizer than its archives were built
  return()
endif()
find_program(PAGODA_PROTOC protoc)
find_program(PAGODA_GRPC_PLUGIN grpc_cpp_plugin)
find_library(PAGODA_GRPC NAMES libgrpc++_unsecure.a)
set(grpc_parts grpc_unsecure gpr address_sorting upb cares re2 protobuf)
set(grpc_libraries ${PAGODA_GRPC} ${PAGODA_ZLIB})
foreach(part IN LISTS grpc_parts)
  find_library(PAGODA_GRPC_${part} NAMES lib${part}.a)
  list(APPEND grpc_libraries ${PAGODA_GRPC_${part}})
endforeach()
if(NOT PAGODA_PROTOC OR NOT PAGODA_GRPC_PLUGIN OR grpc_libraries MATCHES "NOTFOUND")
  message(STATUS "pagoda-grpc is left out: no libgrpc++-dev, libprotobuf-dev, protobuf-compiler-grpc")
  return()
endif()
get_filename_component(grpc_folder ${PAGODA_GRPC} DIRECTORY)
file(GLOB abseil_libraries ${grpc_folder}/libabsl_*.a)

set(proto_folder ${CMAKE_SOURCE_DIR}/src/kubelet/proto)
set(proto_out ${CMAKE_BINARY_DIR}/kubelet_proto)
set(proto_sources "")
foreach(name IN ITEMS device_plugin pod_resources)
  set(made ${proto_out}/${name}.pb.cc ${proto_out}/${name}.grpc.pb.cc)
  add_custom_command(
    OUTPUT ${made} ${proto_out}/${name}.pb.h ${proto_out}/${name}.grpc.pb.h
    COMMAND ${CMAKE_COMMAND} -E make_directory ${proto_out}
    COMMAND ${PAGODA_PROTOC} -I ${proto_folder} --cpp_out=${proto_out} --grpc_out=${proto_out}
            --plugin=protoc-gen-grpc=${PAGODA_GRPC_PLUGIN} ${name}.proto
    DEPENDS ${proto_folder}/${name}.proto
    COMMENT "Messages of ${name}.proto")
  list(APPEND proto_sources ${made})
endforeach()
add_library(kubelet_proto STATIC ${proto_sources})
target_include_directories(kubelet_proto SYSTEM PUBLIC ${proto_out})
target_compile_options(kubelet_proto PRIVATE -w)
target_link_libraries(kubelet_proto PUBLIC
  -Wl,--start-group ${grpc_libraries} ${abseil_libraries} -Wl,--end-group Threads::Threads ${CMAKE_DL_LIBS})

file(GLOB grpc_sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/kubelet/grpc/*.cc)
add_executable(pagoda-grpc ${grpc_sources})
target_link_libraries(pagoda-grpc PRIVATE pagoda_kubelet kubelet_proto)
if(NOT PAGODA_SANITIZE)
  target_sources(pagoda-grpc PRIVATE src/app/old_glibc.cc)
  target_link_options(pagoda-grpc PRIVATE -static-libstdc++ -static-libgcc LINKER:--gc-sections)
endif()
install(TARGETS pagoda-grpc RUNTIME DESTINATION bin)
foreach(package libgrpc++-dev libprotobuf-dev libabsl-dev libre2-dev libc-ares-dev)
  if(EXISTS /usr/share/doc/${package}/copyright)
    install(FILES /usr/share/doc/${package}/copyright DESTINATION share/doc/pagoda/third-party RENAME ${package})
  endif()
endforeach()

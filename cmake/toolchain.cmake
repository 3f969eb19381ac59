# Compiler and linker settings that hold for every target.
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()

add_compile_options(-Wall -Wextra -Wshadow -Wnon-virtual-dtor -Woverloaded-virtual -Wundef)
if(PAGODA_WERROR)
  add_compile_options(-Werror)
endif()
# Kernels promise the same bytes on every instruction set: the compiler may not fuse or reorder
# floating point on its own.
add_compile_options(-ffp-contract=off -fno-math-errno)

# Only the kernels gain from -O3; everything else compiles a fifth faster without.
set(CMAKE_CXX_FLAGS_RELEASE "-O2 -DNDEBUG")

if(PAGODA_SANITIZE)
  # Undefined behaviour ends the program as a bad access does: a mere report would pass unseen. The check of
  # virtual tables opens a pipe, and takes running out of file descriptors, which a test does, for a bad object.
  add_compile_options(-fsanitize=${PAGODA_SANITIZE} -fno-sanitize=vptr -fno-sanitize-recover=all
                      -fno-omit-frame-pointer -g)
  add_link_options(-fsanitize=${PAGODA_SANITIZE})
endif()

find_program(PAGODA_CCACHE ccache)
if(PAGODA_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_C_COMPILER_LAUNCHER ${PAGODA_CCACHE})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${PAGODA_CCACHE})
endif()
find_program(PAGODA_MOLD mold)
if(PAGODA_MOLD)
  add_link_options(-fuse-ld=mold)
endif()

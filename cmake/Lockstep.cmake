# The functions with which every directory of the project builds.

include(GoogleTest)

set(LOCKSTEP_ROOT "${CMAKE_CURRENT_LIST_DIR}/..")
cmake_path(NORMAL_PATH LOCKSTEP_ROOT)

# lockstep_configure_toolchain()
# Settings shared by every target below the calling directory. Warnings are errors only when
# Lockstep is the top-level project, so that a newer compiler cannot break somebody's build.
macro(lockstep_configure_toolchain)
  if(PROJECT_IS_TOP_LEVEL AND NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
    set(CMAKE_BUILD_TYPE Release CACHE STRING "Kind of build" FORCE)
  endif()
  if(NOT DEFINED CMAKE_CXX_COMPILER_LAUNCHER)
    find_program(LOCKSTEP_CCACHE ccache)
    mark_as_advanced(LOCKSTEP_CCACHE)
    if(LOCKSTEP_CCACHE)
      set(CMAKE_C_COMPILER_LAUNCHER "${LOCKSTEP_CCACHE}")
      set(CMAKE_CXX_COMPILER_LAUNCHER "${LOCKSTEP_CCACHE}")
    endif()
  endif()

  # Joined units (CMAKE_UNITY_BUILD) share the headers and templates that neighbours use.
  if(NOT DEFINED CMAKE_UNITY_BUILD_BATCH_SIZE)
    set(CMAKE_UNITY_BUILD_BATCH_SIZE 20)
  endif()

  # The time limit of a test; a sanitizer makes programs many times slower.
  set(LOCKSTEP_TEST_SECONDS 300)
  if(LOCKSTEP_SANITIZE)
    set(LOCKSTEP_TEST_SECONDS 1800)
  endif()

  set(CMAKE_C_STANDARD 99)
  set(CMAKE_C_STANDARD_REQUIRED ON)
  set(CMAKE_C_EXTENSIONS OFF)
  set(CMAKE_CXX_STANDARD 20)
  set(CMAKE_CXX_STANDARD_REQUIRED ON)
  set(CMAKE_CXX_EXTENSIONS OFF)
  set(CMAKE_C_VISIBILITY_PRESET hidden)
  set(CMAKE_CXX_VISIBILITY_PRESET hidden)
  set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)
  set(CMAKE_POSITION_INDEPENDENT_CODE ON)
  set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/bin")

  # Messages name files relative to the tree, wherever it was built, so that a compiler cache also
  # serves a copy of the tree.
  add_compile_options($<$<COMPILE_LANGUAGE:C,CXX>:-fmacro-prefix-map=${LOCKSTEP_ROOT}=>)

  if(PROJECT_IS_TOP_LEVEL)
    set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
    set(LOCKSTEP_WARNINGS -Wall -Wextra -Werror CACHE STRING "Warnings of every unit")
    mark_as_advanced(LOCKSTEP_WARNINGS)
    add_compile_options("$<$<COMPILE_LANGUAGE:C,CXX>:${LOCKSTEP_WARNINGS}>")
    # A definition that no header declares is a mistake: callers may see a different declaration.
    add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-Wmissing-declarations>
                        $<$<COMPILE_LANGUAGE:C>:-Wmissing-prototypes>)
  endif()

  if(LOCKSTEP_SANITIZE)
    list(JOIN LOCKSTEP_SANITIZE "," lockstep_sanitizers)
    add_compile_options(-fsanitize=${lockstep_sanitizers} -fno-sanitize-recover=all
                        -fno-omit-frame-pointer)
    # With a sanitizer, g++ does not see that the standard library initializes its values.
    if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
      add_compile_options(-Wno-maybe-uninitialized)
    endif()
    add_link_options(-fsanitize=${lockstep_sanitizers})
  endif()
  if(LOCKSTEP_FUZZ)
    if(NOT CMAKE_CXX_COMPILER_ID MATCHES "Clang")
      message(FATAL_ERROR "LOCKSTEP_FUZZ needs clang (libFuzzer), not ${CMAKE_CXX_COMPILER_ID}")
    endif()
    # Instrument every library: otherwise only the target itself guides the fuzzer.
    add_compile_options(-fsanitize=fuzzer-no-link)
  endif()
endmacro()

# lockstep_find_gtest()
# Provides GTest::gtest_main. Debian has GoogleTest compiled for its own processor only; for another
# it is compiled from the source that the same package brings.
macro(lockstep_find_gtest)
  if(CMAKE_CROSSCOMPILING)
    set(BUILD_GMOCK OFF)
    set(INSTALL_GTEST OFF)
    add_subdirectory(/usr/src/googletest googletest EXCLUDE_FROM_ALL)
  else()
    find_package(GTest REQUIRED)
  endif()
endmacro()

# lockstep_find_cuda()
# Sets LOCKSTEP_CUDA_FOUND and enables the language if a toolkit can compile the CUDA backend.
# Without one, AUTO continues and ON is an error. ON compiles for every supported device; AUTO for
# one, in a third of the time, and other devices translate the code when they load it. nvcc does not
# know the flags of sanitizers and fuzzers: with them AUTO finds nothing.
macro(lockstep_find_cuda)
  set(LOCKSTEP_CUDA_FOUND OFF)
  set(lockstep_instrumented OFF)
  if(LOCKSTEP_SANITIZE OR LOCKSTEP_FUZZ)
    set(lockstep_instrumented ON)
  endif()
  if(LOCKSTEP_CUDA AND NOT (LOCKSTEP_CUDA STREQUAL "AUTO" AND lockstep_instrumented))
    include(CheckLanguage)
    check_language(CUDA)
    if(CMAKE_CUDA_COMPILER)
      if(LOCKSTEP_CUDA STREQUAL "AUTO")
        set(CMAKE_CUDA_ARCHITECTURES "75" CACHE STRING "Devices to compile for")
      else()
        set(CMAKE_CUDA_ARCHITECTURES "75-real;80-real;86-real;89-real;90"
            CACHE STRING "Devices to compile for")
      endif()
      enable_language(CUDA)
      set(CMAKE_CUDA_STANDARD 20)
      set(CMAKE_CUDA_EXTENSIONS OFF)
      # Known to CMake from 3.25.2 on.
      if(NOT CMAKE_CUDA20_STANDARD_COMPILE_OPTION)
        set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION "-std=c++20")
      endif()
      set(CMAKE_CUDA_VISIBILITY_PRESET hidden)
      if(LOCKSTEP_CCACHE AND NOT DEFINED CMAKE_CUDA_COMPILER_LAUNCHER)
        set(CMAKE_CUDA_COMPILER_LAUNCHER "${LOCKSTEP_CCACHE}")
      endif()
      set(LOCKSTEP_CUDA_FOUND ON)
    elseif(NOT LOCKSTEP_CUDA STREQUAL "AUTO")
      message(FATAL_ERROR "LOCKSTEP_CUDA is ${LOCKSTEP_CUDA}, but no CUDA compiler was found; "
                          "set CMAKE_CUDA_COMPILER or leave LOCKSTEP_CUDA=AUTO")
    endif()
  endif()
endmacro()

# lockstep_cuda_options(<target>)
# Lets devices run the specification's constexpr functions, and warnings end the build of kernels.
function(lockstep_cuda_options target)
  target_compile_options(${target} PRIVATE --expt-relaxed-constexpr)
  if(PROJECT_IS_TOP_LEVEL)
    # nvcc rewrites `T A::*m` with parentheses, about which the host's compiler warns.
    target_compile_options(${target} PRIVATE -Werror=all-warnings
      -Xcompiler=-Wall,-Wextra,-Werror,-Wno-parentheses)
  endif()
endfunction()

# lockstep_library(<name> SOURCES <file>... [LIBRARIES <target>...])
# A static library lockstep_<name> with the alias lockstep::<name>; its LIBRARIES are public.
function(lockstep_library name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;LIBRARIES")
  _lockstep_check_arguments(lockstep_library)
  add_library(lockstep_${name} STATIC ${arg_SOURCES})
  add_library(lockstep::${name} ALIAS lockstep_${name})
  set_target_properties(lockstep_${name} PROPERTIES EXPORT_NAME ${name})
  target_include_directories(lockstep_${name} PUBLIC "$<BUILD_INTERFACE:${LOCKSTEP_ROOT}>")
  target_link_libraries(lockstep_${name} PUBLIC ${arg_LIBRARIES})
endfunction()

# lockstep_refuse_narrowing(<target>...)
# For targets whose integers decide results: a conversion that can lose bits is always an error.
function(lockstep_refuse_narrowing)
  if(PROJECT_IS_TOP_LEVEL)
    foreach(target IN LISTS ARGN)
      target_compile_options(${target} PRIVATE -Werror=conversion)
    endforeach()
  endif()
endfunction()

# lockstep_backend(<name> SOURCES <file>... [LIBRARIES <target>...] [COMPONENT <component>])
# A backend as a shared library <build>/lib/lockstep/<name>.so, loaded at run time like any other.
# The target is lockstep_backend_<name>; an undefined symbol is a link error. COMPONENT is the
# package that installs it: lockstep, unless it has dependencies that the others do not need.
function(lockstep_backend name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "COMPONENT" "SOURCES;LIBRARIES")
  _lockstep_check_arguments(lockstep_backend)
  set(target lockstep_backend_${name})
  add_library(${target} MODULE ${arg_SOURCES})
  set_target_properties(${target} PROPERTIES
    PREFIX "" SUFFIX ".so" OUTPUT_NAME ${name}
    LIBRARY_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/lib/lockstep")
  target_link_libraries(${target} PRIVATE ${arg_LIBRARIES} lockstep::spec)
  target_compile_definitions(${target} PRIVATE LOCKSTEP_VERSION="${PROJECT_VERSION}")
  # clang leaves a sanitizer's symbols in a shared library to the executable that loads it.
  if(NOT LOCKSTEP_SANITIZE OR CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    target_link_options(${target} PRIVATE LINKER:--no-undefined)
  endif()
  set_property(GLOBAL APPEND PROPERTY LOCKSTEP_BACKENDS ${target})
  if(NOT arg_COMPONENT)
    set(arg_COMPONENT lockstep)
  endif()
  install(TARGETS ${target} LIBRARY DESTINATION lib/lockstep COMPONENT ${arg_COMPONENT})
endfunction()

# lockstep_c_library(<name> SOURCES <file>... LIBRARIES <target>... MAP <file> [OUTPUT <name>])
# A shared library for programs in C, <build>/lib/liblockstep_<OUTPUT>.so (default <name>), as the
# target lockstep_<name>. It exports only the symbols in the version script MAP.
function(lockstep_c_library name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "MAP;OUTPUT" "SOURCES;LIBRARIES")
  _lockstep_check_arguments(lockstep_c_library)
  set(target lockstep_${name})
  if(NOT arg_OUTPUT)
    set(arg_OUTPUT ${name})
  endif()
  cmake_path(ABSOLUTE_PATH arg_MAP)
  add_library(${target} SHARED ${arg_SOURCES})
  add_library(lockstep::${name} ALIAS ${target})
  set_target_properties(${target} PROPERTIES OUTPUT_NAME lockstep_${arg_OUTPUT}
    EXPORT_NAME ${name}
    VERSION "${PROJECT_VERSION}" SOVERSION "${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR}"
    LIBRARY_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/lib" LINK_DEPENDS "${arg_MAP}")
  target_include_directories(${target} INTERFACE "$<BUILD_INTERFACE:${LOCKSTEP_ROOT}>")
  target_link_libraries(${target} PRIVATE ${arg_LIBRARIES})
  target_link_options(${target} PRIVATE "LINKER:--version-script=${arg_MAP}")
endfunction()

# lockstep_test(<name> [APART] SOURCES <file>... [LIBRARIES <target>...] [LABEL <label>])
# A GoogleTest executable <build>/tests/<name> with one CTest test per case. The test names start
# with <name>, so that `ctest -R <name>` selects them; `ctest -L <label>` selects by kind. (One
# label only: CMake 3.25 loses the others of a discovered test.) The target tests_of_<directory>
# builds all tests of a top-level directory except those APART, which read sources and so fail for
# any mutant. Does nothing without LOCKSTEP_TESTS.
function(lockstep_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "APART" "LABEL" "SOURCES;LIBRARIES")
  _lockstep_check_arguments(lockstep_test)
  if(NOT LOCKSTEP_TESTS)
    return()
  endif()
  add_executable(${name} ${arg_SOURCES})
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/tests")
  target_include_directories(${name} PRIVATE "${LOCKSTEP_ROOT}")
  target_link_libraries(${name} PRIVATE ${arg_LIBRARIES} GTest::gtest_main)
  # Optimize tests less, as they are compiled more often than run: -Og compiles as fast as -O0. The
  # tested code keeps its options.
  target_compile_options(${name} PRIVATE $<$<CONFIG:Release>:-Og>)
  set_property(GLOBAL APPEND PROPERTY LOCKSTEP_TEST_PROGRAMS "$<TARGET_FILE:${name}>")
  set(properties TIMEOUT ${LOCKSTEP_TEST_SECONDS})
  if(arg_LABEL)
    list(APPEND properties LABELS "${arg_LABEL}")
  endif()
  cmake_path(RELATIVE_PATH CMAKE_CURRENT_SOURCE_DIR BASE_DIRECTORY "${LOCKSTEP_ROOT}"
    OUTPUT_VARIABLE room)
  string(REGEX REPLACE "/.*" "" room "${room}")
  if(NOT TARGET tests_of_${room})
    add_custom_target(tests_of_${room})
  endif()
  if(NOT arg_APART)
    add_dependencies(tests_of_${room} ${name})
  endif()
  gtest_discover_tests(${name} TEST_PREFIX "${name}." DISCOVERY_MODE PRE_TEST
    DISCOVERY_TIMEOUT 60 WORKING_DIRECTORY "${LOCKSTEP_ROOT}" PROPERTIES ${properties})
endfunction()

# lockstep_operator_units(<out_var> TEMPLATE <file>.cc.in | <file>.cu.in)
# Writes one translation unit per operator of spec/ops.h and lists them in <out_var>. In the
# template @LOCKSTEP_OP_HEADER@ is the operator's header (spec/ops/max_pool2d.h),
# @LOCKSTEP_OP_TYPE@ its type (MaxPool2d) and @LOCKSTEP_OP_NAME@ its name (max_pool2d). A unit is
# rewritten only when its text changes, so one changed header rebuilds one unit.
function(lockstep_operator_units out_var)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "TEMPLATE" "")
  if(NOT arg_TEMPLATE OR arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "lockstep_operator_units(out_var TEMPLATE file.cc.in)")
  endif()
  set(list_header "${LOCKSTEP_ROOT}/spec/ops.h")
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${list_header}")
  file(STRINGS "${list_header}" includes REGEX "^#include \"spec/ops/[a-z0-9_]+\\.h\"")
  cmake_path(GET arg_TEMPLATE FILENAME stem)
  if(NOT stem MATCHES "^(.+)\\.(cc|cu)\\.in$")
    message(FATAL_ERROR "lockstep_operator_units: ${arg_TEMPLATE} is no .cc.in and no .cu.in")
  endif()
  set(stem "${CMAKE_MATCH_1}")
  set(suffix "${CMAKE_MATCH_2}")
  set(units)
  foreach(include IN LISTS includes)
    string(REGEX MATCH "spec/ops/([a-z0-9_]+)\\.h" LOCKSTEP_OP_HEADER "${include}")
    set(LOCKSTEP_OP_NAME "${CMAKE_MATCH_1}")
    _lockstep_type_name(LOCKSTEP_OP_TYPE "${LOCKSTEP_OP_NAME}")
    set(unit "${CMAKE_CURRENT_BINARY_DIR}/units/${stem}_${LOCKSTEP_OP_NAME}.${suffix}")
    configure_file("${arg_TEMPLATE}" "${unit}" @ONLY)
    list(APPEND units "${unit}")
  endforeach()
  if(NOT units)
    message(FATAL_ERROR "spec/ops.h includes no operator (#include \"spec/ops/<name>.h\")")
  endif()
  # CMake joins no units of CUDA, and nvcc takes ten times as long to read their headers for each.
  if(suffix STREQUAL "cu" AND CMAKE_UNITY_BUILD)
    list(TRANSFORM units REPLACE "(.+)" "#include \"\\1\"\n" OUTPUT_VARIABLE includes)
    list(JOIN includes "" includes)
    set(units "${CMAKE_CURRENT_BINARY_DIR}/units/joined_${stem}.cu")
    file(CONFIGURE OUTPUT "${units}" CONTENT "${includes}" @ONLY)
  endif()
  set(${out_var} "${units}" PARENT_SCOPE)
endfunction()

# max_pool2d -> MaxPool2d
function(_lockstep_type_name out_var name)
  string(REPLACE "_" ";" words "${name}")
  set(type "")
  foreach(word IN LISTS words)
    string(SUBSTRING "${word}" 0 1 first)
    string(SUBSTRING "${word}" 1 -1 rest)
    string(TOUPPER "${first}" first)
    string(APPEND type "${first}${rest}")
  endforeach()
  set(${out_var} "${type}" PARENT_SCOPE)
endfunction()

# A misspelt keyword would otherwise silently drop sources or tests.
macro(_lockstep_check_arguments function)
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "${function}(${name}): unexpected ${arg_UNPARSED_ARGUMENTS}")
  endif()
  if(NOT arg_SOURCES)
    message(FATAL_ERROR "${function}(${name}): SOURCES is missing")
  endif()
endmacro()

# find_package(compatpack) gives compatpack::compatpack.
include(${CMAKE_CURRENT_LIST_DIR}/libraries.cmake)
include(${CMAKE_CURRENT_LIST_DIR}/compatpack-targets.cmake)

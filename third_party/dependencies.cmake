# What the build needs besides the libraries that compatpack is linked with. No foreign code lives in this folder.

include(${CMAKE_CURRENT_LIST_DIR}/libraries.cmake)

find_package(CLI11 2.1 REQUIRED)          # header only
add_library(compatpack::cli11 ALIAS CLI11::CLI11)
find_package(nlohmann_json 3.11 REQUIRED) # header only
add_library(compatpack::json ALIAS nlohmann_json::nlohmann_json)

if(COMPATPACK_TESTS)
  find_package(doctest 2.4.9 REQUIRED)    # header only
endif()

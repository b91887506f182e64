# How each dependency is found: a target compatpack::NAME for each, with the oldest version that the code
# has been run against (Debian 12's). No foreign code lives in this folder.

find_package(PkgConfig REQUIRED)
find_package(Threads REQUIRED)

function(compatpack_pkg name module version)
  pkg_check_modules(${name} REQUIRED QUIET IMPORTED_TARGET ${module}>=${version})
  add_library(compatpack::${name} ALIAS PkgConfig::${name})
  message(STATUS "${name}: ${module} ${${name}_VERSION}")
endfunction()

compatpack_pkg(archive libarchive 3.6.2)  # tar and cpio headers
compatpack_pkg(lzma liblzma 5.4.0)        # xz, with the threaded decoder of 5.4
compatpack_pkg(zstd libzstd 1.5.4)
compatpack_pkg(zlib zlib 1.2.13)
compatpack_pkg(lz4 liblz4 1.9.4)
compatpack_pkg(crypto libcrypto 3.0)      # MD5, SHA-1, SHA-256

find_package(BZip2 1.0.8 REQUIRED)        # has no pkg-config file in Debian
add_library(compatpack::bzip2 ALIAS BZip2::BZip2)

find_package(CLI11 2.1 REQUIRED)          # header only
add_library(compatpack::cli11 ALIAS CLI11::CLI11)
find_package(nlohmann_json 3.11 REQUIRED) # header only
add_library(compatpack::json ALIAS nlohmann_json::nlohmann_json)

if(COMPATPACK_TESTS)
  find_package(doctest 2.4.9 REQUIRED)    # header only
endif()

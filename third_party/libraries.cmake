# How each library that compatpack is linked with is found: a target compatpack::NAME for each, with the oldest version
# that the code has been run against (Debian 12's). It is installed too, for those who link libcompatpack.

find_package(PkgConfig REQUIRED)
find_package(Threads REQUIRED)

if(COMPATPACK_STATIC)
  set(CMAKE_FIND_LIBRARY_SUFFIXES .a)
endif()

function(compatpack_pkg name module version)
  pkg_check_modules(compatpack_${name} REQUIRED QUIET IMPORTED_TARGET ${module}>=${version})
  if(NOT TARGET compatpack::${name})
    add_library(compatpack::${name} ALIAS PkgConfig::compatpack_${name})
  endif()
endfunction()

compatpack_pkg(archive libarchive 3.6.2)  # tar and cpio headers
compatpack_pkg(lzma liblzma 5.4.0)        # xz, with the threaded decoder of 5.4
compatpack_pkg(zstd libzstd 1.5.4)
compatpack_pkg(zlib zlib 1.2.13)
compatpack_pkg(lz4 liblz4 1.9.4)
compatpack_pkg(crypto libcrypto 3.0)      # MD5, SHA-1, SHA-256

find_package(BZip2 1.0.8 REQUIRED)        # has no pkg-config file in Debian
if(NOT TARGET compatpack::bzip2)
  add_library(compatpack::bzip2 ALIAS BZip2::BZip2)
endif()

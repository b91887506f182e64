# What `cmake --install` puts where. Component `program` is for users of the command, `elsewhere` what of that Debian's
# package has in a way of its own, `library` is for those who link libcompatpack.

include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

# --- program ---

install(TARGETS compatpack RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT program)
install(FILES README.md CHANGELOG.md DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT program)
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT elsewhere)
install(DIRECTORY docs/ DESTINATION ${CMAKE_INSTALL_DOCDIR}/docs COMPONENT program)
install(DIRECTORY examples DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT program USE_SOURCE_PERMISSIONS)

# As the packages of all distributions have them: compressed, and without a time in them.
find_program(GZIP gzip REQUIRED)
file(GLOB manuals CONFIGURE_DEPENDS man/*.1)
set(compressed_manuals)
foreach(manual IN LISTS manuals)
  get_filename_component(name ${manual} NAME)
  set(compressed ${CMAKE_CURRENT_BINARY_DIR}/man/${name}.gz)
  add_custom_command(OUTPUT ${compressed} DEPENDS ${manual} VERBATIM
    COMMAND sh -c "mkdir -p man && '${GZIP}' -9n <\"$1\" >\"$2\"" gzip ${manual} ${compressed})
  list(APPEND compressed_manuals ${compressed})
endforeach()
add_custom_target(manuals DEPENDS ${compressed_manuals})
# So that a build of the program alone can be installed, and packed.
add_dependencies(compatpack manuals)
install(FILES ${compressed_manuals} DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT program)

install(FILES completions/compatpack.bash RENAME compatpack
  DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions COMPONENT program)
install(FILES completions/_compatpack
  DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions COMPONENT elsewhere)
install(FILES completions/compatpack.fish
  DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d COMPONENT program)

# --- library ---

install(TARGETS compatpack_core EXPORT compatpack
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT library
  FILE_SET HEADERS COMPONENT library)
set(cmake_package ${CMAKE_INSTALL_LIBDIR}/cmake/compatpack)
install(EXPORT compatpack NAMESPACE compatpack:: FILE compatpack-targets.cmake
  DESTINATION ${cmake_package} COMPONENT library)
# While the first number is 0, what is in the headers may change between minor versions.
write_basic_package_version_file(${CMAKE_CURRENT_BINARY_DIR}/compatpack-config-version.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES packaging/compatpack-config.cmake third_party/libraries.cmake
  ${CMAKE_CURRENT_BINARY_DIR}/compatpack-config-version.cmake
  DESTINATION ${cmake_package} COMPONENT library)

# A folder of pkg-config's own kind: relative to its file, so that an installation can be moved.
file(RELATIVE_PATH pc_prefix ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
configure_file(packaging/compatpack.pc.in compatpack.pc @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/compatpack.pc
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT library)

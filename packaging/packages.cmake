# Packages of the program, made by cpack in a build folder:
#
#   cpack -G DEB    of a build of this system: what it depends on is looked up in the libraries that it was linked with
#   cpack -G RPM    of a static build (scripts/build-static): the libraries of other distributions have other names

set(CPACK_PACKAGE_NAME compatpack)
set(CPACK_PACKAGE_VENDOR compatpack)
set(CPACK_PACKAGE_CONTACT "compatpack <compatpack@localhost>" CACHE STRING "Whoever stands behind the packages: NAME <ADDRESS>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "NVIDIA forward-compatibility libraries out of driver bundles")
set(CPACK_PACKAGE_DESCRIPTION
  "compatpack takes the user-mode libraries of a newer NVIDIA driver out of a\ndriver bundle (.run, .deb, .rpm), without root and without running anything\nin it, verifies them, and makes a tree that CUDA programs use in place of the\nlibraries of the host's older driver.")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS
  OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(CPACK_COMPONENTS_GROUPING ALL_COMPONENTS_IN_ONE)
set(CPACK_PROJECT_CONFIG_FILE ${CMAKE_CURRENT_LIST_DIR}/components.cmake)

set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_DEBIAN_PACKAGE_SECTION utils)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS gpgv)
# What Debian has of its own: the copyright file, its changelog, and its place for zsh's completions.
string(TIMESTAMP packaged_on "%a, %d %b %Y %H:%M:%S +0000" UTC)
configure_file(packaging/debian-changelog.in debian/changelog @ONLY)
add_custom_command(OUTPUT debian/changelog.Debian.gz DEPENDS ${CMAKE_CURRENT_BINARY_DIR}/debian/changelog VERBATIM
  COMMAND sh -c "'${GZIP}' -9n <debian/changelog >debian/changelog.Debian.gz")
add_custom_target(debian_changelog DEPENDS debian/changelog.Debian.gz)
add_dependencies(compatpack debian_changelog)
install(FILES packaging/copyright ${CMAKE_CURRENT_BINARY_DIR}/debian/changelog.Debian.gz
  DESTINATION share/doc/compatpack COMPONENT debian EXCLUDE_FROM_ALL)
install(FILES completions/_compatpack
  DESTINATION share/zsh/vendor-completions COMPONENT debian EXCLUDE_FROM_ALL)

set(CPACK_RPM_COMPONENT_INSTALL ON)
set(CPACK_RPM_FILE_NAME RPM-DEFAULT)
set(CPACK_RPM_PACKAGE_LICENSE Apache-2.0)
set(CPACK_RPM_PACKAGE_GROUP Applications/System)
set(CPACK_RPM_SPEC_MORE_DEFINE "%define _build_id_links none")
# Folders that are not ours.
set(CPACK_RPM_EXCLUDE_FROM_AUTO_FILELIST_ADDITION
  /usr/share/man /usr/share/man/man1 /usr/share/bash-completion /usr/share/bash-completion/completions
  /usr/share/zsh /usr/share/zsh/site-functions /usr/share/fish /usr/share/fish/vendor_completions.d)

include(CPack)

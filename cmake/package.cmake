# A Debian package: `cpack --config build/release/CPackConfig.cmake -B build/package`. What it depends on is read off the
# program. It runs on the processors that NEARFAR_BASELINE names, unless the build is native.
set(CPACK_GENERATOR DEB CACHE STRING "kinds of packages that cpack makes")
set(CPACK_PACKAGE_NAME nearfar)
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "Simulator of the memory system of machines with several GPUs")
set(CPACK_PACKAGE_CONTACT "The nearfar contributors <nearfar@localhost>")
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_STRIP_FILES ON)
include(CPack)

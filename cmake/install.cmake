# `cmake --install <build> --component cpp` gives a folder that find_package(treadle) finds: libraries, public headers and
# the tables that they read. The tables lie beside the headers, so their includes need no path of their own.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
set(config_folder ${CMAKE_INSTALL_LIBDIR}/cmake/treadle)

target_compile_features(treadle PUBLIC cxx_std_20)
set_target_properties(treadle PROPERTIES INSTALL_RPATH "$ORIGIN")
install(TARGETS treadle EXPORT treadleTargets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT cpp)
# The compiler plug-in is looked for beside libtreadle.so; nobody links it.
if(TARGET treadle_cc)
  set_target_properties(treadle_cc PROPERTIES INSTALL_RPATH_USE_LINK_PATH ON INSTALL_RPATH "$ORIGIN")
  install(TARGETS treadle_cc treadle_rt LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT cpp)
  install(DIRECTORY ${PROJECT_BINARY_DIR}/src/prelude DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT cpp)
endif()
if(TARGET treadle_ready)
  install(DIRECTORY ${PROJECT_BINARY_DIR}/src/ready DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT cpp)
endif()
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/treadle DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT cpp)
install(FILES ${PROJECT_SOURCE_DIR}/tables/dtypes.def ${PROJECT_SOURCE_DIR}/tables/ops.def
              ${PROJECT_SOURCE_DIR}/tables/reductions.def ${PROJECT_SOURCE_DIR}/tables/distributions.def
        DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/treadle COMPONENT cpp)

install(EXPORT treadleTargets NAMESPACE treadle:: DESTINATION ${config_folder} COMPONENT cpp)
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/treadleConfig.cmake.in
                              ${PROJECT_BINARY_DIR}/treadleConfig.cmake INSTALL_DESTINATION ${config_folder})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/treadleConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/treadleConfig.cmake ${PROJECT_BINARY_DIR}/treadleConfigVersion.cmake
        DESTINATION ${config_folder} COMPONENT cpp)

# What is tested where the Python package was not built.
if(DEFINED ENV{NEARFAR_TEST_EXTRAS})
  message(FATAL_ERROR "the Python package is needed and was not built: pybind11-dev or python3-dev was not installed")
endif()
message("the Python package is skipped: it needs pybind11-dev and python3-dev, which ./test extras installs")

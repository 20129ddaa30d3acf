# Whether the Python package can be built: NEARFAR_PYTHON_FOUND, and Python's headers and pybind11 as targets. It is built
# for Debian's own interpreter, for which there are pybind11, NumPy and pandas; another one may come first in PATH.
set(NEARFAR_PYTHON_FOUND OFF)
if(NEARFAR_SANITIZE)
  return()  # a module of the sanitizers would want an interpreter of theirs
endif()
set(Python3_EXECUTABLE /usr/bin/python3 CACHE FILEPATH "the interpreter that the Python package is for")
set(Python_EXECUTABLE ${Python3_EXECUTABLE})
mark_as_advanced(Python3_EXECUTABLE)
find_package(Python COMPONENTS Interpreter Development.Module QUIET)
find_package(pybind11 CONFIG QUIET)
mark_as_advanced(pybind11_DIR)
if(Python_Development.Module_FOUND AND pybind11_FOUND)
  set(NEARFAR_PYTHON_FOUND ON)
else()
  message(STATUS "Without the Python package: it needs pybind11-dev and python3-dev (./test extras installs them)")
endif()

# Writes OUTPUT, a source file, and HEADER, for plug-ins, that hold a hash of the sources which results depend on: of the paths below ROOT in
# SOURCES and of what is in them. Run at build time, so that a rebuilt model always has a version of its own.
file(STRINGS ${SOURCES} paths)
set(text "")
foreach(path ${paths})
  file(SHA256 ${ROOT}/${path} hash)
  string(APPEND text "${path} ${hash}\n")
endforeach()
string(SHA256 version "${text}")
string(SUBSTRING ${version} 0 16 version)
file(WRITE ${OUTPUT} "// Made by cmake/model_version.cmake.
#include \"study/run_key.h\"

namespace nearfar {

std::string_view model_version() { return \"${version}\"; }

}  // namespace nearfar
")
file(WRITE ${HEADER} "// Made by cmake/model_version.cmake.
#pragma once

#define NEARFAR_MODEL_VERSION \"${version}\"
")

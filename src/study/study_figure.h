// The figures of a study's file.
#pragma once

#include "config/yaml.h"
#include "study/study_file.h"

namespace nearfar {

/// Reads one figure of `study`, whose workloads and variants are known already.
StudyFigure read_figure(const YamlEntry& entry, const Study& study);

}  // namespace nearfar

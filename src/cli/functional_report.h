// The functional passes of a command: what its table, JSON and CSV are made of.
#pragma once

#include <vector>

#include "characterize/functional/functional_pass.h"
#include "study/experiment.h"

namespace nearfar {

struct FunctionalOfWorkload {
  Application application;
  FunctionalResult result;
};

struct FunctionalReport {
  Experiment experiment;
  NamedSystem machine;
  std::vector<FunctionalOfWorkload> passes;
};

}  // namespace nearfar

// What is made of many results, as JSON.
#pragma once

#include <string>
#include <vector>

#include "report/composition.h"
#include "report/measure.h"
#include "report/tuning.h"

namespace nearfar {

std::string composition_json(const Composition& composition);
std::string tuning_json(const Tuning& tuning);
std::string claims_json(const std::vector<MeasuredClaim>& claims);

}  // namespace nearfar

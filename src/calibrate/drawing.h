// Drawing of readings: a first wave that fills the space of what is open, and later ones where the facts do not rule
// readings out. The same calibration draws the same readings on any machine.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "calibrate/reading.h"

namespace nearfar {

/// The first wave: the system as it is, then a Latin hypercube. Of each range every one of `count` equal strata is
/// taken once; of a list every value is taken equally often, but for one. Of several hypercubes the one whose nearest
/// readings are farthest apart is taken. Where lists alone have no more combinations than `count`, all of them are
/// taken.
std::vector<Reading> first_wave(const Calibration& calibration, std::size_t count);

/// How implausible a reading is thought to be before it has run.
using ExpectedImplausibility = std::function<double(const Reading&)>;

/// A later wave: of many candidates that were not tried, those that are not expected to be ruled out, spread as far
/// apart as can be; where they are too few, the least implausible ones beside them.
std::vector<Reading> next_wave(const Calibration& calibration, unsigned wave, std::size_t count,
                               const std::vector<Reading>& tried, const ExpectedImplausibility& expected);

/// All combinations of the lists; nothing where there are ranges, or more than `most`.
std::vector<Reading> all_combinations(const Calibration& calibration, std::size_t most);

}  // namespace nearfar

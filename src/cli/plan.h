// What a command that makes many runs would do: each run, whether it is in the store, and about how long it takes.
#pragma once

#include "study/runner.h"

namespace nearfar {

void show_plan(const Planned& planned, const ResultStore& store);

}  // namespace nearfar

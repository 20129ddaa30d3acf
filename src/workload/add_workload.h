// Workloads from elsewhere.
#pragma once

#include "workload/catalog/entries.h"

namespace nearfar {

/// Adds a workload to the catalogue, before anything has been looked up in it; an InputError where its name is taken.
void add_workload(const CatalogEntry& entry);

}  // namespace nearfar

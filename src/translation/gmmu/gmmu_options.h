// What a GMMU is made from.
#pragma once

#include "sim/types.h"
#include "translation/page.h"
#include "translation/translation_spec.h"

namespace nearfar {

struct GmmuOptions {
  DeviceId host;
  GmmuSpec gmmu;
  WalkSpec walk;
  PageTableSpec table;
  PageSize size;
  InvalidateHow how = InvalidateHow::Walk;
  Cycle shootdown = 10;
  Cycle before_transfer = 0;
  bool ideal_migration = false;  ///< an invalidation takes no time and is not acknowledged
  MigrationWaits waits = MigrationWaits::Translated;

  /// Pages leave although accesses by way of old mappings are under way.
  bool leaves_accesses() const { return ideal_migration || waits == MigrationWaits::None; }
};

}  // namespace nearfar

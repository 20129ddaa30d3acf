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
  Cycle setup = 0;
  bool ideal_migration = false;  ///< an invalidation takes no time and is not acknowledged
};

}  // namespace nearfar

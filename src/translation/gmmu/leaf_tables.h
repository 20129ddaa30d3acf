// The seam "leaf tables": where the lowest level of the page tables lies. In the baseline each GPU's local table has
// all of it. Whoever keeps the entry of a page elsewhere hears of the walks that would have read it and of the mappings
// that would have been written; the local table's entry then only records which mapping this GPU has been given, for
// the invalidations of its TLBs.
#pragma once

#include "translation/message.h"
#include "translation/miss.h"
#include "translation/walk/walk.h"

namespace nearfar {

class LeafTables {
 public:
  virtual ~LeafTables() = default;

  /// Whether the entry of a page is kept there, and not in the local table.
  virtual bool keeps(PageKey page) const = 0;
  /// Of such a page: whether this GPU has the entry now, so that a walk for a miss reads it. Else the walk ends above
  /// the leaf.
  virtual bool is_here(PageKey page) const = 0;
  /// A walk for a miss of such a page has ended: Gmmu::give(), Gmmu::fault() or a request to another device follows.
  virtual void walked(const Walk& walk, Miss& miss) = 0;
  /// A mapping of such a page is to be written, for the miss that it answers, if any.
  virtual void mapping_came(const Message& message, Miss* miss) = 0;
};

}  // namespace nearfar

// The GPU around its GMMU: what the migration of a page asks of its caches.
#pragma once

#include "translation/page.h"

namespace nearfar {

/// The GPU around a GMMU: its caches.
class PageCaches {
 public:
  virtual ~PageCaches() = default;
  /// A mapping of `page` to `frame` is void: the L1 TLBs forget it.
  virtual void forget(PageKey page, PhysPage frame) = 0;
  /// Accesses that have the translation and have not left their compute units give it up: they are translated again.
  virtual void translate_again(PageKey page, PhysPage frame) = 0;
  /// No access to a page by way of an old mapping is left: the L1s forget its lines.
  virtual void drop_copies(PhysPage page) = 0;
  /// The same where accesses by way of a newer mapping to the frame may be there too.
  virtual void drop_lines(PhysPage page) = 0;
  /// Whether no line of a page of this GPU's memory is still on its way from there.
  virtual bool can_write_back(PhysPage page) = 0;
  /// A page of this GPU's memory is copied elsewhere: what the L2 has of it goes to memory, and is dropped if the page
  /// `moves`.
  virtual void write_back(PhysPage page, bool moves) = 0;
  /// The contents of a page have come.
  virtual void page_came(PhysPage from, PhysPage to) = 0;
  /// A frame of this GPU's memory has new contents: what the L2 still has of the old ones is dropped.
  virtual void frame_reused(PhysPage page) = 0;
};

}  // namespace nearfar

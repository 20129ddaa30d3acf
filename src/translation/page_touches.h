// Which pages of an application a GPU has touched, and how often. Kept only where a run is observed.
#pragma once

#include <cstdint>
#include <vector>

#include "translation/page.h"

namespace nearfar {

class PageTouches {
 public:
  struct Page {
    std::uint64_t reads = 0;
    std::uint64_t writes = 0;
  };

  /// Starts to note the pages of an application whose first page is `first`.
  void start(std::uint64_t first, std::uint64_t pages) {
    first_ = first;
    if (pages_.size() < pages) pages_.resize(pages);
  }
  void note(std::uint64_t number, std::uint64_t lines, bool write) {
    Page& page = pages_[number - first_];
    (write ? page.writes : page.reads) += lines;
  }
  const std::vector<Page>& pages() const { return pages_; }
  /// The number of the first of them.
  std::uint64_t first() const { return first_; }

 private:
  std::uint64_t first_ = 0;
  std::vector<Page> pages_;
};

}  // namespace nearfar

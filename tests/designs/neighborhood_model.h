// A plain model of walkers with neighborhood coalescing: nothing is kept that can be worked out anew, cycle by cycle.
#pragma once

#include <algorithm>
#include <array>
#include <functional>
#include <list>
#include <tuple>
#include <vector>

#include "sim/types.h"
#include "translation/walk/page_table.h"

namespace nearfar {

class PlainCoalescer {
 public:
  struct Request {
    std::uint64_t page;
    Cycle when;
  };
  struct Answer {
    std::uint64_t page;
    Cycle when;
    bool fault;
    auto operator<=>(const Answer&) const = default;
  };

  PlainCoalescer(bool leaf_only, unsigned walkers, unsigned queue, const PageTable& table,
                 std::function<Cycle(PhysLine)> latency)
      : leaf_only_(leaf_only), queue_(queue), table_(table), latency_(std::move(latency)), walkers_(walkers) {}

  /// `requests` by time.
  void run(const std::vector<Request>& requests) {
    std::size_t next = 0;
    for (now_ = 0; next < requests.size() || !outside_.empty() || !entries_.empty() || busy(); ++now_) {
      complete();
      for (; next < requests.size() && requests[next].when == now_; ++next) outside_.push_back(requests[next].page);
      do {
        while (!outside_.empty() && entries_.size() < queue_) {
          entries_.push_back({outside_.front(), 0, now_});
          outside_.pop_front();
        }
      } while (select());
    }
  }

  std::vector<Answer> answers;
  std::array<std::uint64_t, 5> reads{};
  std::uint64_t full = 0;
  std::uint64_t started = 0;
  std::uint64_t lookups = 0;
  std::array<std::uint64_t, 4> part{};

 private:
  struct Entry {
    std::uint64_t page;
    unsigned known;
    Cycle entered;
  };
  struct Walker {
    bool busy = false;
    std::uint64_t page = 0;
    unsigned level = 0;
    Cycle until = 0;
    std::uint64_t sequence = 0;
  };

  static std::uint64_t neighborhood(unsigned level, std::uint64_t page) { return page >> (3 + 9 * (level - 1)); }
  bool busy() const { return std::ranges::any_of(walkers_, &Walker::busy); }
  bool waits(const Entry& e) const {
    return std::ranges::any_of(walkers_, [&](const Walker& w) {
      return w.busy && (!leaf_only_ || w.level == 1) && w.level <= (e.known == 0 ? 4 : e.known - 1) &&
             neighborhood(w.level, w.page) == neighborhood(w.level, e.page);
    });
  }
  void read(Walker& w) {
    ++reads[w.level - 1];
    w.until = now_ + latency_(table_.line(w.level, w.page));
    w.sequence = sequence_++;
  }
  bool fault_at(unsigned level, std::uint64_t page) const {
    return level == 1 ? !table_.read(page).valid() : !table_.present(level, page);
  }

  void complete() {
    for (;;) {
      Walker* first = nullptr;
      for (Walker& w : walkers_) {
        if (w.busy && w.until == now_ && (first == nullptr || w.sequence < first->sequence)) first = &w;
      }
      if (first == nullptr) return;
      line(*first);
    }
  }
  void line(Walker& w) {
    const unsigned level = w.level;
    const std::uint64_t page = w.page;
    if (level == 1 || fault_at(level, page)) {
      answers.push_back({page, now_, fault_at(level, page)});
      w.busy = false;
    } else {
      fill(level, page);
      --w.level;
      read(w);
    }
    if (leaf_only_ && level != 1) return;
    for (auto e = entries_.begin(); e != entries_.end();) {
      const unsigned next = e->known == 0 ? 4 : e->known - 1;
      const bool takes =
          e->entered != now_ && neighborhood(level, e->page) == neighborhood(level, page) && level <= next;
      if (takes && (level == 1 || fault_at(level, e->page))) {
        answers.push_back({e->page, now_, fault_at(level, e->page)});
        ++full;
        e = entries_.erase(e);
        continue;
      }
      if (takes) e->known = level;
      ++e;
    }
  }

  bool select() {
    const auto w = std::ranges::find(walkers_, false, &Walker::busy);
    const auto e = std::ranges::find_if(entries_, [&](const Entry& entry) { return !waits(entry); });
    if (w == walkers_.end() || e == entries_.end()) return false;
    ++started;
    unsigned known = e->known;
    if (known != 0) ++part[known - 2];
    if (known != 2) {
      ++lookups;
      const unsigned hit = look_up(e->page, known == 0 ? 4 : known - 1);
      if (hit != 0) {
        known = hit;
      } else if (known != 0) {
        fill(known, e->page);
      }
    } else {
      fill(2, e->page);
    }
    *w = {true, e->page, known == 0 ? 4 : known - 1, 0, 0};
    entries_.erase(e);
    read(*w);
    return true;
  }

  // Page-walk caches of 32, 4 and 2 entries, most recent first.
  void fill(unsigned level, std::uint64_t page) {
    constexpr std::array<std::size_t, 3> kSizes = {32, 4, 2};
    auto& cache = caches_[level - 2];
    cache.remove(page >> 9 * (level - 1));
    cache.push_front(page >> 9 * (level - 1));
    if (cache.size() > kSizes[level - 2]) cache.pop_back();
  }
  unsigned look_up(std::uint64_t page, unsigned top) {
    for (unsigned level = 2; level <= top; ++level) {
      if (std::ranges::find(caches_[level - 2], page >> 9 * (level - 1)) == caches_[level - 2].end()) continue;
      fill(level, page);
      return level;
    }
    return 0;
  }

  bool leaf_only_;
  std::size_t queue_;
  const PageTable& table_;
  std::function<Cycle(PhysLine)> latency_;
  std::vector<Walker> walkers_;
  std::list<Entry> entries_;
  std::list<std::uint64_t> outside_;
  std::array<std::list<std::uint64_t>, 3> caches_;
  Cycle now_ = 0;
  std::uint64_t sequence_ = 0;
};

}  // namespace nearfar

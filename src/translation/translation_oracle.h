// The translation oracle of --check: which mappings each GPU may use.
//
// A GPU may use a mapping from the moment its local table has it until the GPU has acknowledged its invalidation. The
// host, before a page's data leaves its old place, asks whether all old mappings are gone. One object for the machine,
// which any thread may ask: every question is asked by the device whose own past decides the answer, or a link's
// latency after it.
#pragma once

#include <boost/unordered/unordered_flat_map.hpp>
#include <cstdint>
#include <mutex>

#include "sim/types.h"
#include "translation/page.h"

namespace nearfar {

class TranslationOracle {
 public:
  /// In place of a GPU: a mapping in a table that all of them read.
  static constexpr DeviceId kEveryGpu{0xffff};

  /// A mapping has been written into a GPU's table.
  void granted(DeviceId gpu, PageKey page, const Mapping& mapping);
  /// A GPU has acknowledged an invalidation of epoch `epoch`.
  void revoked(DeviceId gpu, PageKey page, Epoch epoch);
  /// A GPU's mapping has become read-only.
  void downgraded(DeviceId gpu, PageKey page);
  /// A compute unit uses a mapping for an access.
  void used(DeviceId gpu, PageKey page, const Mapping& mapping, bool write) const;
  /// A page's data is about to leave, or a GPU is about to become its only writer: nobody but `except` may hold an old
  /// mapping.
  void about_to_move(PageKey page, unsigned gpus, DeviceId except) const;

 private:
  struct Grant {
    PhysPage page;
    Epoch epoch = 0;
    bool held = false;
    bool writable = false;
  };
  struct Holder {
    std::uint64_t page;
    std::uint16_t gpu;
    bool operator==(const Holder&) const = default;
  };
  struct Hash {
    std::size_t operator()(const Holder& key) const { return (key.page * 131 + key.gpu) * 0x9e3779b97f4a7c15ULL >> 7; }
  };

  mutable std::mutex mutex_;
  boost::unordered_flat_map<Holder, Grant, Hash> grants_;
};

}  // namespace nearfar

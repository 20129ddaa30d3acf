// What an egress design does with stores to one peer: which it holds back, and what leaves when. No time, no links: the
// egress (egress.h) asks, and sends what comes out.
#pragma once

#include "interconnect/store_batch.h"

namespace nearfar {

/// Hears what becomes of stores: the data oracle follows each of them.
class StoreWatch {
 public:
  virtual ~StoreWatch() = default;
  /// `added` has joined `into`: they will be written as one, `added` behind it.
  virtual void merged(PhysLine line, std::uint32_t into, std::uint32_t added) = 0;
  /// Some bytes of a store leave apart from the others; the record of these.
  virtual std::uint32_t cut(PhysLine line, std::uint32_t record, const ByteMask& piece) = 0;
};

class StoreQueue {
 public:
  virtual ~StoreQueue() = default;

  /// A store comes; what has to leave for it, or with it, is added to `out`.
  virtual void store(const LineStore& store, StoreBatches& out) = 0;
  /// A load, or an atomic, is about to leave for the same peer. True: the other peers' queues are to be flushed too.
  virtual bool before_load(PhysLine line, StoreBatches& out) = 0;
  virtual void before_atomic(PhysLine line, StoreBatches& out) = 0;
  /// All that is held leaves.
  virtual void flush(FlushCause cause, StoreBatches& out) = 0;
  virtual bool empty() const = 0;

  void set_watch(StoreWatch* watch) { watch_ = watch; }

 protected:
  void note_merge(PhysLine line, std::uint32_t into, std::uint32_t added) {
    if (watch_ != nullptr) watch_->merged(line, into, added);
  }
  std::uint32_t cut(PhysLine line, std::uint32_t record, const ByteMask& piece) {
    return watch_ == nullptr ? 0 : watch_->cut(line, record, piece);
  }

 private:
  StoreWatch* watch_ = nullptr;
};

}  // namespace nearfar

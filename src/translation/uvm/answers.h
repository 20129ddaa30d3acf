// The last step of a fault's answer: a message to a GPU, or a page from the host's own memory. Each begins when it is
// ready, or with all others of its batch (`uvm.replay`).
#pragma once

#include <cstdint>
#include <vector>

#include "sim/partition.h"
#include "translation/message.h"
#include "translation/uvm/host_tables.h"

namespace nearfar {

/// To a GPU, or, as Data, from the host's own memory.
struct Outgoing {
  DeviceId to;
  Message message;
};

class AnswerSender {
 public:
  static constexpr std::uint32_t kNoBatch = ~std::uint32_t{0};

  AnswerSender(Partition& partition, const UvmOptions& options, HostTables& tables, Messenger& messenger)
      : partition_(partition),
        host_(options.host),
        before_transfer_(options.migration.before_transfer()),
        tables_(tables),
        messenger_(messenger),
        transfer_handler_(partition.add_handler<&AnswerSender::on_transfer>(this)) {}

  /// A batch that stays open until as many holds have been released as it has: one from the start.
  std::uint32_t open_batch();
  void hold(std::uint32_t batch) {
    if (batch != kNoBatch) ++batches_[batch].open;
  }
  void release(std::uint32_t batch);
  /// An answer is ready: it goes, or waits for its batch.
  void hand_out(std::uint32_t batch, const Outgoing& outgoing);

 private:
  struct Batch {
    std::uint32_t open = 0;  ///< not ready
    std::vector<Outgoing> ready;
  };

  void dispatch(const Outgoing& outgoing);
  void on_transfer(TranslationPacket* waiting);

  Partition& partition_;
  DeviceId host_;
  Cycle before_transfer_;
  HostTables& tables_;
  Messenger& messenger_;
  std::vector<Batch> batches_;
  std::vector<std::uint32_t> free_;
  HandlerId transfer_handler_;
};

}  // namespace nearfar

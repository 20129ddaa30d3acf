#include "translation/uvm/answers.h"

namespace nearfar {

std::uint32_t AnswerSender::open_batch() {
  if (free_.empty()) {
    free_.push_back(static_cast<std::uint32_t>(batches_.size()));
    batches_.emplace_back();
  }
  const std::uint32_t batch = free_.back();
  free_.pop_back();
  batches_[batch].open = 1;
  return batch;
}

void AnswerSender::release(std::uint32_t batch) {
  if (batch == kNoBatch || --batches_[batch].open != 0) return;
  for (const Outgoing& outgoing : batches_[batch].ready) dispatch(outgoing);
  batches_[batch].ready.clear();
  free_.push_back(batch);
}

void AnswerSender::hand_out(std::uint32_t batch, const Outgoing& outgoing) {
  if (batch == kNoBatch) {
    dispatch(outgoing);
  } else {
    batches_[batch].ready.push_back(outgoing);
  }
}

void AnswerSender::dispatch(const Outgoing& outgoing) {
  if (outgoing.message.kind != MessageKind::Data) {
    messenger_.send(outgoing.to, outgoing.message);
    return;
  }
  auto* waiting = partition_.pool().allocate<TranslationPacket>();
  outgoing.message.put(*waiting);
  partition_.schedule(waiting, transfer_handler_, partition_.now() + before_transfer_);
}

void AnswerSender::on_transfer(TranslationPacket* waiting) {
  const Message message = Message::get(*waiting);
  const PhysPage old{host_, message.stamp};
  if (!tables_.can_write_back(old)) {
    // A store that has been ordered still waits for the rest of its line.
    partition_.schedule(waiting, transfer_handler_, partition_.now() + kTransferRetry);
    return;
  }
  partition_.pool().release(waiting);
  tables_.write_back(old);
  messenger_.send(message.to, message);
}

}  // namespace nearfar

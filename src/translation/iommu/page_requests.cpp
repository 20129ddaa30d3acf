#include "translation/iommu/page_requests.h"

namespace nearfar {

PageRequests::PageRequests(Partition& partition, const UvmOptions& options, FrameAllocator& frames, Iommu& iommu,
                           Messenger& messenger, HostCaches& caches, TranslationOracle* oracle)
    : partition_(partition),
      size_(options.size),
      iommu_(iommu),
      caches_(caches),
      oracle_(oracle),
      driver_(partition, options, frames, *this, messenger, iommu.parts(), oracle) {}

void PageRequests::on_message(const Message& message) {
  if (message.kind != MessageKind::Fault) {
    driver_.on_message(message);
    return;
  }
  Fault* request = requests_.allocate();
  const Cycle now = partition_.now();
  *request = Fault{};
  request->page = message.page;
  request->gpu = message.from;
  request->write = message.write;
  request->time.stamp = now - (static_cast<std::uint32_t>(now) - message.stamp);
  driver_.charge(*request, LatencyComponent::LinkToHost);
  driver_.take(request);
}

/// Nothing to forget: a page that moves has never been mapped.
void PageRequests::forget(PageKey) {}

void PageRequests::publish(PageKey page, const Mapping& mapping) {
  iommu_.host_table(page.pid()).write(page.number(), Pte::leaf(mapping, size_.bits != 0));
  if (oracle_ != nullptr) oracle_->granted(TranslationOracle::kEveryGpu, page, mapping);
}

}  // namespace nearfar

#include "program/kernel_arguments.h"

#include <utility>

namespace nearfar {

WithKernelArguments::WithKernelArguments(std::shared_ptr<const Workload> program, unsigned gpus,
                                         std::uint64_t page_bytes, std::uint32_t bytes)
    : program_(std::move(program)), gpus_(gpus), page_bytes_(page_bytes), bytes_(bytes) {
  for (const Buffer& buffer : program_->buffers()) add_buffer(buffer);
  for (const Step& step : program_->steps()) {
    if (const auto* launch = std::get_if<LaunchStep>(&step)) {
      add_launch(program_->launches()[launch->launch]);
    } else {
      add_step(step);
    }
  }
  const Buffer& last = buffers().back();
  first_ = VirtAddr{(last.base.value + last.bytes + page_bytes - 1) / page_bytes * page_bytes};
  add_buffer({.name = "kernel arguments",
              .base = first_,
              .bytes = 2 * launches().size() * gpus * page_bytes,
              .placement = Placement::Private,
              .kernels = kOnlyRead});
  homes_.assign(program_->page_homes().begin(), program_->page_homes().end());
  for (std::uint64_t row = 0; row < 2 * launches().size(); ++row) {
    for (unsigned gpu = 0; gpu < gpus; ++gpu) {
      homes_.push_back({page_of(page(row, gpu)), page_bytes / kPageBytes, static_cast<std::uint16_t>(gpu)});
    }
  }
}

KernelArguments WithKernelArguments::arguments(std::size_t launch, unsigned gpu) const {
  return {page(2 * launch, gpu), page(2 * launch + 1, gpu), bytes_};
}

}  // namespace nearfar

#include "trace/assembler.h"

#include <fmt/format.h>

#include "config/error.h"
#include "trace/stream_code.h"

namespace nearfar {

TraceAssembler::TraceAssembler(TraceSink& sink, const TraceHeader& header, std::vector<Buffer> buffers,
                               std::vector<PageHome> homes)
    : header_(header),
      program_{std::move(buffers), std::move(homes), {}, {}, 0, std::nullopt},
      buffers_(program_.buffers),
      writer_(sink, header),
      counter_(header) {}

void TraceAssembler::add_step(const Step& step) {
  end_launch();
  program_.steps.push_back(step);
}

void TraceAssembler::begin_launch(Launch launch) {
  end_launch();
  program_.steps.push_back(LaunchStep{program_.launches.size()});
  program_.launches.push_back(std::move(launch));
  in_launch_ = true;
}

void TraceAssembler::add_stream(std::uint64_t group, std::uint32_t wave, ByteVector stream) {
  try {
    check_stream(stream, header_.lanes, buffers_);
  } catch (const MalformedBytes& malformed) {
    throw InputError(fmt::format("wavefront {} of workgroup {} of kernel '{}': {}.", wave, group, launch().kernel,
                                 malformed.what()));
  }
  streams_[{group, wave}] = std::move(stream);
}

void TraceAssembler::end_launch() {
  if (!in_launch_) return;
  in_launch_ = false;
  const std::uint32_t waves = launch().waves(header_.lanes);
  for (std::uint64_t group = 0; group < launch().groups(); ++group) {
    for (std::uint32_t wave = 0; wave < waves; ++wave) {
      const auto found = streams_.find({group, wave});
      if (found != streams_.end()) counter_.add(found->second);
      writer_.add(found == streams_.end() ? ByteVector{} : found->second);
    }
  }
  streams_.clear();
}

void TraceAssembler::finish() {
  end_launch();
  writer_.finish(program_, counter_.counts());
}

}  // namespace nearfar

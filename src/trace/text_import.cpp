#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <istream>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "config/error.h"
#include "config/nearest.h"
#include "trace/assembler.h"
#include "trace/stream_code.h"
#include "trace/text_form.h"

namespace nearfar {
namespace {

constexpr std::size_t kLongestLine = std::size_t{1} << 20;
constexpr std::uint64_t kMostTextWavefronts = std::uint64_t{1} << 22;

/// One word of a line, and the column at which it begins.
struct Word {
  std::string text;
  std::size_t column = 0;
  bool quoted = false;
};

/// Reads line after line; every complaint has a place.
class TextImporter {
 public:
  TextImporter(std::istream& text, std::string name, TraceSink& out, const TraceLimits& limits)
      : in_(text), name_(std::move(name)), out_(out), limits_(limits) {
    limits_.wavefronts = std::min(limits_.wavefronts, kMostTextWavefronts);
  }

  void run() {
    while (read_line()) {
      if (!words_.empty()) take_line();
    }
    number_ += 1;
    words_.clear();
    if (!began_) fail("`nearfar-trace 1` was expected in the first line");
    need_assembler();
    end_wave();
    end_launch();
    assembler_->finish();
  }

 private:
  using Handler = void (TextImporter::*)();
  struct Command {
    std::string_view word;
    Handler handler;
  };

  [[noreturn]] void fail_at(std::size_t column, const std::string& what) const {
    throw InputError(fmt::format("{}:{}:{}: {}.", name_, number_, column, what));
  }
  [[noreturn]] void fail(const std::string& what) const { fail_at(words_.empty() ? 1 : words_.front().column, what); }

  // --- words

  bool read_line() {
    std::string line;
    if (!std::getline(in_, line)) return false;
    ++number_;
    words_.clear();
    next_ = 1;
    if (line.size() > kLongestLine) fail(fmt::format("the line is longer than {} characters", kLongestLine));
    for (std::size_t at = 0; at < line.size();) {
      if (line[at] == ' ' || line[at] == '\t' || line[at] == '\r') {
        ++at;
      } else if (line[at] == '#') {
        break;
      } else if (line[at] == '"') {
        at = read_quoted(line, at);
      } else {
        const std::size_t end = std::min(line.find_first_of(" \t\r", at), line.size());
        words_.push_back({line.substr(at, end - at), at + 1});
        at = end;
      }
    }
    return true;
  }

  std::size_t read_quoted(const std::string& line, std::size_t begin) {
    Word word{"", begin + 1, true};
    for (std::size_t at = begin + 1; at < line.size(); ++at) {
      if (line[at] == '"') {
        words_.push_back(word);
        return at + 1;
      }
      if (line[at] != '\\') {
        word.text += line[at];
      } else if (at + 1 < line.size() && line[at + 1] != 'x') {
        word.text += line[++at];
      } else {
        unsigned code = 0;
        const char* digits = line.data() + std::min(at + 2, line.size());
        const char* stop = line.data() + std::min(at + 4, line.size());
        if (const auto [end, error] = std::from_chars(digits, stop, code, 16); error != std::errc{} || end != stop) {
          fail_at(at + 1, "two hexadecimal digits were expected after `\\x`");
        }
        word.text += static_cast<char>(code);
        at += 3;
      }
    }
    fail_at(begin + 1, "the text in quotes has no end");
  }

  bool more() const { return next_ < words_.size(); }
  const Word& word(const char* what) {
    if (!more()) fail_at(words_.back().column + words_.back().text.size(), fmt::format("{} is missing", what));
    return words_[next_++];
  }
  std::optional<std::uint64_t> as_number(std::string_view text) const {
    const bool hexadecimal = text.starts_with("0x");
    if (hexadecimal) text.remove_prefix(2);
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, hexadecimal ? 16 : 10);
    if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
    return value;
  }
  std::uint64_t number(const char* what, std::uint64_t minimum, std::uint64_t maximum) {
    const Word& text = word(what);
    const auto value = as_number(text.text);
    if (!value || *value < minimum || *value > maximum) {
      fail_at(text.column,
              fmt::format("{} must be a whole number from {} to {}; `{}` is not", what, minimum, maximum, text.text));
    }
    return *value;
  }
  std::uint64_t number_or(const char* what, std::uint64_t otherwise, std::uint64_t minimum, std::uint64_t maximum) {
    return more() ? number(what, minimum, maximum) : otherwise;
  }
  std::uint64_t signed_number(const char* what) {
    const Word& text = word(what);
    const bool negative = text.text.starts_with("-");
    const auto value = as_number(std::string_view(text.text).substr(negative ? 1 : 0));
    if (!value) fail_at(text.column, fmt::format("{} must be a whole number; `{}` is not", what, text.text));
    return negative ? std::uint64_t{0} - *value : *value;
  }
  /// A number, or "buffer" or "buffer+offset".
  std::uint64_t address() {
    const Word& text = word("an address");
    if (const auto value = as_number(text.text); value && *value < kTraceAddresses) return *value;
    const std::size_t plus = text.text.rfind('+');
    const std::string name = text.text.substr(0, plus);
    const auto buffer = std::ranges::find(buffers_, name, &Buffer::name);
    const auto offset = plus == std::string::npos ? 0 : as_number(std::string_view(text.text).substr(plus + 1));
    if (buffer == buffers_.end() || !offset || *offset > buffer->bytes) {
      fail_at(text.column,
              fmt::format("`{}` is no address, nor a buffer that is there, as in `A` or `A+64`", text.text));
    }
    return buffer->base.value + *offset;
  }
  template <std::size_t N>
  std::size_t one_of(const char* what, const std::array<const char*, N>& choices) {
    const Word& text = word(what);
    const auto found = std::ranges::find(choices, text.text);
    if (found == choices.end()) {
      const std::vector<std::string> names(choices.begin(), choices.end());
      fail_at(text.column, fmt::format("{} is one of {}, not `{}`", what, fmt::join(names, ", "), text.text));
    }
    return static_cast<std::size_t>(found - choices.begin());
  }
  void end_of_line() {
    if (more()) fail_at(words_[next_].column, fmt::format("`{}` is one word too many", words_[next_].text));
  }

  // --- lines

  void take_line() {
    const std::string& first = words_.front().text;
    if (!began_) {
      if (first != "nearfar-trace") fail("`nearfar-trace 1` was expected in the first line");
      if (number("the version", 0, 0xffff'ffff) != kTraceVersion) {
        fail_at(words_[1].column, fmt::format("this program reads version {} of traces", kTraceVersion));
      }
      began_ = true;
      return end_of_line();
    }
    static constexpr std::array kCommands{Command{"source", &TextImporter::take_source},
                                          Command{"lanes", &TextImporter::take_lanes},
                                          Command{"line", &TextImporter::take_line_size},
                                          Command{"page", &TextImporter::take_page},
                                          Command{"seed", &TextImporter::take_seed},
                                          Command{"times", &TextImporter::take_times},
                                          Command{"parameter", &TextImporter::take_parameter},
                                          Command{"gpus", &TextImporter::take_gpus},
                                          Command{"collective", &TextImporter::take_collective},
                                          Command{"buffer", &TextImporter::take_buffer},
                                          Command{"home", &TextImporter::take_home},
                                          Command{"copy", &TextImporter::take_copy},
                                          Command{"host", &TextImporter::take_host},
                                          Command{"host-read", &TextImporter::take_host_read},
                                          Command{"host-write", &TextImporter::take_host_write},
                                          Command{"sync", &TextImporter::take_sync},
                                          Command{"launch", &TextImporter::take_launch},
                                          Command{"place", &TextImporter::take_place},
                                          Command{"wave", &TextImporter::take_wave},
                                          Command{"valu", &TextImporter::take_counted},
                                          Command{"salu", &TextImporter::take_counted},
                                          Command{"local", &TextImporter::take_counted},
                                          Command{"wait", &TextImporter::take_counted},
                                          Command{"barrier", &TextImporter::take_barrier},
                                          Command{"fence", &TextImporter::take_fence},
                                          Command{"sload", &TextImporter::take_scalar_load},
                                          Command{"load", &TextImporter::take_memory},
                                          Command{"store", &TextImporter::take_memory},
                                          Command{"atomic", &TextImporter::take_memory},
                                          Command{"time", &TextImporter::take_time}};
    const auto found = std::ranges::find(kCommands, first, &Command::word);
    if (found == kCommands.end()) {
      std::vector<std::string> names;
      for (const Command& command : kCommands) names.emplace_back(command.word);
      fail(fmt::format("`{}` begins no line of a trace{}", first, guess(first, names)));
    }
    (this->*found->handler)();
    end_of_line();
  }

  static std::string guess(const std::string& word, const std::vector<std::string>& names) {
    std::string text = did_you_mean(word, names);
    if (!text.empty() && text.back() == '.') text.pop_back();
    return text.empty() ? "" : ";" + text;
  }

  void need_header() const {
    if (assembler_) fail("this belongs before the first step");
  }
  void take_source() { need_header(), header_.source = word("the source").text; }
  void take_lanes() {
    need_header();
    header_.lanes = static_cast<std::uint32_t>(number("the number of lanes", 32, 64));
    if (header_.lanes != 32 && header_.lanes != 64) fail("a wavefront has 32 or 64 lanes");
  }
  std::uint64_t power_of_two(const char* what, std::uint64_t most) {
    need_header();
    const std::uint64_t value = number(what, 1, most);
    if (!std::has_single_bit(value)) fail(fmt::format("{} must be a power of two", what));
    return value;
  }
  void take_line_size() { header_.line = static_cast<std::uint32_t>(power_of_two("the size of a line", 4096)); }
  void take_page() { header_.page = power_of_two("the size of a page", std::uint64_t{1} << 40); }
  void take_seed() { need_header(), header_.seed = number("the seed", 0, ~std::uint64_t{0}); }
  void take_times() { need_header(), header_.times = true; }
  void take_parameter() {
    need_header();
    const std::string parameter = word("the name of a parameter").text;
    header_.parameters.emplace_back(parameter, word("the value of a parameter").text);
  }
  void take_gpus() { need_header(), gpus_ = number("the number of GPUs", 1, kMaxGpus); }
  void take_collective() {
    need_header();
    CollectiveWork work;
    work.bytes = number("the bytes of the operation", 0, ~std::uint64_t{0});
    const Word& factor = word("the factor of bus bandwidth");
    const char* end = factor.text.data() + factor.text.size();
    if (std::from_chars(factor.text.data(), end, work.bus_factor).ptr != end) {
      fail_at(factor.column, fmt::format("`{}` is no number", factor.text));
    }
    collective_ = work;
  }
  /// What kernels do with a buffer.
  KernelUse use(std::uint64_t most) {
    const Word& letters = word("what kernels do with the buffer");
    if (letters.text != "-" && letters.text.find_first_not_of("rwo") != std::string::npos) {
      fail_at(letters.column, "letters of `rwo` (reads, writes, overwrites) or `-` were expected");
    }
    const auto has = [&](char letter) { return letters.text.find(letter) != std::string::npos; };
    KernelUse kernels{has('r'), has('w'), has('o')};
    if (more()) kernels.bytes = number("the bytes in use", 0, most);
    return kernels;
  }
  void take_buffer() {
    need_header();
    Buffer buffer;
    buffer.name = word("the name of a buffer").text;
    const std::size_t column = more() ? words_[next_].column : 1;
    buffer.base = VirtAddr{number("the address of a buffer", 0, kTraceAddresses - 1)};
    if (buffer.base.value % kPageBytes != 0) fail_at(column, "a buffer begins at a multiple of 4096");
    buffer.bytes = number("the bytes of a buffer", 1, kTraceAddresses - buffer.base.value);
    static constexpr std::array kWords{"distribute", "interleave", "private", "host"};
    buffer.placement = more() ? static_cast<Placement>(one_of("the placement", kWords)) : Placement::Distribute;
    if (more()) buffer.kernels = use(buffer.bytes);
    for (const Buffer& other : buffers_) {
      if (buffer.base.value < BufferMap::end_of(other) && other.base.value < BufferMap::end_of(buffer)) {
        fail(fmt::format("the buffer overlaps with buffer `{}`", other.name));
      }
    }
    if (buffers_.size() == limits_.buffers) fail(fmt::format("at most {} buffers are possible", limits_.buffers));
    buffers_.push_back(std::move(buffer));
  }
  void take_home() {
    need_header();
    PageHome home;
    home.first = page_of(VirtAddr{address()});
    home.pages = number("the pages", 1, kTraceAddresses >> kPageShift);
    const Word& device = word("the device");
    const auto gpu = as_number(device.text);
    if (device.text != "host" && (!gpu || *gpu >= kMaxGpus))
      fail_at(device.column, "a GPU's number or `host` was expected");
    home.device = device.text == "host" ? PageHome::kHost : static_cast<std::uint16_t>(*gpu);
    const auto inside = std::ranges::find_if(buffers_, [&](const Buffer& buffer) {
      return page_of(buffer.base) <= home.first &&
             (home.first.value + home.pages) << kPageShift <= BufferMap::end_of(buffer);
    });
    if (inside == buffers_.end() || inside->placement == Placement::Private) {
      fail("these pages do not lie in one buffer that was declared, or each GPU has a copy of it");
    }
    if (!homes_.empty() && home.first.value < homes_.back().first.value + homes_.back().pages) {
      fail("homes stand in the order of their pages, each page once");
    }
    homes_.push_back(home);
  }

  void need_assembler() {
    if (assembler_) return;
    if (const BufferMap map(buffers_); !map.ranges().empty()) {
      const std::uint64_t span = map.ranges().back().end - map.ranges().front().begin;
      if (span > limits_.span_bytes) fail(fmt::format("the buffers lie more than {} B apart", limits_.span_bytes));
    }
    assembler_.emplace(out_, header_, buffers_, homes_);
    assembler_->set_gpus(gpus_);
    if (collective_) assembler_->set_collective(*collective_);
    encoder_.emplace(header_.lanes);
  }
  void begin_step() {
    need_assembler();
    end_wave();
    end_launch();
  }
  std::optional<VirtAddr> side() {
    if (more() && words_[next_].text == "host") return ++next_, std::nullopt;
    return VirtAddr{address()};
  }
  void take_copy() {
    begin_step();
    Copy copy;
    copy.from = side();
    copy.to = side();
    copy.bytes = number("the bytes", 1, kTraceAddresses);
    if (more() && words_[next_].text != "async") {
      copy.rows = number("the rows", 1, kTraceAddresses);
      copy.pitch = number("the pitch", 0, kTraceAddresses);
    }
    if (more()) copy.wait = one_of("the end of a copy", std::array{"async"}) != 0;
    check_copy(copy);
    assembler_->add_step(copy);
  }
  void check_copy(const Copy& copy) const {
    if (!copy.from && !copy.to) fail("one side of a copy is an address");
    if (copy.rows > 1 && copy.pitch < copy.bytes) fail("the rows of a copy overlap");
    const BufferMap map(buffers_);
    for (const auto& at : {copy.from, copy.to}) {
      if (!at) continue;
      const BufferMap::Range* range = map.find(at->value);
      const std::uint64_t room = range == nullptr ? 0 : range->end - at->value;
      if (copy.bytes > room || (copy.rows > 1 && copy.rows - 1 > (room - copy.bytes) / copy.pitch)) {
        fail(fmt::format("a copy from or to address {:#x} does not lie in a buffer", at->value));
      }
    }
  }
  void take_host() { begin_step(), assembler_->add_step(HostPhase{number("the cycles", 0, std::uint64_t{1} << 48)}); }
  void host_access(bool writes) {
    begin_step();
    HostAccess access;
    access.writes = writes;
    access.first = VirtAddr{address()};
    access.bytes = number("the bytes", 1, kTraceAddresses);
    const BufferMap map(buffers_);
    const BufferMap::Range* range = map.find(access.first.value);
    if (range == nullptr || access.bytes > range->end - access.first.value) {
      fail(fmt::format("an access of the host to address {:#x} does not lie in a buffer", access.first.value));
    }
    assembler_->add_step(access);
  }
  void take_host_read() { host_access(false); }
  void take_host_write() { host_access(true); }
  void take_sync() { begin_step(), assembler_->add_step(Sync{}); }

  void take_launch() {
    begin_step();
    Launch launch;
    launch.kernel = word("the name of the kernel").text;
    for (std::uint32_t* groups : {&launch.groups_x, &launch.groups_y, &launch.groups_z}) {
      *groups = static_cast<std::uint32_t>(number("the grid, in workgroups", 1, 0xffff'ffff));
    }
    for (std::uint32_t* size : {&launch.size_x, &launch.size_y}) {
      *size = static_cast<std::uint32_t>(number("the size of a workgroup", 1, limits_.group_items));
    }
    if (std::uint64_t{launch.size_x} * launch.size_y > limits_.group_items) fail("the workgroup is too large");
    if (std::uint64_t{launch.groups_x} * launch.groups_y > limits_.wavefronts / launch.groups_z) {
      fail("the grid is too large");
    }
    launch.local_bytes = number_or("the bytes of local memory", 0, 0, ~std::uint64_t{0});
    static constexpr std::array kSplits{"offset", "blocks", "round-robin", "greedy", "listed"};
    static constexpr std::array kDims{"x", "y", "z"};
    if (more()) launch.split = static_cast<Split>(one_of("the split", kSplits));
    if (more()) launch.split_dim = static_cast<Dim>(one_of("the dimension of the split", kDims));
    if (launch.split == Split::Listed) {
      places_ = std::make_shared<GroupPlaces>();
      places_->gpu.assign(launch.groups(), 0);
      places_left_ = launch.groups();
    }
    wavefronts_ += launch.groups() * launch.waves(header_.lanes);
    if (wavefronts_ > limits_.wavefronts) fail(fmt::format("a text has at most {} wavefronts", limits_.wavefronts));
    assembler_->begin_launch(std::move(launch));
  }
  std::uint64_t group() {
    if (!assembler_ || !assembler_->in_launch()) fail("this belongs to a launch, and none has begun");
    return number("the workgroup", 0, assembler_->launch().groups() - 1);
  }
  void take_place() {
    const std::uint64_t at = group();
    if (places_ == nullptr) fail("only a launch whose split is `listed` has places");
    if (at != places_->gpu.size() - places_left_) fail("places stand in the order of workgroups, one for each");
    places_->gpu[at] = static_cast<std::uint16_t>(number("the GPU", 0, kMaxGpus - 1));
    --places_left_;
    if (at == 0 ? more() : !places_->cu.empty()) {
      places_->cu.push_back(static_cast<std::uint16_t>(number("the compute unit", 0, 0xffff)));
    }
  }
  void end_launch() {
    if (places_ == nullptr) return;
    if (places_left_ != 0) fail(fmt::format("the launch before has {} workgroups without a place", places_left_));
    assembler_->launch().places = std::move(places_);
    places_ = nullptr;
  }

  // --- streams

  void take_wave() {
    const std::uint64_t of = group();
    const std::uint32_t waves = assembler_->launch().waves(header_.lanes);
    const auto index = static_cast<std::uint32_t>(number("the wavefront", 0, waves - 1));
    end_wave();
    if (!assembler_->is_free(of, index))
      fail(fmt::format("wavefront {} of workgroup {} has been given before", index, of));
    wave_ = {of, index};
    encoder_->begin();
    time_ = 0;
  }
  void end_wave() {
    if (!wave_) return;
    assembler_->add_stream(wave_->first, wave_->second, ByteVector(encoder_->bytes()));
    wave_.reset();
  }
  void need_wave() const {
    if (!wave_) fail("an operation belongs to a wavefront: `wave WORKGROUP WAVEFRONT` comes first");
  }
  void take_counted() {
    need_wave();
    const std::string& what = words_.front().text;
    const auto count = static_cast<unsigned>(number("the count", 0, 0xffff));
    encoder_->add(what == "valu"    ? valu(count)
                  : what == "salu"  ? salu(count)
                  : what == "local" ? local(count)
                                    : wait(count));
  }
  void take_barrier() { need_wave(), encoder_->add(barrier()); }
  void take_fence() {
    need_wave();
    static constexpr std::array kScopes{"workgroup", "gpu", "system"};
    encoder_->add(fence(static_cast<Scope>(one_of("the scope", kScopes))));
  }
  unsigned lane_bytes() { return static_cast<unsigned>(number("the bytes", 1, kMostLaneBytes)); }
  void take_scalar_load() {
    need_wave();
    const unsigned bytes = lane_bytes();
    const std::uint64_t at = address();
    need_mapped(at, at + bytes);
    encoder_->add(scalar_load(bytes, VirtAddr{at}));
  }
  void take_time() {
    need_wave();
    if (!header_.times) fail("a trace with times says `times` among its first lines");
    const std::uint64_t time = number("the time", 0, std::uint64_t{1} << 40);
    if (time < time_) fail("time goes backwards");
    encoder_->time(time_ = time);
  }
  void need_mapped(std::uint64_t begin, std::uint64_t end) const {
    if (mapped_ == nullptr) mapped_ = std::make_unique<BufferMap>(buffers_);
    const BufferMap::Mapped* range = mapped_->find_mapped(begin);
    if (range == nullptr || end > range->end || end <= begin)
      fail(fmt::format("address {:#x} lies in no buffer", begin));
  }
  void take_memory() {
    need_wave();
    const std::string& what = words_.front().text;
    const OpKind kind = what == "load" ? OpKind::Load : what == "store" ? OpKind::Store : OpKind::Atomic;
    const unsigned bytes = lane_bytes();
    static constexpr std::array kForms{"row", "rows", "stride", "lanes", "idle"};
    LaneAddresses lanes;
    switch (one_of("the form of lanes", kForms)) {
      case 0: read_row(lanes, bytes); break;
      case 1: read_rows(lanes, bytes); break;
      case 2: read_stride(lanes); break;
      case 3: read_lanes(lanes); break;
      default: break;
    }
    check_mapped(lanes, bytes);
    encoder_->add(kind, bytes, lanes);
  }
  void check_mapped(LaneAddresses lanes, unsigned bytes) const {
    lanes.expand();
    for (std::uint64_t left = lanes.active; left != 0; left &= left - 1) {
      const std::uint64_t at = lanes.address[static_cast<unsigned>(std::countr_zero(left))];
      need_mapped(at, at + bytes);
    }
  }
  void read_row(LaneAddresses& lanes, unsigned bytes) {
    lanes.rows.first = VirtAddr{address()};
    lanes.rows.lanes = static_cast<std::uint32_t>(number_or("the lanes", header_.lanes, 1, header_.lanes));
    lanes.rows.lane = static_cast<std::uint32_t>(number_or("the first lane", 0, 0, header_.lanes - lanes.rows.lanes));
    lanes.rows.step = bytes;
  }
  void read_rows(LaneAddresses& lanes, unsigned bytes) {
    Rows& rows = lanes.rows;
    rows.first = VirtAddr{address()};
    rows.lanes = static_cast<std::uint32_t>(number("the lanes of a row", 1, kMaxLanes));
    rows.lane = static_cast<std::uint32_t>(number("the first lane", 0, kMaxLanes - rows.lanes));
    rows.rows = static_cast<std::uint32_t>(number("the number of rows", 1, kMaxLanes));
    rows.width = static_cast<std::uint32_t>(number("the lanes from row to row", 0, kMaxLanes));
    rows.step = static_cast<std::uint32_t>(number_or("the bytes from lane to lane", bytes, 0, 0xffff'ffff));
    rows.pitch = more() ? signed_number("the bytes from row to row") : 0;
    if (rows.rows > 1 &&
        (rows.width < rows.lanes || rows.lane + (rows.rows - 1) * rows.width + rows.lanes > kMaxLanes)) {
      fail("the rows do not fit a wavefront");
    }
  }
  std::uint64_t mask() {
    const std::uint64_t all = ~std::uint64_t{0} >> (kMaxLanes - header_.lanes);
    return number("the mask of lanes", 1, all);
  }
  void read_stride(LaneAddresses& lanes) {
    const std::uint64_t first = address();
    const std::uint64_t stride = signed_number("the bytes from lane to lane");
    lanes.active = more() ? mask() : ~std::uint64_t{0} >> (kMaxLanes - header_.lanes);
    const auto lowest = static_cast<unsigned>(std::countr_zero(lanes.active));
    for (unsigned lane = lowest; lane < kMaxLanes; ++lane) lanes.address[lane] = first + (lane - lowest) * stride;
  }
  void read_lanes(LaneAddresses& lanes) {
    lanes.active = mask();
    for (std::uint64_t left = lanes.active; left != 0; left &= left - 1) {
      lanes.address[static_cast<unsigned>(std::countr_zero(left))] = address();
    }
  }

  std::istream& in_;
  std::string name_;
  TraceSink& out_;
  TraceLimits limits_;
  std::size_t number_ = 0;  ///< of the line
  std::vector<Word> words_;
  std::size_t next_ = 0;
  bool began_ = false;
  TraceHeader header_;
  std::uint64_t gpus_ = 0;
  std::optional<CollectiveWork> collective_;
  std::vector<Buffer> buffers_;
  std::vector<PageHome> homes_;
  mutable std::unique_ptr<BufferMap> mapped_;
  std::optional<TraceAssembler> assembler_;
  std::optional<StreamEncoder> encoder_;
  std::optional<std::pair<std::uint64_t, std::uint32_t>> wave_;
  std::uint64_t time_ = 0;
  std::uint64_t wavefronts_ = 0;  ///< of all launches
  std::shared_ptr<GroupPlaces> places_;
  std::uint64_t places_left_ = 0;
};

}  // namespace

void import_text(std::istream& text, const std::string& name, TraceSink& out, const TraceLimits& limits) {
  TextImporter(text, name, out, limits).run();
}

}  // namespace nearfar

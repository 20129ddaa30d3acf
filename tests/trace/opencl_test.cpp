// How what single work-items of an OpenCL kernel did becomes the streams of wavefronts: kernels written by hand, whose
// wavefront instructions can be counted by hand.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "config/error.h"
#include "trace/opencl/recorder.h"
#include "trace/recorded.h"

namespace nearfar::opencl_test {
namespace {

using opencl::CodeKind;
using opencl::execution_order;
using opencl::KernelCode;
using opencl::LaneTag;
using opencl::Message;
using opencl::Recorder;
using opencl::RecordingNotes;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::ThrowsMessage;

// --- the order of positions

TEST(ExecutionOrder, ALoopsBodyComesBeforeItsExit) {
  // As a compiler writes `for`: entry, condition, exit, body.
  EXPECT_THAT(execution_order({{1}, {3, 2}, {}, {1}}), ElementsAre(0, 1, 3, 2));
}

TEST(ExecutionOrder, BothSidesOfABranchComeBeforeWhereTheyMeet) {
  EXPECT_THAT(execution_order({{3, 2}, {}, {1}, {1}}), ElementsAre(0, 3, 2, 1));
}

TEST(ExecutionOrder, AnInnerLoopStandsTogetherWithinTheOuter) {
  // 1 is the head of the outer loop, 2 of the inner, 5 the end; 3 the inner body, 4 goes back to the outer head.
  EXPECT_THAT(execution_order({{1}, {2, 5}, {4, 3}, {2}, {1}, {}}), ElementsAre(0, 1, 2, 3, 4, 5));
}

TEST(ExecutionOrder, ALoopLeftInTheMiddleStillComesBeforeWhatFollows) {
  // 2 leaves the loop 1-2-3 to 4, where a return follows; the loop's own exit leads there too.
  EXPECT_THAT(execution_order({{1}, {4, 2}, {4, 3}, {1}, {}}), ElementsAre(0, 1, 2, 3, 4));
}

TEST(ExecutionOrder, ALoopOfOneBlockAndBlocksThatNothingReaches) {
  EXPECT_THAT(execution_order({{1}, {1, 3}, {3}, {}}), ElementsAre(0, 1, 2, 3));
}

// --- kernels by hand

struct Instruction {
  CodeKind kind;
  unsigned count = 1;
  std::vector<unsigned> uses = {};
};
const Instruction kVector{CodeKind::Vector}, kBranch{CodeKind::Scalar}, kMemory{CodeKind::Memory, 0};
const Instruction kReturn{CodeKind::Return, 0}, kCall{CodeKind::Call}, kBarrier{CodeKind::Barrier, 0};

struct Block {
  std::vector<unsigned> next;
  std::vector<Instruction> code;
};
using Function = std::vector<Block>;

ByteVector function_message(std::size_t base, const Function& function) {
  ByteVector out;
  put_number(out, base);
  put_number(out, function.size());
  for (const Block& block : function) {
    put_number(out, block.next.size());
    for (const unsigned next : block.next) put_number(out, next);
    put_number(out, block.code.size());
    for (const Instruction& each : block.code) {
      put_number(out, static_cast<std::uint64_t>(each.kind));
      put_number(out, each.count);
      put_number(out, each.uses.size());
      for (const unsigned use : each.uses) put_number(out, use);
    }
  }
  return out;
}

/// What one work-item does, written down as the plugin does.
class Item {
 public:
  explicit Item(const std::vector<Function>& functions) {
    for (const Function& function : functions) {
      std::vector<std::pair<std::uint64_t, std::uint64_t>>& blocks = blocks_.emplace_back();
      for (const Block& block : function) {
        blocks.emplace_back(instructions_, block.code.size());
        instructions_ += block.code.size();
      }
    }
  }

  /// All instructions of a block, or from one on, or some from one on.
  Item& run(unsigned block, unsigned from = 0, unsigned count = ~0U, unsigned function = 0) {
    const auto [first, size] = blocks_[function][block];
    const std::uint64_t executed = std::min<std::uint64_t>(count, size - from);
    put_number(bytes_, zigzag(first + from - next_) << opencl::kLaneTagBits);
    put_number(bytes_, executed);
    next_ = first + from + executed;
    return *this;
  }
  /// What the instruction that is run next touches.
  Item& touch(LaneTag tag, unsigned bytes, std::uint64_t address = 0) {
    put_number(bytes_, std::uint64_t{bytes} << opencl::kLaneTagBits | static_cast<std::uint64_t>(tag));
    if (tag == LaneTag::Local) return *this;
    put_number(bytes_, zigzag(address - address_));
    address_ = address;
    return *this;
  }
  /// Behind a barrier.
  ByteVector take() {
    next_ = address_ = 0;
    return std::exchange(bytes_, {});
  }

 private:
  std::vector<std::vector<std::pair<std::uint64_t, std::uint64_t>>> blocks_;
  std::uint64_t instructions_ = 0, next_ = 0, address_ = 0;
  ByteVector bytes_;
};

constexpr std::uint64_t kBufferX = std::uint64_t{1} << 48, kBufferY = std::uint64_t{2} << 48;
constexpr std::uint64_t kTraceX = std::uint64_t{4} << 30;
constexpr std::uint64_t kTraceY = kTraceX + 8192;

/// A recorder that is told what a test says, without Oclgrind.
class Session {
 public:
  explicit Session(opencl::HostEvents host = opencl::HostEvents::Copies) : recorder_(out_, {.source = "opencl"}, host) {
    say(Message::Hello, {opencl::kMessagesVersion, 77});
  }

  void say(Message message, std::initializer_list<std::uint64_t> numbers) {
    ByteVector bytes;
    for (const std::uint64_t number : numbers) put_number(bytes, number);
    recorder_.take(message, bytes);
  }
  void send(Message message, const ByteVector& bytes) { recorder_.take(message, bytes); }

  /// x of 8 KiB, and y of 4 KiB behind it.
  void allocate() {
    say(Message::Allocate, {0, kBufferX, 8192});
    say(Message::Allocate, {0, kBufferY, 4096});
  }
  void begin_kernel(std::uint64_t groups, std::uint64_t items,
                    const std::vector<std::pair<std::string, std::uint64_t>>& arguments = {},
                    std::uint64_t context = 0) {
    ByteVector bytes;
    put_number(bytes, context);
    put_text(bytes, "k");
    for (const std::uint64_t number : {groups, std::uint64_t{1}, std::uint64_t{1}, items, std::uint64_t{1},
                                       std::uint64_t{1}, std::uint64_t{0}, std::uint64_t{arguments.size()}}) {
      put_number(bytes, number);
    }
    for (const auto& [name, address] : arguments) {
      put_text(bytes, name);
      put_number(bytes, address);
    }
    send(Message::KernelBegin, bytes);
    code_ = 0;
  }
  void add_functions(const std::vector<Function>& functions) {
    for (const Function& function : functions) {
      send(Message::Function, function_message(code_, function));
      for (const Block& block : function) code_ += block.code.size();
    }
  }
  void slice(std::uint64_t item, const ByteVector& did) {
    ByteVector bytes;
    put_number(bytes, item);
    bytes.insert(bytes.end(), did.begin(), did.end());
    send(Message::Slice, bytes);
  }
  RecordingNotes finish() { return recorder_.finish(); }
  Recorder& recorder() { return recorder_; }
  std::string text() const { return to_text(out_.bytes); }
  const ByteVector& bytes() const { return out_.bytes; }

 private:
  TraceBytes out_;
  Recorder recorder_;
  std::size_t code_ = 0;
};

/// One launch of one workgroup without barriers; what each work-item does is asked by its number.
std::string recorded_group(const std::vector<Function>& functions, unsigned items,
                           const std::function<void(unsigned, Item&)>& program) {
  Session session;
  session.allocate();
  session.begin_kernel(1, items);
  session.add_functions(functions);
  session.say(Message::GroupBegin, {0, 0, 0, items, 1, 1});
  for (unsigned i = 0; i < items; ++i) {
    Item item(functions);
    program(i, item);
    session.slice(i, item.take());
  }
  session.say(Message::GroupEnd, {});
  session.say(Message::KernelEnd, {});
  session.finish();
  return session.text();
}

/// How many instructions of each kind a trace's text has: valu, salu, local by count, the others one each.
std::map<std::string, unsigned> counts(const std::string& text) {
  std::map<std::string, unsigned> found;
  std::istringstream in(text.substr(text.find("\nwave")));
  for (std::string line; std::getline(in, line);) {
    std::istringstream words(line);
    std::string kind;
    unsigned count = 1;
    words >> kind;
    if (kind == "valu" || kind == "salu" || kind == "local") words >> count;
    if (!kind.empty()) found[kind] += count;
  }
  return found;
}

TEST(OpenclWavefronts, ALoopRunsAsOftenAsItsLongestWorkItem) {
  // Work-item i goes round i % 4 + 1 times. Blocks as the compiler orders them: entry, condition, exit, body.
  const Function loop{
      {{1}, {kVector}}, {{3, 2}, {kVector, kBranch}}, {{}, {kVector, kReturn}}, {{1}, {kVector, kVector}}};
  const std::string text = recorded_group({loop}, 64, [](unsigned i, Item& item) {
    item.run(0).run(1);
    for (unsigned k = 0; k <= i % 4; ++k) item.run(3).run(1);
    item.run(2);
  });
  // Entry and exit once, the condition 5 times, the body 4 times: 1 + 5 + 4 · 2 + 1, and 5 branches and a return.
  EXPECT_EQ(counts(text)["valu"], 15u);
  EXPECT_EQ(counts(text)["salu"], 6u);
}

TEST(OpenclWavefronts, GroupingByOccurrenceWouldHaveFoundFewer) {
  // Only one of 64 work-items goes round 3 times while the others end at once; then all do the last block together. The
  // exit's instruction is the first of its kind in all of them, and is executed once, behind the loop.
  const Function loop{{{1}, {kVector}}, {{3, 2}, {kBranch}}, {{}, {kMemory, kReturn}}, {{1}, {kVector}}};
  const std::string text = recorded_group({loop}, 64, [](unsigned i, Item& item) {
    item.run(0).run(1);
    for (unsigned k = 0; k < (i == 5 ? 3U : 0U); ++k) item.run(3).run(1);
    item.touch(LaneTag::Store, 4, kBufferX + 4 * i).run(2);
  });
  EXPECT_THAT(text, HasSubstr("wave 0 0\nvalu 4\nsalu 4\nstore 4 row 0x100000000\nsalu 1\n"));
}

TEST(OpenclWavefronts, NestedBranchesTakeEachSideOnce) {
  // if (i < 32) { 2; if (i < 16) 4; } else 8; then 16 for all.
  const auto work = [](unsigned count) { return Instruction{CodeKind::Vector, count}; };
  const Function nested{
      {{1, 3}, {kBranch}}, {{2, 4}, {work(2), kBranch}}, {{4}, {work(4)}}, {{4}, {work(8)}}, {{}, {work(16), kReturn}}};
  const auto walk = [](unsigned i, Item& item) {
    item.run(0);
    if (i < 32) {
      item.run(1);
      if (i < 16) item.run(2);
    } else {
      item.run(3);
    }
    item.run(4);
  };
  EXPECT_EQ(counts(recorded_group({nested}, 64, walk))["valu"], 2u + 4 + 8 + 16);
  EXPECT_EQ(counts(recorded_group({nested}, 64, walk))["salu"], 3u);
  // In the second wavefront of 128 all take the other side.
  EXPECT_EQ(counts(recorded_group({nested}, 128, walk))["valu"], 2u + 4 + 8 + 16 + 8 + 16);
}

TEST(OpenclWavefronts, WhoReturnsEarlyTakesNoPartInTheRest) {
  const Function early{{{1, 2}, {kBranch}}, {{2}, {kMemory}}, {{}, {kReturn}}};
  const std::string text = recorded_group({early}, 64, [](unsigned i, Item& item) {
    item.run(0);
    if (i >= 10) item.touch(LaneTag::Load, 4, kBufferX + 4 * i).run(1);
    item.run(2);
  });
  EXPECT_THAT(text, HasSubstr("wave 0 0\nsalu 1\nload 4 row 0x100000028 54 10\nsalu 1\n"));
}

TEST(OpenclWavefronts, AFunctionCalledFromBothSidesOfABranchRunsTwice) {
  // The same instructions of the same function, but on different ways: the calls are compared first.
  const Function kernel{{{1, 2}, {kBranch}}, {{3}, {kCall, kVector}}, {{3}, {kCall, kVector}}, {{}, {kReturn}}};
  const Function callee{{{}, {kMemory, kReturn}}};
  const std::vector<Function> functions{kernel, callee};
  const auto walk = [](bool same) {
    return [same](unsigned i, Item& item) {
      const unsigned side = same || i % 2 == 0 ? 1 : 2;
      item.run(0).run(side, 0, 1).touch(LaneTag::Load, 4, kBufferX + 4 * i).run(0, 0, ~0U, 1).run(side, 1).run(3);
    };
  };
  EXPECT_EQ(counts(recorded_group(functions, 64, walk(false)))["load"], 2u);
  EXPECT_EQ(counts(recorded_group(functions, 64, walk(true)))["load"], 1u);
  // A branch, two calls, two returns, the end.
  EXPECT_EQ(counts(recorded_group(functions, 64, walk(false)))["salu"], 1u + 2 + 2 + 1);
  EXPECT_EQ(counts(recorded_group(functions, 64, walk(false)))["valu"], 2u);
}

TEST(OpenclWavefronts, WhoIsStillInAFunctionComesBeforeWhatFollowsTheCall) {
  // In the function odd work-items go round once more. All meet again behind the call.
  const Function kernel{{{}, {kCall, kMemory, kReturn}}};
  const Function callee{{{1}, {kVector}}, {{0, 2}, {kBranch}}, {{}, {kReturn}}};
  const std::string text = recorded_group({kernel, callee}, 64, [](unsigned i, Item& item) {
    item.run(0, 0, 1).run(0, 0, ~0U, 1).run(1, 0, ~0U, 1);
    if (i % 2 == 1) item.run(0, 0, ~0U, 1).run(1, 0, ~0U, 1);
    item.run(2, 0, ~0U, 1).touch(LaneTag::Store, 4, kBufferX + 4 * i).run(0, 1);
  });
  EXPECT_EQ(counts(text)["store"], 1u);
  EXPECT_EQ(counts(text)["valu"], 2u);
}

TEST(OpenclWavefronts, ABarrierIsOneForAWavefrontWhoeverComesLate) {
  // Odd work-items do something before the first barrier; between the two, all.
  const Function kernel{{{1, 2}, {kBranch}}, {{2}, {kVector}}, {{}, {kBarrier, kVector, kBarrier, kReturn}}};
  Session session;
  session.begin_kernel(1, 128);
  session.add_functions({kernel});
  session.say(Message::GroupBegin, {0, 0, 0, 128, 1, 1});
  std::vector<Item> items(128, Item({kernel}));
  for (unsigned i = 0; i < 128; ++i) {
    items[i].run(0);
    if (i % 2 == 1) items[i].run(1);
    session.slice(i, items[i].run(2, 0, 1).take());
  }
  session.say(Message::Barrier, {opencl::kLocalFence});
  for (unsigned i = 0; i < 128; ++i) session.slice(i, items[i].run(2, 1, 2).take());
  session.say(Message::Barrier, {opencl::kLocalFence});
  for (unsigned i = 0; i < 128; ++i) session.slice(i, items[i].run(2, 3).take());
  session.say(Message::GroupEnd, {});
  session.say(Message::KernelEnd, {});
  session.finish();
  EXPECT_THAT(session.text(), HasSubstr("wave 0 0\nvalu 1\nsalu 1\nbarrier\nvalu 1\nbarrier\nsalu 1\n"
                                        "wave 0 1\nvalu 1\nsalu 1\nbarrier\nvalu 1\nbarrier\nsalu 1\n"));
}

TEST(OpenclWavefronts, WhoHasEndedMeetsNoBarrier) {
  // Work-items from 64 on return at once: their wavefront has no barrier.
  const Function kernel{{{1, 2}, {kBranch}}, {{2}, {kBarrier, kVector}}, {{}, {kReturn}}};
  Session session;
  session.begin_kernel(1, 128);
  session.add_functions({kernel});
  session.say(Message::GroupBegin, {0, 0, 0, 128, 1, 1});
  std::vector<Item> items(128, Item({kernel}));
  for (unsigned i = 0; i < 128; ++i) {
    items[i].run(0);
    session.slice(i, (i < 64 ? items[i].run(1, 0, 1) : items[i].run(2)).take());
  }
  session.say(Message::Barrier, {opencl::kLocalFence});
  for (unsigned i = 0; i < 64; ++i) session.slice(i, items[i].run(1, 1).run(2).take());
  session.say(Message::GroupEnd, {});
  session.say(Message::KernelEnd, {});
  session.finish();
  EXPECT_THAT(session.text(), HasSubstr("wave 0 0\nsalu 1\nbarrier\nvalu 1\nsalu 1\nwave 0 1\nsalu 2\n"));
}

// --- memory

TEST(OpenclWavefronts, AnInstructionThatUsesALoadWaitsForIt) {
  // x and y are loaded; the first use is of x, with one load behind it, the second of y.
  const Function kernel{{{},
                         {kMemory,
                          kMemory,
                          {CodeKind::Vector, 1, {0}},
                          {CodeKind::Vector, 1, {0, 1}},
                          {CodeKind::Vector, 1, {1}},
                          kReturn}}};
  const std::string text = recorded_group({kernel}, 64, [](unsigned i, Item& item) {
    item.touch(LaneTag::Load, 4, kBufferX + 4 * i).run(0, 0, 1);
    item.touch(LaneTag::Load, 8, kBufferY + 8 * i).run(0, 1);
  });
  EXPECT_THAT(text,
              HasSubstr("load 4 row 0x100000000\nload 8 row 0x100002000\nwait 1\nvalu 1\nwait 0\nvalu 2\nsalu 1\n"));
}

TEST(OpenclWavefronts, AnotherNameForALoadsResultWaitsLikeIt) {
  const Function kernel{
      {{}, {kMemory, {CodeKind::Free, 0, {0}}, {CodeKind::Vector, 1, {}}, {CodeKind::Vector, 1, {1}}, kReturn}}};
  const std::string text = recorded_group(
      {kernel}, 64, [](unsigned i, Item& item) { item.touch(LaneTag::Load, 4, kBufferX + 4 * i).run(0); });
  EXPECT_THAT(text, HasSubstr("load 4 row 0x100000000\nvalu 1\nwait 0\nvalu 1\nsalu 1\n"));
}

TEST(OpenclWavefronts, AUniformLoadIsScalarAndOnlyIfItIsOnePlace) {
  const Function kernel{{{}, {{CodeKind::Uniform, 0}, {CodeKind::Vector, 1, {0}}, kReturn}}};
  EXPECT_THAT(
      recorded_group({kernel}, 64, [](unsigned, Item& item) { item.touch(LaneTag::Load, 16, kBufferX + 32).run(0); }),
      HasSubstr("wave 0 0\nsload 16 0x100000020\nwait 0\nvalu 1\nsalu 1\n"));
  EXPECT_THAT(recorded_group({kernel}, 64,
                             [](unsigned i, Item& item) { item.touch(LaneTag::Load, 16, kBufferX + 16 * i).run(0); }),
              HasSubstr("wave 0 0\nload 16 row 0x100000000\nwait 0\nvalu 1\nsalu 1\n"));
}

TEST(OpenclWavefronts, WideAccessesAreSeveralInstructionsAndSizesAreKeptApart) {
  const Function kernel{{{}, {kMemory, kReturn}}};
  // 40 bytes: two instructions of 16 and one of 8.
  EXPECT_THAT(recorded_group({kernel}, 2,
                             [](unsigned i, Item& item) { item.touch(LaneTag::Load, 40, kBufferX + 64 * i).run(0); }),
              HasSubstr("load 16 rows 0x100000000 2 0 1 0 64 0\nload 16 rows 0x100000010 2 0 1 0 64 0\n"
                        "load 8 rows 0x100000020 2 0 1 0 64 0\n"));
  // The first work-item stores 4 bytes where the second stores 2.
  EXPECT_THAT(recorded_group(
                  {kernel}, 2,
                  [](unsigned i, Item& item) { item.touch(LaneTag::Store, i == 0 ? 4 : 2, kBufferX + 4 * i).run(0); }),
              HasSubstr("store 4 row 0x100000000 1 0\nstore 2 row 0x100000004 1 1\n"));
}

TEST(OpenclWavefronts, LocalAndPrivateMemory) {
  const Function kernel{{{}, {kMemory, kMemory, kMemory, kReturn}}};
  const std::string text = recorded_group({kernel}, 64, [](unsigned i, Item& item) {
    item.touch(LaneTag::Local, 4).run(0, 0, 1);   // one instruction
    item.touch(LaneTag::Local, 32).run(0, 1, 2);  // two; then private memory, which is a register
    item.touch(LaneTag::Atomic, 4, kBufferX + 4 * (i % 4)).run(0, 3);
  });
  EXPECT_EQ(counts(text)["local"], 3u);
  EXPECT_EQ(counts(text)["valu"], 1u);
}

TEST(OpenclWavefronts, ABuiltInFunctionMayStoreASecondResult) {
  const Function kernel{{{}, {kVector, kReturn}}};
  EXPECT_THAT(recorded_group({kernel}, 64,
                             [](unsigned i, Item& item) { item.touch(LaneTag::Store, 4, kBufferX + 4 * i).run(0); }),
              HasSubstr("wave 0 0\nvalu 1\nstore 4 row 0x100000000\nsalu 1\n"));
}

TEST(OpenclWavefronts, AtomicsKeepTheirAddresses) {
  const Function kernel{{{}, {kMemory, kReturn}}};
  EXPECT_THAT(
      recorded_group({kernel}, 64,
                     [](unsigned i, Item& item) { item.touch(LaneTag::Atomic, 4, kBufferX + 4 * (i % 4)).run(0); }),
      HasSubstr("atomic 4 rows 0x100000000 4 0 16 4 4 0\n"));
}

TEST(OpenclWavefronts, FencesAreOfTheWorkgroupOrTheGpu) {
  const Function kernel{{{},
                         {{CodeKind::Fence, opencl::kLocalFence},
                          {CodeKind::Fence, opencl::kLocalFence | opencl::kGlobalFence},
                          kReturn}}};
  EXPECT_THAT(recorded_group({kernel}, 64, [](unsigned, Item& item) { item.run(0); }),
              HasSubstr("wave 0 0\nfence workgroup\nfence gpu\nsalu 1\n"));
}

/// What find_rows says must be what it was given.
TEST(OpenclRows, SayTheSame) {
  std::uint64_t state = 1;
  const auto draw = [&](std::uint64_t below) {
    state = state * 6364136223846793005U + 1442695040888963407U;
    return (state >> 33) % below;
  };
  unsigned in_rows = 0;
  for (unsigned trial = 0; trial < 20000; ++trial) {
    LaneAddresses lanes;
    const auto first = static_cast<unsigned>(draw(64)), count = static_cast<unsigned>(1 + draw(64 - first));
    lanes.active = (~std::uint64_t{0} >> (64 - count)) << first;
    if (draw(4) == 0) lanes.active &= draw(~std::uint64_t{0}) | 1;
    const std::uint64_t width = 1 + draw(count), step = 4 * draw(3), pitch = 64 * draw(5) - 64;
    for (unsigned i = 0; i < 64; ++i) {
      const std::uint64_t at = i < first ? 0 : i - first;
      lanes.address[i] = (1 << 20) + at / width * pitch + at % width * step;
    }
    if (draw(3) == 0) lanes.address[draw(64)] += 4;
    if (lanes.active == 0) continue;
    LaneAddresses rows = lanes;
    opencl::find_rows(4, rows);
    in_rows += rows.in_rows() ? 1 : 0;
    rows.expand();
    lanes.expand();
    ASSERT_EQ(rows.active, lanes.active) << trial;
    ASSERT_EQ(rows.address, lanes.address) << trial;
  }
  EXPECT_GT(in_rows, 5000u);
}

// --- buffers and the host

/// A kernel in which work-item i loads 4 bytes at `address` + 4 i.
void run_kernel(Session& session, std::uint64_t address, std::uint64_t context = 0,
                const std::vector<std::pair<std::string, std::uint64_t>>& arguments = {}) {
  const Function kernel{{{}, {kMemory, kReturn}}};
  session.begin_kernel(1, 64, arguments, context);
  session.add_functions({kernel});
  session.say(Message::GroupBegin, {0, 0, 0, 64, 1, 1});
  for (unsigned i = 0; i < 64; ++i) {
    session.slice(i, Item({kernel}).touch(LaneTag::Load, 4, address + 4 * i).run(0).take());
  }
  session.say(Message::GroupEnd, {});
  session.say(Message::KernelEnd, {});
}

TEST(OpenclBuffers, HaveTheNamesOfArgumentsAndSayWhatKernelsDo) {
  Session session;
  session.allocate();
  run_kernel(session, kBufferY, 0, {{"in", kBufferY}, {"out", kBufferX}});
  session.finish();
  EXPECT_THAT(session.text(), AllOf(HasSubstr("buffer \"out\" 0x100000000 8192 distribute - 0\n"),
                                    HasSubstr("buffer \"in\" 0x100002000 4096 distribute r 0\n"),
                                    HasSubstr("load 4 row 0x100002000\n")));
}

TEST(OpenclBuffers, ContextsHaveTheirOwnAndNamesAreDifferent) {
  Session session;
  session.say(Message::Allocate, {0, kBufferX, 4096});
  session.say(Message::Allocate, {1, kBufferX, 4096});
  run_kernel(session, kBufferX, 1, {{"a", kBufferX}});
  run_kernel(session, kBufferX, 0, {{"a", kBufferX}});
  session.finish();
  EXPECT_THAT(session.text(), AllOf(HasSubstr("buffer \"k.a\" 0x100000000"), HasSubstr("buffer \"a\" 0x100001000"),
                                    HasSubstr("wave 0 0\nload 4 row 0x100001000\nsalu 1\nlaunch"),
                                    HasSubstr("wave 0 0\nload 4 row 0x100000000\nsalu 1\n")));
}

TEST(OpenclBuffers, MemoryThatWasFreedIsTheNextOfItsSize) {
  Session session;
  session.allocate();
  run_kernel(session, kBufferX);
  session.say(Message::Free, {0, kBufferX});
  session.say(Message::Allocate, {0, std::uint64_t{3} << 48, 5000});  // two pages, like x
  session.say(Message::Allocate, {0, std::uint64_t{4} << 48, 8000});  // two pages, but x is taken
  run_kernel(session, std::uint64_t{3} << 48);
  run_kernel(session, std::uint64_t{4} << 48);
  session.finish();
  const std::string text = session.text();
  EXPECT_THAT(text, AllOf(HasSubstr("0x100000000 8192"), HasSubstr("0x100003000 8000"), Not(HasSubstr("5000"))));
  EXPECT_THAT(text, HasSubstr("load 4 row 0x100003000\n"));
}

TEST(OpenclBuffers, AccessesOutsideAreLeftOutAndCounted) {
  Session session;
  session.allocate();
  run_kernel(session, kBufferX + 8192 - 4 * 60);  // four of 64 behind its end
  EXPECT_EQ(session.finish().outside, 4u);
  EXPECT_THAT(session.text(), HasSubstr("load 4 row 0x100001f10 60 0\n"));
}

TEST(OpenclHost, CopiesAreWholeLinesAndEachBuffersOwn) {
  Session session;
  session.allocate();
  session.say(Message::HostWrite, {0, kBufferX, 8192});
  session.say(Message::HostWrite, {0, kBufferY, 100});  // behind x, but another buffer
  run_kernel(session, kBufferX);
  for (std::uint64_t i = 0; i < 16; ++i) session.say(Message::HostWrite, {0, kBufferY + 200 + 4 * i, 4});  // a fill
  session.say(Message::DeviceCopy, {0, kBufferX + 4096, kBufferY + 8, 4088});
  session.say(Message::HostRead, {0, kBufferY, 4});
  session.finish();
  EXPECT_THAT(session.text(), AllOf(HasSubstr("copy host 0x100000000 8192 1 0\ncopy host 0x100002000 128 1 0\nlaunch"),
                                    HasSubstr("copy host 0x100002080 256 1 0\ncopy 0x100001000 0x100002000 4096 1 0\n"
                                              "copy 0x100002000 host 128 1 0\n")));
}

TEST(OpenclHost, OrTheHostWorksInTheBuffersOrNothingIsSaid) {
  const auto recorded = [](opencl::HostEvents host) {
    Session session(host);
    session.allocate();
    session.say(Message::HostWrite, {0, kBufferX, 100});
    run_kernel(session, kBufferX);
    session.say(Message::DeviceCopy, {0, kBufferX, kBufferY, 64});
    session.finish();
    return session.text();
  };
  EXPECT_THAT(recorded(opencl::HostEvents::Accesses),
              AllOf(HasSubstr("host-write 0x100000000 100\n"),
                    HasSubstr("host-read 0x100000000 64\nhost-write 0x100002000 64\n")));
  EXPECT_THAT(recorded(opencl::HostEvents::None), AllOf(Not(HasSubstr("host-")), Not(HasSubstr("copy"))));
}

TEST(OpenclKernels, TheLastWorkgroupsMayBeSmaller) {
  const Function kernel{{{}, {kMemory, kReturn}}};
  Session session;
  session.allocate();
  session.begin_kernel(2, 128);
  session.add_functions({kernel});
  for (std::uint64_t group = 0; group < 2; ++group) {
    const std::uint64_t items = group == 0 ? 128 : 40;
    session.say(Message::GroupBegin, {group, 0, 0, items, 1, 1});
    for (std::uint64_t i = 0; i < items; ++i) {
      session.slice(i, Item({kernel}).touch(LaneTag::Load, 4, kBufferX + 4 * (128 * group + i)).run(0).take());
    }
    session.say(Message::GroupEnd, {});
  }
  session.say(Message::KernelEnd, {});
  session.finish();
  EXPECT_THAT(session.text(), HasSubstr("wave 1 0\nload 4 row 0x100000200 40 0\nsalu 1\n"));
  EXPECT_THAT(session.text(), Not(HasSubstr("wave 1 1\n")));
}

TEST(OpenclKernels, AnAsynchronousCopyIsTheWorkgroupsAndIsWaitedFor) {
  const Function kernel{{{}, {kBarrier, kReturn}}};
  Session session;
  session.allocate();
  session.begin_kernel(1, 128);
  session.add_functions({kernel});
  session.say(Message::GroupBegin, {0, 0, 0, 128, 1, 1});
  std::vector<Item> items(128, Item({kernel}));
  for (unsigned i = 0; i < 128; ++i) session.slice(i, items[i].run(0, 0, 1).take());
  ByteVector copy;
  put_number(copy, 100);
  for (std::uint64_t i = 0; i < 100; ++i) {
    for (const std::uint64_t number : {std::uint64_t{0}, std::uint64_t{4}, kBufferX + 4 * i}) put_number(copy, number);
  }
  session.send(Message::GroupCopy, copy);
  session.say(Message::Barrier, {opencl::kLocalFence | opencl::kGlobalFence});
  for (unsigned i = 0; i < 128; ++i) session.slice(i, items[i].run(0, 1).take());
  session.say(Message::GroupEnd, {});
  session.say(Message::KernelEnd, {});
  session.finish();
  EXPECT_THAT(session.text(), HasSubstr("wave 0 0\nlocal 1\nload 4 row 0x100000000\nwait 0\nbarrier\nsalu 1\n"
                                        "wave 0 1\nlocal 1\nload 4 row 0x100000100 36 0\nwait 0\nbarrier\nsalu 1\n"));
}

// --- what cannot be recorded

TEST(OpenclErrors, NoKernel) {
  Session session;
  session.allocate();
  EXPECT_THAT([&] { session.finish(); }, ThrowsMessage<InputError>(HasSubstr("launched no kernel")));
}

TEST(OpenclErrors, ASecondProgram) {
  Session session;
  EXPECT_THAT(
      [&] {
        session.say(Message::Hello, {opencl::kMessagesVersion, 78});
      },
      ThrowsMessage<InputError>(HasSubstr("Two programs use OpenCL")));
}

TEST(OpenclErrors, AKernelThatWasGivenUp) {
  Session session;
  session.begin_kernel(4, 64);
  session.say(Message::GroupBegin, {0, 0, 0, 64, 1, 1});
  EXPECT_THAT([&] { session.say(Message::KernelEnd, {}); },
              ThrowsMessage<InputError>(HasSubstr("gave up kernel 'k' in workgroup 1 of 4")));
}

TEST(OpenclErrors, AProgramThatEndsWithinAKernel) {
  Session session;
  session.begin_kernel(1, 64);
  EXPECT_THAT([&] { session.finish(); }, ThrowsMessage<InputError>(HasSubstr("ended within kernel 'k'")));
}

TEST(OpenclErrors, WhatIsRefused) {
  Session session;
  ByteVector text;
  put_text(text, "There are images.");
  EXPECT_THAT([&] { session.send(Message::Refuse, text); }, ThrowsMessage<InputError>("There are images."));
}

TEST(OpenclErrors, BuffersBeyondWhatATraceHolds) {
  Session session;
  session.say(Message::Allocate, {0, kBufferX, std::uint64_t{40} << 30});
  EXPECT_THAT(
      [&] {
        session.say(Message::Allocate, {0, kBufferY, std::uint64_t{40} << 30});
      },
      ThrowsMessage<InputError>(HasSubstr("more than 64 GiB")));
}

TEST(OpenclErrors, MessagesThatMakeNoSense) {
  const auto malformed = [](const std::function<void(Session&)>& say) {
    Session session;
    EXPECT_THROW(say(session), MalformedBytes);
  };
  malformed([](Session& session) { session.say(Message::GroupEnd, {}); });
  malformed([](Session& session) { session.say(Message::Slice, {0}); });
  malformed([](Session& session) { session.say(static_cast<Message>(99), {}); });
  malformed([](Session& session) {
    session.begin_kernel(1, 64);
    session.say(Message::GroupBegin, {3, 0, 0, 64, 1, 1});  // not the first
  });
  malformed([](Session& session) {
    session.begin_kernel(1, 64);
    session.say(Message::GroupBegin, {0, 0, 0, 65, 1, 1});  // larger than said
  });
  malformed([](Session& session) {
    session.begin_kernel(1, 64);
    session.say(Message::GroupBegin, {0, 0, 0, 64, 1, 1});
    session.say(Message::Slice, {0, 0, 5});  // instructions that do not exist
    session.say(Message::GroupEnd, {});
  });
}

/// What was recorded runs.
TEST(OpenclWavefronts, CanBeReplayed) {
  Session session;
  session.allocate();
  run_kernel(session, kBufferX);
  run_kernel(session, kBufferY);
  session.finish();
  const auto workload = replayed(session.bytes());
  EXPECT_EQ(workload->launches().size(), 2u);
  EXPECT_EQ(kTraceY, workload->buffers()[1].base.value);
}

}  // namespace
}  // namespace nearfar::opencl_test

#include "study/store.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>

#include "cli/process.h"
#include "study/made_up.h"

namespace nearfar::store_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::made_up_json;
using testing::made_up_key;
using testing::ScratchFolder;

ResultFile result(unsigned number, std::uint64_t cycles = 1000) {
  return parse_result(made_up_json(made_up_key(number), cycles), made_up_key(number));
}

TEST(Store, KeepsAResultWhole) {
  const ScratchFolder scratch;
  {
    ResultStore store(scratch.file("a.db"));
    store.add(result(1), "program");
  }
  const ResultStore store(scratch.file("a.db"));
  const auto found = store.find(made_up_key(1));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->workload, "MT");
  EXPECT_EQ(found->designs, "a+b");
  EXPECT_EQ(found->cycles, 1000U);
  EXPECT_EQ(found->host_seconds, 0.5);
  EXPECT_THAT(found->statistics.names(), ElementsAre("a.count", "b.ratio", "run.cycles"));
  EXPECT_EQ(found->statistics.find("b.ratio"), 0.25);
  EXPECT_EQ(found->statistics.find("b.rati"), std::nullopt);
  EXPECT_EQ(store.json(made_up_key(1)), made_up_json(made_up_key(1)));
  EXPECT_FALSE(store.find(made_up_key(2)));
  EXPECT_THROW(store.json(made_up_key(2)), StoreError);
}

TEST(Store, HasEachResultOnce) {
  const ScratchFolder scratch;
  ResultStore store(scratch.file("a.db")), other(scratch.file("a.db"));
  store.add(result(1, 1000), "program");
  other.add(result(1, 2000), "program");
  EXPECT_EQ(store.all().size(), 1U);
  EXPECT_EQ(other.find(made_up_key(1))->cycles, 1000U) << "the first stays";
}

/// Another program that has the bytes locked that SQLite locks to write, and gives them up when it ends.
pid_t lock_elsewhere(const std::string& path, unsigned milliseconds) {
  constexpr off_t kLockedBytes = 0x40000000;
  int ready[2];
  EXPECT_EQ(pipe(ready), 0);
  const pid_t other = fork();
  if (other == 0) {
    struct flock lock {};
    lock.l_type = F_WRLCK, lock.l_whence = SEEK_SET, lock.l_start = kLockedBytes, lock.l_len = 512;
    if (fcntl(open(path.c_str(), O_RDWR), F_SETLK, &lock) != 0) _exit(1);
    if (write(ready[1], "x", 1) != 1) _exit(1);
    usleep(milliseconds * 1000);
    _exit(0);
  }
  char byte = 0;
  EXPECT_EQ(read(ready[0], &byte, 1), 1);
  for (const int end : ready) close(end);
  return other;
}

TEST(Store, SaysForWhomItWaits) {
  const ScratchFolder scratch;
  const std::string path = scratch.file("a.db");
  ResultStore(path).add(result(1), "program");
  const pid_t other = lock_elsewhere(path, 1500);
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(ResultStore(path).all().size(), 1U) << "it is there when the other has ended";
  const std::string said = ::testing::internal::GetCapturedStderr();
  EXPECT_THAT(said, HasSubstr(fmt::format("nearfar: waiting for the store `{}`, which ", path)));
  EXPECT_EQ(std::ranges::count(said, '\n'), 1) << "once: " << said;
  if (std::filesystem::exists("/proc/locks")) {
    EXPECT_THAT(said, HasSubstr(fmt::format("process {} (", other)));
  }
  waitpid(other, nullptr, 0);
}

TEST(Store, AShortWaitIsSilent) {
  const ScratchFolder scratch;
  const std::string path = scratch.file("a.db");
  ResultStore(path).add(result(1), "program");
  const pid_t other = lock_elsewhere(path, 200);
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(ResultStore(path).all().size(), 1U);
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "");
  waitpid(other, nullptr, 0);
}

TEST(Store, RemembersFailuresUntilThereIsAResult) {
  const ScratchFolder scratch;
  ResultStore store(scratch.file("a.db"));
  store.add_failure(made_up_key(1), "MT", "first");
  store.add_failure(made_up_key(1), "MT", "second");
  EXPECT_EQ(store.failure(made_up_key(1))->attempts, 2U);
  EXPECT_EQ(store.failure(made_up_key(1))->error, "second");
  store.add(result(1), "program");
  EXPECT_FALSE(store.failure(made_up_key(1)));
}

TEST(Store, TellsWhatProgramsCost) {
  const ScratchFolder scratch;
  ResultStore store(scratch.file("a.db"));
  store.add(result(1), "one");
  store.add(result(2), "one");
  store.add(result(3), "two");
  const auto costs = store.known_costs();
  ASSERT_EQ(costs.size(), 2U);
  EXPECT_EQ(costs[0].program, "one");
  EXPECT_EQ(costs[0].peak_rss_bytes, 1000000U);
}

TEST(Store, RefusesWhatIsNoStore) {
  const ScratchFolder scratch;
  std::ofstream(scratch.file("text.db")) << std::string(5000, 'x');
  EXPECT_THROW(ResultStore(scratch.file("text.db")), InputError);
  EXPECT_THROW(ResultStore(scratch.file("no/such/folder.db")), InputError);
  EXPECT_THROW(ResultStore(scratch.path().string()), InputError);
  { ResultStore store(scratch.file("other.db")); }
  std::fstream header(scratch.file("other.db"), std::ios::in | std::ios::out | std::ios::binary);
  header.seekp(68).put('X');  // the application's number, in SQLite's header
  header.close();
  EXPECT_THROW(ResultStore(scratch.file("other.db")), InputError) << "another program's database";
}

TEST(ResultFile, IsBelievedOnlyWhenItIsComplete) {
  const std::string good = made_up_json(made_up_key(1));
  EXPECT_NO_THROW(parse_result(good, made_up_key(1)));
  for (std::size_t size = 0; size < good.size(); size += 13) {
    EXPECT_THROW(parse_result(good.substr(0, size), made_up_key(1)), BadResult) << size;
  }
  std::string damaged = good;
  damaged.replace(100, 20, std::string(20, '\0'));
  EXPECT_THROW(parse_result(damaged, made_up_key(1)), BadResult);
  EXPECT_THROW(parse_result(good, made_up_key(2)), BadResult) << "the result of another run";
  EXPECT_THROW(parse_result("[]", made_up_key(1)), BadResult);
  EXPECT_THROW(parse_result("{}", made_up_key(1)), BadResult);
  EXPECT_THROW(read_result("/no/such/file", made_up_key(1)), BadResult);
  try {
    parse_result(good.substr(0, 50), made_up_key(1));
  } catch (const BadResult& problem) {
    EXPECT_THAT(problem.what(), HasSubstr("cut off or corrupt at byte 51 of 50"));
  }
}

}  // namespace
}  // namespace nearfar::store_test

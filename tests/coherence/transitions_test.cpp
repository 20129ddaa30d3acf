// The table of transitions and the directories: from every state of two lines of a block, three GPUs and any home,
// every event must do what exactly one row says, and every row must be met. The table as a file is for models of the
// protocol.
#include "coherence/transition_table.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <span>
#include <sstream>
#include <string_view>

#include "coherence/home.h"

namespace nearfar::transitions_test {
namespace {

using namespace transitions;
using ::testing::IsEmpty;
using transitions::Event;  // not that of the simulator

constexpr unsigned kGpus = 3;
constexpr std::uint64_t kLines[] = {0x1000, 0x1040};  ///< of one block
constexpr std::uint64_t kElsewhere = 0x8000;          ///< in another, of the same set
using State = std::vector<std::set<unsigned>>;        ///< the sharers of each line

template <class Enum>
std::string_view text(Enum value, std::span<const std::string_view> names) {
  return names[static_cast<std::size_t>(value)];
}

/// Room for the block; for both of its lines, where each is an entry.
Home make(Organization organization, unsigned home, std::uint32_t entries) {
  const DirectoryHome at = home_at(home, kGpus);
  switch (organization) {
    case Organization::Line: return line_home(directory_of(entries, entries), at);
    case Organization::Hmg: return hmg_home(directory_of(1, 1), at, 2);
    case Organization::Rec: break;
  }
  return rec_home(directory_of(1, 1), at, 2);
}

struct Case {
  Organization organization;
  unsigned home;
  State state;
  Event event;
  unsigned line;       ///< index of kLines
  unsigned requester;  ///< the home itself for what is local

  /// Lines that the event acts on.
  std::vector<unsigned> lines() const {
    const bool all = event == Event::PageDrop || (event == Event::Replacement && organization != Organization::Line);
    return all ? std::vector<unsigned>{0, 1} : std::vector<unsigned>{line};
  }
};

std::ostream& operator<<(std::ostream& stream, const Case& c) {
  stream << text(c.organization, kOrganizations) << ", home " << c.home << ", " << text(c.event, kEvents) << " by "
         << c.requester << " of line " << c.line << ", sharers";
  for (const auto& sharers : c.state) stream << " " << ::testing::PrintToString(sharers);
  return stream;
}

Before before(const Case& c, unsigned line) {
  const std::set<unsigned>& sharers = c.state[line];
  if (sharers.empty()) {
    return c.organization == Organization::Rec && !c.state[1 - line].empty() ? Before::Untracked : Before::NoEntry;
  }
  if (!sharers.contains(c.requester)) return Before::Others;
  return sharers.size() == 1 ? Before::Requester : Before::RequesterAndOthers;
}

/// The one row that speaks about a line in a state; its index.
std::size_t row_for(const Case& c, unsigned line) {
  std::vector<std::size_t> found;
  for (std::size_t i = 0; i < kTransitions.size(); ++i) {
    const Transition& row = kTransitions[i];
    const bool others = !c.state[1 - line].empty();
    if (row.organization == c.organization && row.event == c.event && row.before == before(c, line) &&
        (row.other_lines == OtherLines::Any || (row.other_lines == OtherLines::Some) == others)) {
      found.push_back(i);
    }
  }
  EXPECT_EQ(found.size(), 1U) << c;
  return found.empty() ? 0 : found.front();
}

std::set<unsigned> sharers_after(const Transition& row, std::set<unsigned> sharers, unsigned requester) {
  switch (row.after) {
    case After::NoEntry:
    case After::Untracked: return {};
    case After::Same: return sharers;
    case After::Requester: return {requester};
    case After::WithRequester: sharers.insert(requester); return sharers;
  }
  return {};
}

Home::Texts messages_of(const Transition& row, const Case& c, unsigned line) {
  Home::Texts out;
  if (row.invalidated == Invalidated::Nobody) return out;
  for (const unsigned gpu : c.state[line]) {
    if (row.invalidated == Invalidated::AllButRequester && gpu == c.requester) continue;
    out.push_back(fmt::format("{} to {}{}",
                              row.extent == Extent::Block ? "0x1000..0x1040" : fmt::format("{:#x}", kLines[line]), gpu,
                              c.event == Event::Replacement ? ", evicted" : ""));
  }
  return out;
}

Home::Texts perform(Home& home, const Case& c) {
  switch (c.event) {
    case Event::LocalRead:
    case Event::RemoteRead: return home.read(c.requester, kLines[c.line]);
    case Event::LocalWrite:
    case Event::RemoteWrite: return home.write(c.requester, kLines[c.line]);
    case Event::Replacement: return home.read((c.home + 1) % kGpus, kElsewhere);
    case Event::PageDrop: home.drop_page(kLines[0]); return {};
  }
  return {};
}

bool has_entry(Organization organization, const State& state, unsigned line) {
  return !state[line].empty() || (organization != Organization::Line && !state[1 - line].empty());
}

std::uint64_t entries(Organization organization, const State& state) {
  if (organization != Organization::Line) return has_entry(organization, state, 0) ? 1 : 0;
  return std::uint64_t{!state[0].empty()} + !state[1].empty();
}

/// What the rows say of the state after a case, and of its messages.
struct Expected {
  State state;
  Home::Texts sent;
};

Expected expected_of(const Case& c, std::set<std::size_t>& met) {
  Expected expected{c.state, {}};
  for (const unsigned line : c.lines()) {
    const std::size_t index = row_for(c, line);
    met.insert(index);
    const Transition& row = kTransitions[index];
    expected.state[line] = sharers_after(row, c.state[line], c.requester);
    const bool is_block = c.organization == Organization::Hmg;
    if (is_block) expected.state[1 - line] = expected.state[line];
    if (is_block && line != c.line) continue;  // one message for all of it
    const Home::Texts messages = messages_of(row, c, line);
    expected.sent.insert(expected.sent.end(), messages.begin(), messages.end());
  }
  for (const unsigned line : c.lines()) {
    const After after = kTransitions[row_for(c, line)].after;
    const bool entry = has_entry(c.organization, expected.state, line);
    EXPECT_FALSE(after == After::NoEntry && entry) << c;
    EXPECT_FALSE(after == After::Untracked && !entry) << c;
  }
  return expected;
}

void check(const Case& c, std::set<std::size_t>& met) {
  // An entry is replaced where the directory is full with it.
  Home home = make(c.organization, c.home, c.event == Event::Replacement ? 1 : 2);
  for (unsigned line = 0; line < 2; ++line) {
    for (const unsigned gpu : c.state[line]) EXPECT_THAT(home.read(gpu, kLines[line]), IsEmpty());
  }
  const Expected expected = expected_of(c, met);
  EXPECT_EQ(perform(home, c), expected.sent) << c;
  for (unsigned line = 0; line < 2; ++line) {
    const std::set<unsigned>& sharers = expected.state[line];
    EXPECT_EQ(home.sharers(kLines[line]), std::vector<unsigned>(sharers.begin(), sharers.end())) << c;
  }
  const std::uint64_t newcomer = c.event == Event::Replacement ? 1 : 0;
  EXPECT_EQ(home.directory().used(), entries(c.organization, expected.state) + newcomer) << c;
  home.directory().check();
}

/// The states of two lines that a directory can tell apart.
std::vector<State> states(Organization organization, unsigned home) {
  std::vector<std::set<unsigned>> subsets;
  const unsigned one = (home + 1) % kGpus;
  const unsigned other = (home + 2) % kGpus;
  for (const std::set<unsigned>& each : {std::set<unsigned>{}, {one}, {other}, {one, other}}) subsets.push_back(each);
  std::vector<State> all;
  for (const auto& first : subsets) {
    for (const auto& second : subsets) {
      if (organization != Organization::Hmg || first == second) all.push_back({first, second});
    }
  }
  return all;
}

/// Every event that can happen in a state.
std::vector<Case> cases(Organization organization, unsigned home, const State& state) {
  std::vector<Case> all;
  for (unsigned line = 0; line < 2; ++line) {
    for (const Event local : {Event::LocalRead, Event::LocalWrite}) {
      all.push_back({organization, home, state, local, line, home});
    }
    for (unsigned gpu = 0; gpu < kGpus; ++gpu) {
      if (gpu == home) continue;
      for (const Event remote : {Event::RemoteRead, Event::RemoteWrite}) {
        all.push_back({organization, home, state, remote, line, gpu});
      }
    }
    // One entry, which is replaced.
    const bool alone = organization != Organization::Line || state[1 - line].empty();
    if (alone && has_entry(organization, state, line)) {
      all.push_back({organization, home, state, Event::Replacement, line, home});
    }
  }
  all.push_back({organization, home, state, Event::PageDrop, 0, home});
  return all;
}

TEST(Transitions, OfEveryDirectoryAreThoseOfTheTable) {
  std::set<std::size_t> met;
  unsigned tried = 0;
  for (const Organization organization : {Organization::Line, Organization::Hmg, Organization::Rec}) {
    for (unsigned home = 0; home < kGpus; ++home) {
      for (const State& state : states(organization, home)) {
        for (const Case& c : cases(organization, home, state)) {
          check(c, met);
          ++tried;
        }
      }
    }
  }
  EXPECT_GT(tried, 1000U);
  for (std::size_t row = 0; row < kTransitions.size(); ++row) {
    EXPECT_TRUE(met.contains(row)) << "no state meets row " << row << ", " << kTransitions[row].rule;
  }
}

std::string csv() {
  std::string out = "organization,rule,event,before,other lines,after,invalidated,extent\n";
  for (const Transition& row : kTransitions) {
    out += fmt::format("{},{},{},{},{},{},{},{}\n", text(row.organization, kOrganizations), row.rule,
                       text(row.event, kEvents), text(row.before, kBefore), text(row.other_lines, kOtherLines),
                       text(row.after, kAfter), text(row.invalidated, kInvalidated), text(row.extent, kExtents));
  }
  return out;
}

/// `NEARFAR_GOLDEN=write` writes the file anew.
TEST(Transitions, AreExportedForModels) {
  const std::filesystem::path path = NEARFAR_SOURCE_DIR "/tests/models/transitions.csv";
  const char* mode = std::getenv("NEARFAR_GOLDEN");
  if (mode != nullptr && std::string_view(mode) == "write") std::ofstream(path) << csv();
  std::ifstream file(path);
  std::stringstream kept;
  kept << file.rdbuf();
  EXPECT_EQ(kept.str(), csv());
}

}  // namespace
}  // namespace nearfar::transitions_test

#include "cli/table.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <sstream>

#include "config/words.h"

namespace nearfar::table_test {
namespace {

const Terminal kPipe;

TEST(Table, AlignsColumnsAndLeavesNoSpacesAtTheEnd) {
  Table table({{"name"}, {"value", Align::Right}, {"note"}});
  table.row({"cycles", "1,000", "long"});
  table.row({"l1", "7"});
  EXPECT_EQ(table.text(kPipe),
            "name    value  note\n"
            "cycles  1,000  long\n"
            "l1          7\n");
}

TEST(Table, WithoutTitlesHasNoTitleLine) {
  Table table({{""}, {""}}, 2);
  table.row({"a", "b"});
  table.blank_line();
  table.row({"cc", "d"});
  EXPECT_EQ(table.text(kPipe), "  a   b\n\n  cc  d\n");
}

TEST(Table, CountsCharactersNotBytes) {
  Table table({{""}, {""}});
  table.row({"µs", "x"});
  table.row({"ms", "y"});
  EXPECT_EQ(table.text(kPipe), "µs  x\nms  y\n");
}

TEST(Table, BreaksTheLastColumnOnANarrowTerminal) {
  Table table({{""}, {""}});
  table.row({"key", "one two three four five six"});
  const Terminal narrow{.interactive = true, .colour = false, .width = 25};
  EXPECT_EQ(table.text(narrow),
            "key  one two three four\n"
            "     five six\n");
}

TEST(Table, BreaksEveryColumnOfWordsOnANarrowTerminal) {
  Table table({{"claim"}, {"value", Align::Right}, {"remark"}});
  table.row({"a sentence of a few words", "1.25", "another sentence of words"});
  const Terminal narrow{.interactive = true, .colour = false, .width = 44};
  EXPECT_EQ(table.text(narrow),
            "claim               value  remark\n"  // 18 and 17 columns are left for words
            "a sentence of a      1.25  another sentence\n"
            "few words                  of words\n");
}

TEST(Table, DoesNotBreakInAPipe) {
  Table table({{""}, {""}});
  const std::string sentence(500, 'x');
  table.row({"key", sentence + " " + sentence});
  EXPECT_EQ(table.text(kPipe), "key  " + sentence + " " + sentence + "\n");
}

TEST(Table, PaintsCellsNotTheSpaceBetween) {
  Table table({{"", Align::Right, Tint::Cyan}, {""}});
  table.row({"a", "b"});
  table.row({"aa", "b"});
  const Terminal colourful{.interactive = true, .colour = true, .width = 0};
  EXPECT_EQ(table.text(colourful), " \x1b[36ma\x1b[0m  b\n\x1b[36maa\x1b[0m  b\n");
}

RC_GTEST_PROP(Table, EveryColumnStartsAtOnePlace, (const std::vector<std::pair<std::uint16_t, std::uint16_t>>& rows)) {
  Table table({{"number"}, {"other", Align::Right}, {"end"}});
  for (const auto& [a, b] : rows) table.row({std::to_string(a), std::to_string(b), "|"});
  std::istringstream lines(table.text(kPipe));
  std::string line;
  std::getline(lines, line);
  const std::size_t end = line.find("end");
  for (const auto& [a, b] : rows) {
    RC_ASSERT(static_cast<bool>(std::getline(lines, line)));
    RC_ASSERT(line.find('|') == end);
    RC_ASSERT(line.starts_with(std::to_string(a) + " "));
    RC_ASSERT(line.substr(0, end - 2).ends_with(" " + std::to_string(b)));
  }
}

}  // namespace
}  // namespace nearfar::table_test

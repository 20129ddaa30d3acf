// Builds the tree from libfyaml's events. The library's own document builder is not used: stopping at the first thing
// that does not belong keeps hostile input (alias bombs, endless nesting) from ever being expanded.
#include "config/yaml.h"

#include <fmt/format.h>
#include <libfyaml.h>

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

#include "config/error.h"

namespace nearfar {
namespace {

constexpr unsigned kDeepestNesting = 32;
constexpr std::size_t kMostOpenBrackets = 1000;

struct DiagDeleter {
  void operator()(fy_diag* diag) const { fy_diag_destroy(diag); }
};
struct ParserDeleter {
  void operator()(fy_parser* parser) const { fy_parser_destroy(parser); }
};
struct EventDeleter {
  fy_parser* parser = nullptr;
  void operator()(fy_event* event) const { fy_parser_event_free(parser, event); }
};
using Event = std::unique_ptr<fy_event, EventDeleter>;

void stay_silent(fy_diag*, void*, const char*, size_t) {}

class Reader {
 public:
  Reader(std::shared_ptr<const Source> source, const YamlSubject& subject)
      : source_(std::move(source)), subject_(subject) {
    fy_diag_cfg diag_config;
    fy_diag_cfg_default(&diag_config);
    diag_config.fp = nullptr;
    diag_config.output_fn = stay_silent;
    diag_.reset(fy_diag_create(&diag_config));
    fy_diag_set_collect_errors(diag_.get(), true);
    fy_parse_cfg config{};
    config.flags = FYPCF_QUIET;
    config.diag = diag_.get();
    parser_.reset(fy_parser_create(&config));
    fy_parser_set_string(parser_.get(), source_->text.data(), source_->text.size());
  }

  YamlNode document() {
    next();  // stream start
    Event start = next();
    if (start->type == FYET_STREAM_END) {
      fail(whole(), fmt::format("the file is empty; a {} is a mapping of keys to values.", subject_.name));
    }
    Event first = next();
    YamlNode root = node(*first, 1, whole());
    if (root.kind != YamlNode::Kind::Mapping) {
      fail(root.place,
           root.kind == YamlNode::Kind::Sequence
               ? fmt::format("a {} is a mapping of keys to values, not a list.", subject_.name)
               : fmt::format("a {} is a mapping of keys to values, such as `{}`.", subject_.name, subject_.example));
    }
    next();  // document end
    Event after = next();
    if (after->type != FYET_STREAM_END) {
      fail(place_of(after->document_start.document_start, whole()),
           fmt::format("a second document begins; a {} is one.", subject_.name));
    }
    return root;
  }

 private:
  [[noreturn]] static void fail(const Place& place, std::string_view message) { fail_at(place, message); }

  Place whole() const { return {source_, 0, 1}; }

  Event next() {
    Event event(fy_parser_parse(parser_.get()), EventDeleter{parser_.get()});
    if (!event) fail_with_diagnosis();
    return event;
  }

  [[noreturn]] void fail_with_diagnosis() {
    void* iterator = nullptr;
    const fy_diag_error* error = fy_diag_errors_iterate(diag_.get(), &iterator);
    if (error == nullptr || error->msg == nullptr) fail(whole(), "this is not YAML.");
    fail(place_of(error->fyt, whole()), fmt::format("this is not YAML: {}.", error->msg));
  }

  /// Where a token stands; `otherwise` for the tokens that stand nowhere.
  Place place_of(fy_token* token, const Place& otherwise) const {
    const fy_mark* begin = token == nullptr ? nullptr : fy_token_start_mark(token);
    const fy_mark* end = token == nullptr ? nullptr : fy_token_end_mark(token);
    if (begin == nullptr) return otherwise;
    const std::size_t length =
        end == nullptr || end->input_pos <= begin->input_pos ? 1 : end->input_pos - begin->input_pos;
    return {source_, begin->input_pos, length};
  }

  /// The same with the & or * before the name.
  Place sigil_of(fy_token* token, const Place& otherwise) const {
    Place place = place_of(token, otherwise);
    if (place.offset > 0 && std::string_view("&*").find(source_->text[place.offset - 1]) != std::string_view::npos) {
      --place.offset;
      ++place.length;
    }
    return place;
  }

  static std::string text_of(fy_token* token) {
    if (token == nullptr) return "";
    std::size_t length = 0;
    const char* text = fy_token_get_text(token, &length);
    return text == nullptr ? "" : std::string(text, length);
  }

  void refuse_properties(fy_token* anchor, fy_token* tag, const Place& near) const {
    if (anchor != nullptr)
      fail(sigil_of(anchor, near),
           fmt::format("anchors (&) are not used in {}; {}.", subject_.plural, subject_.instead_of_anchors));
    if (tag != nullptr) fail(place_of(tag, near), fmt::format("tags (!) are not used in {}.", subject_.plural));
  }

  YamlNode node(fy_event& event, unsigned depth, const Place& near) {
    YamlNode result;
    result.place = near;
    switch (event.type) {
      case FYET_SCALAR:
        result.place = place_of(event.scalar.value, near);
        refuse_properties(event.scalar.anchor, event.scalar.tag, result.place);
        result.text = text_of(event.scalar.value);
        break;
      case FYET_MAPPING_START:
        result.place = place_of(event.mapping_start.mapping_start, near);
        refuse_properties(event.mapping_start.anchor, event.mapping_start.tag, result.place);
        read_mapping(result, depth);
        break;
      case FYET_SEQUENCE_START:
        result.place = place_of(event.sequence_start.sequence_start, near);
        refuse_properties(event.sequence_start.anchor, event.sequence_start.tag, result.place);
        read_sequence(result, depth);
        break;
      case FYET_ALIAS:
        fail(sigil_of(event.alias.anchor, near),
             fmt::format("aliases (*) are not used in {}; {}.", subject_.plural, subject_.instead_of_anchors));
      default: fail(near, "a value is missing here.");
    }
    return result;
  }

  void check_depth(const YamlNode& node, unsigned depth) const {
    if (depth > kDeepestNesting)
      fail(node.place, fmt::format("this is nested deeper than {} levels.", kDeepestNesting));
  }

  void read_mapping(YamlNode& mapping, unsigned depth) {
    check_depth(mapping, depth);
    mapping.kind = YamlNode::Kind::Mapping;
    std::map<std::string, Place> seen;
    for (Event event = next(); event->type != FYET_MAPPING_END; event = next()) {
      if (event->type != FYET_SCALAR && event->type != FYET_ALIAS) fail(mapping.place, "a key must be a plain word.");
      YamlNode key = node(*event, depth + 1, mapping.place);
      const auto [first, fresh] = seen.emplace(key.text, key.place);
      if (!fresh) {
        fail(key.place, fmt::format("`{}` is given twice; the first is in line {}.", key.text, first->second.line()));
      }
      Event value = next();
      YamlNode below = node(*value, depth + 1, key.place);
      mapping.entries.push_back({std::move(key.text), std::move(key.place), std::move(below)});
    }
  }

  void read_sequence(YamlNode& sequence, unsigned depth) {
    check_depth(sequence, depth);
    sequence.kind = YamlNode::Kind::Sequence;
    for (Event event = next(); event->type != FYET_SEQUENCE_END; event = next())
      sequence.items.push_back(node(*event, depth + 1, sequence.place));
  }

  std::shared_ptr<const Source> source_;
  YamlSubject subject_;
  std::unique_ptr<fy_diag, DiagDeleter> diag_;
  std::unique_ptr<fy_parser, ParserDeleter> parser_;
};

/// The library reads ahead over a whole line of brackets before it reports the first. Quotes and comments are not told
/// apart here, hence the generous limit.
void refuse_bracket_bombs(const std::shared_ptr<const Source>& source) {
  std::size_t open = 0;
  for (std::size_t at = 0; at < source->text.size(); ++at) {
    const char c = source->text[at];
    if (c == '[' || c == '{') ++open;
    if ((c == ']' || c == '}') && open > 0) --open;
    if (open > kMostOpenBrackets)
      fail_at({source, at, 1}, fmt::format("more than {} brackets are open.", kMostOpenBrackets));
  }
}

void refuse_directives(const std::shared_ptr<const Source>& source, const YamlSubject& subject) {
  const std::string& text = source->text;
  for (std::size_t at = 0; at != std::string::npos && at < text.size();) {
    if (text[at] == '%') {
      fail_at({source, at, 1}, fmt::format("directives (%) are not used in {}.", subject.plural));
    }
    const std::size_t end = text.find('\n', at);
    at = end == std::string::npos ? end : end + 1;
  }
}

}  // namespace

const YamlNode* YamlNode::find(std::string_view key) const {
  const auto found = std::ranges::find(entries, key, &YamlEntry::key);
  return found == entries.end() ? nullptr : &found->value;
}

YamlNode parse_yaml(const std::shared_ptr<const Source>& source, const YamlSubject& subject) {
  refuse_directives(source, subject);
  refuse_bracket_bombs(source);
  return Reader(source, subject).document();
}

}  // namespace nearfar

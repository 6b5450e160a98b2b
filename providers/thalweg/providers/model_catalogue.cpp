// SPDX-License-Identifier: BSL-1.0

#include <thalweg/providers/model_catalogue.hpp>

#include <thalweg/protocol/json.hpp>
#include <thalweg/protocol/nearest.hpp>
#include <thalweg/providers/detail/known_models.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <fstream>
#include <utility>

namespace thalweg::providers {

namespace {

bool is_digit(char c) noexcept {
    return c >= '0' && c <= '9';
}
bool is_letter(char c) noexcept {
    return c >= 'a' && c <= 'z';
}

/// The form that names are compared in.
std::string folded(std::string_view name) {
    std::string made(name);
    for (char& c : made) {
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
        if (c == '.' || c == '_') c = '-';
    }
    return made;
}

/// Without what gateways put in front: the folders of a path, then words of letters that end with a dot.
std::string_view bare(std::string_view model) noexcept {
    if (const auto slash = model.rfind('/'); slash != std::string_view::npos) model.remove_prefix(slash + 1);
    for (std::size_t at = 0; at < model.size(); ++at) {
        if (model[at] == '.' && at > 0) {
            model.remove_prefix(at + 1);
            at = static_cast<std::size_t>(-1);
        } else if (!is_letter(static_cast<char>(model[at] | 0x20))) {
            break;
        }
    }
    return model;
}

std::size_t digits_at(std::string_view text, std::size_t at) noexcept {
    std::size_t end = at;
    while (end < text.size() && is_digit(text[end]))
        ++end;
    return end - at;
}

/// Whether `model` is a date, a variant or a tag of `name`, and no other version of it.
bool goes_on_from(std::string_view model, std::string_view name) noexcept {
    if (!model.starts_with(name)) return false;
    const std::string_view rest = model.substr(name.size());
    if (rest.empty() || name.ends_with(':')) return true;
    if (rest.front() == ':' || rest.front() == '@') return true;
    if (rest.front() != '-') return false;
    const std::size_t digits = digits_at(rest, 1);
    const std::size_t end = 1 + digits;
    const bool is_number = end == rest.size() || rest[end] == '-' || rest[end] == ':';
    if (!is_number || digits > 2) return true;
    return end < rest.size() && digits_at(rest, end + 1) == 4; // month and year
}

model_facts facts_of(const detail::known_model& row) {
    model_facts made;
    made.name = row.name.ends_with(':') ? row.name.substr(0, row.name.size() - 1) : row.name;
    if (row.window > 0) made.context_window = row.window;
    if (row.output > 0) made.longest_output = row.output;
    made.sees_images = row.sees;
    made.makes_images = row.makes;
    made.calls_tools = row.tools;
    if (row.thinking != detail::known_thinking::unknown) {
        made.thinking = static_cast<thinking_habit>(row.thinking);
        std::vector<std::string>& levels = made.thinking_levels.emplace();
        for (std::string_view left = row.levels; !left.empty();) {
            const std::size_t end = std::min(left.find(' '), left.size());
            levels.emplace_back(left.substr(0, end));
            left.remove_prefix(std::min(end + 1, left.size()));
        }
        if (levels.empty() && *made.thinking != thinking_habit::never) made.thinking_levels.reset();
    }
    return made;
}

template <class T>
void replace_if_set(std::optional<T>& what, const std::optional<T>& by) {
    if (by) what = by;
}

/// Reads the members of one model and keeps the first mistake.
class facts_reader {
public:
    facts_reader(std::string_view whole, std::string_view model) : whole_(whole), model_(model) {}

    model_facts read(json::view value) {
        model_facts made;
        if (!value.is_object()) reject(value, {}, "an object");
        for (const json::member& each : value.members())
            read_member(made, each);
        return made;
    }
    [[nodiscard]] const std::string& complaint() const noexcept { return complaint_; }

private:
    static constexpr std::array<std::string_view, 7> members{
        "context_window", "longest_output", "sees_images",    "makes_images",
        "calls_tools",    "thinking",       "thinking_levels"};

    void read_member(model_facts& into, const json::member& each) {
        const std::string_view key = each.key;
        if (key == "context_window") return read_tokens(into.context_window, each);
        if (key == "longest_output") return read_tokens(into.longest_output, each);
        if (key == "sees_images") return read_flag(into.sees_images, each);
        if (key == "makes_images") return read_flag(into.makes_images, each);
        if (key == "calls_tools") return read_flag(into.calls_tools, each);
        if (key == "thinking") return read_habit(into.thinking, each);
        if (key == "thinking_levels") return read_levels(into.thinking_levels, each);
        if (!complaint_.empty()) return;
        complaint_ = "the member \"" + std::string(key) + "\" at byte " + place_of(each.key_raw) + " (" +
                     std::string(model_) + ") is not known" + did_you_mean(key, members);
    }
    void read_tokens(std::optional<std::int64_t>& into, const json::member& each) {
        into = each.value.as_int();
        if (!into || *into <= 0) reject(each.value, each.key, "a number of tokens");
    }
    void read_flag(std::optional<bool>& into, const json::member& each) {
        into = each.value.as_bool();
        if (!into) reject(each.value, each.key, "true or false");
    }
    void read_habit(std::optional<thinking_habit>& into, const json::member& each) {
        const auto word = each.value.as_string();
        if (word == "never") into = thinking_habit::never;
        if (word == "optional") into = thinking_habit::optional;
        if (word == "always") into = thinking_habit::always;
        if (!into) reject(each.value, each.key, "\"never\", \"optional\" or \"always\"");
    }
    void read_levels(std::optional<std::vector<std::string>>& into, const json::member& each) {
        into.emplace();
        if (!each.value.is_array()) reject(each.value, each.key, "an array of strings");
        for (const json::view level : each.value.elements()) {
            auto word = level.as_string();
            if (!word) reject(level, each.key, "a string");
            into->push_back(std::move(word).value_or(std::string()));
        }
    }
    [[nodiscard]] std::string place_of(std::string_view part) const {
        return std::to_string(part.data() - whole_.data());
    }
    void reject(json::view at, std::string_view member, std::string_view expected) {
        if (!complaint_.empty()) return;
        complaint_ = "expected " + std::string(expected) + " at byte " + place_of(at.raw()) + " (" +
                     std::string(model_);
        if (!member.empty()) complaint_.append(", ").append(member);
        complaint_ += ")";
    }

    std::string_view whole_;
    std::string_view model_;
    std::string complaint_;
};

} // namespace

model_catalogue::model_catalogue() {
    for (const detail::known_model& row : detail::known_model_rows())
        models_.emplace(folded(row.name), facts_of(row));
}

model_catalogue model_catalogue::empty() {
    return model_catalogue(nothing());
}

model_facts model_catalogue::find(std::string_view model) const {
    for (const std::string_view each : {model, bare(model)}) {
        const std::string wanted = folded(each);
        if (const auto tagged = models_.find(wanted + ':'); tagged != models_.end()) return tagged->second;
        // Names that it may go on from are its own first bytes, so they stand before it; the longest is last.
        for (auto at = models_.upper_bound(wanted); at != models_.begin();) {
            --at;
            if (goes_on_from(wanted, at->first)) return at->second;
            if (at->first.empty() || at->first.front() != wanted.front()) break;
        }
    }
    return {};
}

void model_catalogue::add(std::string_view name, const model_facts& facts) {
    model_facts made = find(name);
    made.name = name;
    replace_if_set(made.context_window, facts.context_window);
    replace_if_set(made.longest_output, facts.longest_output);
    replace_if_set(made.sees_images, facts.sees_images);
    replace_if_set(made.makes_images, facts.makes_images);
    replace_if_set(made.calls_tools, facts.calls_tools);
    replace_if_set(made.thinking, facts.thinking);
    replace_if_set(made.thinking_levels, facts.thinking_levels);
    models_.insert_or_assign(folded(name), std::move(made));
}

result<void> model_catalogue::add_json(std::string_view text) {
    BOOST_OUTCOME_TRY(const json::view whole, json::parse(text));
    if (!whole.is_object())
        return failure(json::errc::shape, "expected an object with a member for each model at byte 0");
    std::vector<std::pair<std::string, model_facts>> read;
    for (const json::member& each : whole.members()) {
        facts_reader reader(text, each.key);
        read.emplace_back(each.key.str(), reader.read(each.value));
        if (read.back().first.empty()) return failure(json::errc::shape, "a model has an empty name");
        if (!reader.complaint().empty()) return failure(json::errc::shape, reader.complaint());
    }
    for (const auto& [name, facts] : read)
        add(name, facts);
    return BOOST_OUTCOME_V2_NAMESPACE::success();
}

result<void> model_catalogue::add_file(const std::string& path) {
    errno = 0;
    std::ifstream file(path, std::ios::binary);
    std::string text;
    std::array<char, 4096> piece;
    while (file.read(piece.data(), piece.size()) || file.gcount() > 0)
        text.append(piece.data(), static_cast<std::size_t>(file.gcount()));
    if (!file.eof()) {
        const std::error_code why(errno != 0 ? errno : EIO, std::generic_category());
        return failure(why, "the models in " + path + " cannot be read: " + why.message());
    }
    auto done = add_json(text);
    if (done) return done;
    return failure(done.error().code(),
                   "the models in " + path + " cannot be read: " + done.error().message());
}

std::vector<std::string_view> model_catalogue::names() const {
    std::vector<std::string_view> all;
    for (const auto& [key, facts] : models_)
        all.push_back(facts.name);
    return all;
}

const model_catalogue& known_models() {
    static const model_catalogue known;
    return known;
}

std::int64_t compaction_limit(const model_facts& facts) noexcept {
    if (!facts.context_window) return -1;
    const std::int64_t window = *facts.context_window;
    return window - std::clamp(facts.longest_output.value_or(0), window / 10, window / 3);
}

std::int64_t compaction_limit(std::string_view model) {
    return compaction_limit(known_models().find(model));
}

bool can_see_images(const model_facts& facts) noexcept {
    return facts.sees_images.value_or(true);
}

bool can_see_images(std::string_view model) {
    return can_see_images(known_models().find(model));
}

} // namespace thalweg::providers

// SPDX-License-Identifier: BSL-1.0

#include <thalweg/wire/history.hpp>

#include <thalweg/protocol/utf8.hpp>

#include <algorithm>
#include <cstdint>

namespace thalweg::wire {

namespace {

bool is_assistant(const message& m) {
    switch (m.kind()) {
    case kind::text:
    case kind::inline_data: return m.role() == role::assistant;
    case kind::thinking:
    case kind::inline_thinking:
    case kind::tool_call: return true;
    default: return false;
    }
}

bool is_user(const message& m) {
    return m.kind() == kind::image_url ||
           ((m.kind() == kind::text || m.kind() == kind::inline_data) && !is_assistant(m));
}

bool is_alphanumeric(char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

} // namespace

const message* exchanged::result_of(const message& call) const noexcept {
    const auto answers = [&call](const message* each) { return each->tool_call_id() == call.tool_call_id(); };
    const auto found = std::find_if(outputs.begin(), outputs.end(), answers);
    return found == outputs.end() ? nullptr : *found;
}

std::vector<exchanged> exchanges_of(const model_request& request) {
    std::vector<exchanged> all(1);
    for (const auto part : {request.history(), request.input()}) {
        for (const message& each : part) {
            if (is_assistant(each)) {
                if (!all.back().outputs.empty() || !all.back().user.empty()) all.emplace_back();
                all.back().answer.push_back(&each);
            } else if (each.kind() == kind::tool_call_output) {
                all.back().outputs.push_back(&each);
            } else if (is_user(each)) {
                all.back().user.push_back(&each);
            }
        }
    }
    return all;
}

std::size_t running_turn(const std::vector<exchanged>& all) {
    std::size_t at = all.size();
    while (at > 0 && all[at - 1].user.empty())
        --at;
    const bool steered = at == all.size() && at > 0 && !all.back().outputs.empty();
    return steered ? at - 1 : at;
}

bool is_whole(const message& m) noexcept {
    return m.stop() == stop_reason::completed || m.stop() == stop_reason::none;
}

bool is_whole_call(const message& m) noexcept {
    return m.kind() == kind::tool_call && is_whole(m);
}

std::string_view arguments_of(const message& call) {
    const auto parsed = json::parse(call.content());
    return parsed && parsed.value().is_object() ? call.content().view() : "{}";
}

std::optional<json::view> own_fidelity(const message& m, std::string_view model, std::string_view name) {
    if (m.fidelity().empty()) return std::nullopt;
    const auto parsed = json::parse(m.fidelity());
    if (!parsed) return std::nullopt;
    const auto made_by = parsed.value().find("model");
    if (!made_by || made_by->as_string() != model) return std::nullopt;
    return parsed.value().find(name);
}

picture picture_at(std::string_view url) noexcept {
    constexpr std::string_view scheme = "data:";
    constexpr std::string_view encoding = ";base64,";
    const auto at = url.starts_with(scheme) ? url.find(encoding) : std::string_view::npos;
    if (at == std::string_view::npos) return {{}, url};
    return {url.substr(scheme.size(), at - scheme.size()), url.substr(at + encoding.size())};
}

std::optional<picture> picture_of(const message& m) noexcept {
    if (m.kind() == kind::image_url) return picture_at(m.content().view());
    const std::string_view type = m.mime_type().view();
    if (m.kind() != kind::inline_data || !type.starts_with("image/")) return std::nullopt;
    return picture{type, m.content().view()};
}

call_ids::call_ids(const message_list& answer, rule with) : rule_(with) {
    for (const message* each : answer)
        if (is_whole_call(*each)) add(*each);
}

std::string_view call_ids::of(const message& call) const {
    for (const auto& [known, id] : ids_)
        if (known == &call) return id;
    return call.tool_call_id();
}

void call_ids::add(const message& call) {
    std::string id = fitting(call.provider_id());
    if (id.empty() || is_taken(id)) id = fitting(call.tool_call_id());
    for (int next = 2; id.empty() || is_taken(id); ++next)
        id = fitting("call_" + std::to_string(ids_.size()) + "_" + std::to_string(next));
    ids_.emplace_back(&call, std::move(id));
}

bool call_ids::is_taken(std::string_view id) const {
    return std::any_of(ids_.begin(), ids_.end(), [id](const auto& each) { return each.second == id; });
}

// The id itself where it fits, else a short one that is always the same for it.
std::string call_ids::fitting(std::string_view id) const {
    constexpr std::size_t kept = 32;
    const auto fits = [this](char c) {
        if (rule_.only_alphanumeric) return is_alphanumeric(c);
        return !rule_.only_words || is_alphanumeric(c) || c == '_' || c == '-';
    };
    const bool is_short = rule_.longest == 0 || id.size() <= rule_.longest;
    if (is_short && std::all_of(id.begin(), id.end(), fits)) return std::string(id);
    std::uint64_t hash = 14695981039346656037U; // FNV-1a
    for (const char c : id)
        hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211U;
    std::string made = utf8::make_valid(id.substr(0, kept));
    std::erase_if(made, [&](char c) { return !fits(c); });
    if (rule_.only_alphanumeric)
        made = std::to_string(hash) + made; // what tells ids apart must survive the cut
    else
        made += "_" + std::to_string(hash);
    if (rule_.longest == 0 || made.size() <= rule_.longest) return made;
    return rule_.only_alphanumeric ? made.substr(0, rule_.longest) : made.substr(made.size() - rule_.longest);
}

} // namespace thalweg::wire

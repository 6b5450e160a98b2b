// SPDX-License-Identifier: BSL-1.0

#include <thalweg/providers/detail/request_key.hpp>

#include <thalweg/protocol/detail/object_writer.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <unordered_map>

namespace thalweg::providers::detail {

using thalweg::detail::object_writer;

namespace {

std::uint64_t fnv1a(std::string_view bytes) noexcept {
    std::uint64_t hash = 0xcbf29ce484222325u;
    for (const char c : bytes)
        hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
    return hash;
}

std::string digest(std::string_view bytes) {
    constexpr std::string_view digits = "0123456789abcdef";
    std::string hex(16, '0');
    std::uint64_t hash = fnv1a(bytes);
    for (auto digit = hex.rbegin(); digit != hex.rend(); ++digit, hash >>= 4)
        *digit = digits[hash & 15];
    return std::to_string(bytes.size()) + " bytes, " + hex;
}

/// Writes the parts of one request.
class describer {
public:
    describer(const redactor& secrets, const text_rewriter& rewrite) : secrets_(secrets), rewrite_(rewrite) {}

    void tools(std::string& out, std::span<const tool_definition> all) const {
        list(out, all, [&](const tool_definition& each) {
            object_writer tool(out);
            tool.string("name", each.name);
            tool.string("description", clean(each.description));
            schema(tool, "parameters", each.parameters);
            tool.close();
        });
    }

    void messages(std::string& out, std::span<const message> all) {
        list(out, all, [&](const message& each) { write(out, each); });
    }

    void schema(object_writer& object, std::string_view name, std::string_view written) const {
        const std::string kept = clean(written);
        if (written.empty()) return;
        if (json::check(kept)) {
            object.string(name, kept);
        } else {
            json::append_compact(object.key(name), kept);
        }
    }

    [[nodiscard]] std::string clean(std::string_view written) const {
        return rewrite_ ? secrets_.clean(rewrite_(written)) : secrets_.clean(written);
    }

private:
    template <class Each>
    static void list(std::string& out, auto&& all, Each&& write_one) {
        out += '[';
        for (bool first = true; const auto& each : all) {
            if (!std::exchange(first, false)) out += ',';
            write_one(each);
        }
        out += ']';
    }

    void write(std::string& out, const message& m) {
        object_writer object(out);
        object.string("kind", m.type_name());
        switch (m.kind()) {
        case kind::text:
            object.word("role", to_string(m.role()));
            object.string("text", clean(m.content()));
            break;
        case kind::thinking: object.string("thinking", clean(m.content())); break;
        case kind::tool_call:
            object.string("call", number_of(m.tool_call_id()));
            object.string("name", m.name());
            object.string("arguments", clean(m.content()));
            break;
        case kind::tool_call_output:
            object.string("call", number_of(m.tool_call_id()));
            object.string("output", clean(m.content()));
            break;
        case kind::image_url: object.string("image_url", picture(m.content())); break;
        case kind::inline_data:
        case kind::inline_thinking:
            object.word("role", to_string(m.role()));
            object.string("mime_type", m.mime_type());
            object.string("data", digest(m.content()));
            break;
        default: write_other(object, m); break;
        }
        if (m.stop() != stop_reason::completed && m.stop() != stop_reason::none)
            object.word("stop", to_string(m.stop()));
        if (!m.images().empty())
            list(object.key("images"), m.images(),
                 [&](const text& each) { json::append_string(out, picture(each)); });
        object.close();
    }

    /// What is of no kind that we know: its payload, as it is on the wire.
    void write_other(object_writer& object, const message& m) const {
        const std::string wire = to_json(m);
        const auto parsed = json::parse(wire);
        const auto payload = parsed ? parsed.value().find("payload") : std::nullopt;
        schema(object, "payload", payload ? payload->raw() : std::string_view(wire));
    }

    [[nodiscard]] std::string picture(std::string_view url) const {
        if (!url.starts_with("data:")) return clean(url);
        return std::string(url.substr(0, url.find(','))) + ", " + digest(url);
    }

    [[nodiscard]] std::string number_of(const text& id) {
        const auto found = numbers_.try_emplace(id, numbers_.size() + 1).first;
        return "#" + std::to_string(found->second);
    }

    const redactor& secrets_;
    const text_rewriter& rewrite_;
    std::unordered_map<text, std::size_t> numbers_;
};

constexpr std::size_t excerpt_before = 24;
constexpr std::size_t excerpt_length = 72;

bool is_inside_character(std::string_view text, std::size_t at) noexcept {
    return at < text.size() && (static_cast<unsigned char>(text[at]) & 0xc0) == 0x80;
}

/// The surroundings of byte `at`, in quotes.
std::string excerpt(std::string_view text, std::size_t at) {
    std::size_t begin = at > excerpt_before ? at - excerpt_before : 0;
    while (begin > 0 && is_inside_character(text, begin))
        --begin;
    std::size_t end = std::min(text.size(), begin + excerpt_length);
    while (is_inside_character(text, end))
        ++end;
    std::string quoted;
    json::append_string(quoted, text.substr(begin, end - begin));
    if (begin > 0) quoted.insert(1, "…");
    if (end < text.size()) quoted.insert(quoted.size() - 1, "…");
    return quoted;
}

} // namespace

std::string describe_request(const model_request& request, const redactor& secrets,
                             const text_rewriter& rewrite) {
    describer describe(secrets, rewrite);
    std::string out;
    object_writer object(out);
    object.string("system", describe.clean(request.system()));
    object.string("thinking_level", request.thinking_level());
    describe.schema(object, "response_schema", request.response_schema());
    describe.tools(object.key("tools"), request.tools());
    describe.messages(object.key("history"), request.history());
    describe.messages(object.key("input"), request.input());
    object.close();
    return out;
}

request_key::request_key(json::view request) {
    add(request, {});
}

void request_key::add(json::view value, const std::string& path) {
    bool has_parts = false;
    for (const json::member& each : value.members()) {
        has_parts = true;
        add(each.value, path.empty() ? each.key.str() : path + "." + each.key.str());
    }
    std::size_t n = 0;
    for (const json::view each : value.elements()) {
        has_parts = true;
        add(each, path + "[" + std::to_string(n++) + "]");
    }
    if (has_parts) return;
    std::string written = value.is_object() ? "{}" : value.is_array() ? "[]" : std::string(value.raw());
    if (auto words = value.as_string()) written = std::move(*words);
    leaves_.push_back({path, std::move(written)});
}

std::string request_key::joined() const {
    std::string all;
    for (const request_leaf& each : leaves_) {
        for (const std::string* part : {&each.path, &each.value}) {
            all += std::to_string(part->size());
            all += ':';
            all += *part;
        }
    }
    return all;
}

std::size_t request_key::distance(const request_key& other) const noexcept {
    const auto& a = leaves_;
    const auto& b = other.leaves_;
    const std::size_t shorter = std::min(a.size(), b.size());
    const auto split = std::mismatch(a.begin(), a.end(), b.begin(), b.end());
    const auto in_front = static_cast<std::size_t>(split.first - a.begin());
    std::size_t behind = 0;
    while (in_front + behind < shorter && a[a.size() - 1 - behind].value == b[b.size() - 1 - behind].value)
        ++behind;
    return std::max(a.size(), b.size()) - in_front - behind;
}

std::string request_key::first_difference(const request_key& asked) const {
    const auto& a = leaves_;
    const auto& b = asked.leaves_;
    const auto [mine, theirs] = std::mismatch(a.begin(), a.end(), b.begin(), b.end());
    if (mine == a.end()) return "at " + theirs->path + ": not recorded, asked " + excerpt(theirs->value, 0);
    if (theirs == b.end())
        return "at " + mine->path + ": recorded " + excerpt(mine->value, 0) + ", not asked";
    if (mine->path != theirs->path) {
        return "recorded " + mine->path + " " + excerpt(mine->value, 0) + ", asked " + theirs->path + " " +
               excerpt(theirs->value, 0);
    }
    const auto split = std::mismatch(mine->value.begin(), mine->value.end(), theirs->value.begin(),
                                     theirs->value.end());
    const auto at = static_cast<std::size_t>(split.first - mine->value.begin());
    return "at " + mine->path + ": recorded " + excerpt(mine->value, at) + ", asked " +
           excerpt(theirs->value, at);
}

} // namespace thalweg::providers::detail

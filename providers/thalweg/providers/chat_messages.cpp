// SPDX-License-Identifier: BSL-1.0

// The value of `messages`: complete messages of the session, in the order for the model, become messages of
// the Chat Completions form.

#include <thalweg/providers/chat_request.hpp>

#include <thalweg/protocol/json.hpp>
#include <thalweg/protocol/utf8.hpp>
#include <thalweg/providers/reasoning_details.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

namespace thalweg::providers::detail {

namespace {

using message_list = std::vector<const message*>;

constexpr std::string_view no_result = "Error: no result, the call was not run.";
constexpr std::string_view empty_result = "(no output)";

void append_text(std::string& out, std::string_view text) {
    if (utf8::is_valid(text))
        json::append_string(out, text);
    else
        json::append_string(out, utf8::make_valid(text));
}

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

// What broke off belongs to an answer that was given up.
bool is_whole(const message& m) {
    return m.stop() == stop_reason::completed || m.stop() == stop_reason::none;
}

bool is_whole_call(const message& m) {
    return m.kind() == kind::tool_call && is_whole(m);
}

/// An answer of the model, and what followed it until the next one.
struct exchange {
    message_list answer;
    message_list outputs;
    message_list user;
};

std::vector<exchange> in_exchanges(const model_request& request) {
    std::vector<exchange> all(1);
    for (const auto part : {request.history(), request.input()}) {
        for (const message& each : part) {
            const bool output = each.kind() == kind::tool_call_output;
            if (is_assistant(each)) {
                if (!all.back().outputs.empty() || !all.back().user.empty()) all.emplace_back();
                all.back().answer.push_back(&each);
            } else if (output) {
                all.back().outputs.push_back(&each);
            } else if (is_user(each)) {
                all.back().user.push_back(&each);
            }
        }
    }
    return all;
}

/// One message `{"role": …, …}` at a time, with commas between them.
class message_writer {
public:
    explicit message_writer(std::string& out) : out_(out) { out_ += '['; }
    void finish() { out_ += ']'; }

    std::string& begin(std::string_view role) {
        if (!first_) out_ += ',';
        first_ = false;
        return out_.append(R"({"role":")").append(role).append("\"");
    }
    std::string& member(std::string_view name) { return out_.append(",\"").append(name).append("\":"); }
    void end() { out_ += '}'; }

private:
    std::string& out_;
    bool first_ = true;
};

/// The content of a user message: a plain string where all is text, because every server takes that; else
/// parts.
class user_content {
public:
    void add_text(std::string_view text) {
        if (!text.empty()) parts_.push_back({std::string(text), false});
    }
    void add_image(std::string_view url) {
        has_images_ = true;
        parts_.push_back({std::string(url), true});
    }

    void write(message_writer& to) const {
        if (parts_.empty()) return;
        to.begin("user");
        std::string& out = to.member("content");
        if (has_images_)
            write_parts(out);
        else
            write_text(out);
        to.end();
    }

private:
    struct part {
        std::string text; // or the URL
        bool is_image;
    };

    void write_text(std::string& out) const {
        std::string joined;
        for (const part& each : parts_) {
            if (!joined.empty()) joined += "\n\n";
            joined += each.text;
        }
        append_text(out, joined);
    }

    void write_parts(std::string& out) const {
        char before = '[';
        for (const part& each : parts_) {
            out += before;
            before = ',';
            out += each.is_image ? R"({"type":"image_url","image_url":{"url":)" : R"({"type":"text","text":)";
            append_text(out, each.text);
            out += each.is_image ? "}}" : "}";
        }
        out += ']';
    }

    std::vector<part> parts_;
    bool has_images_ = false;
};

/// What a call is named towards the server: its own id where that is unique within the answer and short
/// enough.
class id_map {
public:
    id_map(const message_list& answer, std::size_t longest) {
        for (const message* each : answer)
            if (is_whole_call(*each)) add(*each, longest);
    }

    [[nodiscard]] std::string_view of(const message& call) const {
        for (const auto& [known, id] : ids_)
            if (known == &call) return id;
        return call.tool_call_id();
    }

private:
    void add(const message& call, std::size_t longest) {
        std::string id = shortened(call.provider_id(), longest);
        if (id.empty() || is_taken(id)) id = shortened(call.tool_call_id(), longest);
        for (int next = 2; id.empty() || is_taken(id); ++next)
            id = "call_" + std::to_string(ids_.size()) + "_" + std::to_string(next);
        ids_.emplace_back(&call, std::move(id));
    }

    [[nodiscard]] bool is_taken(std::string_view id) const {
        return std::any_of(ids_.begin(), ids_.end(), [id](const auto& each) { return each.second == id; });
    }

    /// The same short id for the same long one, in every request.
    static std::string shortened(std::string_view id, std::size_t longest) {
        constexpr std::size_t kept = 32;
        if (longest == 0 || id.size() <= longest) return std::string(id);
        std::uint64_t hash = 14695981039346656037U; // FNV-1a
        for (const char c : id)
            hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211U;
        return (utf8::make_valid(id.substr(0, kept)) + "_" + std::to_string(hash)).substr(0, longest);
    }

    std::vector<std::pair<const message*, std::string>> ids_;
};

/// The member of a fidelity object, if it was made by this model.
std::optional<json::view> own_fidelity(const message& m, const openai_chat_options& options,
                                       std::string_view name) {
    if (m.fidelity().empty()) return std::nullopt;
    const auto parsed = json::parse(m.fidelity());
    if (!parsed) return std::nullopt;
    const auto model = parsed.value().find("model");
    if (!model || model->as_string() != options.model) return std::nullopt;
    return parsed.value().find(name);
}

/// Writes one answer of the model.
class answer_writer {
public:
    answer_writer(message_writer& to, const openai_chat_options& options, const message_list& answer)
        : to_(to), options_(options), answer_(answer), ids_(answer, options.dialect.longest_call_id) {}

    [[nodiscard]] const id_map& ids() const noexcept { return ids_; }

    void write(bool is_running_turn) {
        collect();
        const bool has_calls = std::any_of(answer_.begin(), answer_.end(),
                                           [](auto* m) { return is_whole_call(*m); });
        if (text_.empty() && !has_calls) return;
        to_.begin("assistant");
        std::string& out = to_.member("content");
        if (text_.empty())
            out += "null";
        else
            append_text(out, text_);
        const auto resend = options_.dialect.resend;
        const bool wanted = resend == resend_thinking::always ||
                            (resend == resend_thinking::tool_turns && has_calls && is_running_turn);
        write_thinking(wanted);
        if (has_calls) write_calls();
        to_.end();
    }

private:
    void collect() {
        for (const message* each : answer_) {
            if (each->kind() == kind::text) text_ += each->content().view();
            if (each->kind() == kind::inline_data) text_ += "[" + each->mime_type().str() + " data]";
            if (const auto details = own_fidelity(*each, options_, "reasoning_details"))
                details_.add(*details);
            if (each->kind() != kind::thinking || !is_whole(*each)) continue;
            thinking_ += each->content().view();
            const auto field = own_fidelity(*each, options_, "field");
            if (field) field_ = field->as_string().value_or(field_);
        }
    }

    /// Opaque details always, since the model cannot go on without them; plain thinking where it is wanted.
    void write_thinking(bool wanted) {
        if (!details_.empty()) return details_.take(to_.member("reasoning_details"));
        if (!wanted || thinking_.empty()) return;
        std::string& out = to_.member(field_);
        append_text(out, thinking_);
    }

    void write_calls() {
        std::string& out = to_.member("tool_calls");
        char before = '[';
        for (const message* each : answer_) {
            if (!is_whole_call(*each)) continue;
            out += before;
            before = ',';
            out += R"({"id":)";
            append_text(out, ids_.of(*each));
            out += R"(,"type":"function","function":{"name":)";
            append_text(out, each->name());
            out += R"(,"arguments":)";
            // As received; servers refuse what is no object (D-09).
            const auto parsed = json::parse(each->content());
            append_text(out, parsed && parsed.value().is_object() ? each->content().view() : "{}");
            out += "}}";
        }
        out += ']';
    }

    message_writer& to_;
    const openai_chat_options& options_;
    const message_list& answer_;
    id_map ids_;
    std::string text_;
    std::string thinking_;
    std::string field_ = "reasoning_content";
    reasoning_details details_;
};

void write_result(message_writer& to, std::string_view id, std::string_view content) {
    to.begin("tool");
    append_text(to.member("tool_call_id"), id);
    append_text(to.member("content"), content.empty() ? empty_result : content);
    to.end();
}

/// One result for each call, in call order; pictures of results cannot stand in them and go to the user's
/// part.
void write_results(message_writer& to, const exchange& of, const id_map& ids, user_content& pictures) {
    for (const message* call : of.answer) {
        if (!is_whole_call(*call)) continue;
        const auto answers = [call](const message* each) {
            return each->tool_call_id() == call->tool_call_id();
        };
        const auto output = std::find_if(of.outputs.begin(), of.outputs.end(), answers);
        if (output == of.outputs.end()) {
            write_result(to, ids.of(*call), no_result);
            continue;
        }
        write_result(to, ids.of(*call), (*output)->content());
        if ((*output)->images().empty()) continue;
        pictures.add_text("Images of the result of the call " + std::string(ids.of(*call)) + " (" +
                          call->name().str() + "):");
        for (const text& each : (*output)->images())
            pictures.add_image(each);
    }
}

void add_user(user_content& to, const message& m) {
    switch (m.kind()) {
    case kind::text: return to.add_text(m.content());
    case kind::image_url: return to.add_image(m.content());
    default: break;
    }
    const std::string mime = m.mime_type().str();
    if (mime.starts_with("image/")) return to.add_image("data:" + mime + ";base64," + m.content().str());
    to.add_text("[" + mime + " data that this model cannot be shown]");
}

} // namespace

void append_chat_messages(std::string& out, const openai_chat_options& options,
                          const model_request& request) {
    message_writer to(out);
    if (!request.system().empty()) {
        to.begin(options.dialect.developer_role ? "developer" : "system");
        append_text(to.member("content"), request.system());
        to.end();
    }
    const std::vector<exchange> all = in_exchanges(request);
    // The running turn begins behind the last thing that a person said, steering between tool calls aside.
    std::size_t running = all.size();
    while (running > 0 && all[running - 1].user.empty())
        --running;
    for (std::size_t i = 0; i < all.size(); ++i) {
        answer_writer answer(to, options, all[i].answer);
        answer.write(i + 1 > running || (i + 1 == all.size() && !all[i].outputs.empty()));
        user_content user;
        write_results(to, all[i], answer.ids(), user);
        for (const message* each : all[i].user)
            add_user(user, *each);
        user.write(to);
    }
    to.finish();
}

} // namespace thalweg::providers::detail

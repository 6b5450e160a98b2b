// SPDX-License-Identifier: BSL-1.0

// The value of `messages`: complete messages of the session, in the order for the model, become messages of
// the Chat Completions form.

#include <thalweg/providers/chat/request.hpp>

#include <thalweg/protocol/json.hpp>
#include <thalweg/providers/chat/reasoning_details.hpp>
#include <thalweg/wire/history.hpp>
#include <thalweg/wire/request_body.hpp>

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace thalweg::providers::detail {

namespace {

using wire::append_text;
using wire::call_ids;
using wire::exchanged;
using wire::is_whole;
using wire::is_whole_call;
using wire::message_list;
using wire::own_fidelity;

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

/// Writes one answer of the model.
class answer_writer {
public:
    answer_writer(message_writer& to, const openai_chat_options& options, const message_list& answer)
        : to_(to),
          options_(options),
          answer_(answer),
          ids_(answer, {.longest = options.dialect.longest_call_id}) {}

    [[nodiscard]] const call_ids& ids() const noexcept { return ids_; }

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
            if (const auto details = own_fidelity(*each, options_.model, "reasoning_details"))
                details_.add(*details);
            if (each->kind() != kind::thinking || !is_whole(*each)) continue;
            thinking_ += each->content().view();
            const auto field = own_fidelity(*each, options_.model, "field");
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
            append_text(out, wire::arguments_of(*each));
            out += "}}";
        }
        out += ']';
    }

    message_writer& to_;
    const openai_chat_options& options_;
    const message_list& answer_;
    call_ids ids_;
    std::string text_;
    std::string thinking_;
    std::string field_ = "reasoning_content";
    reasoning_details details_;
};

void write_result(message_writer& to, std::string_view id, std::string_view content) {
    to.begin("tool");
    append_text(to.member("tool_call_id"), id);
    append_text(to.member("content"), content.empty() ? wire::empty_result : content);
    to.end();
}

/// One result for each call, in call order; pictures of results cannot stand in them and go to the user's
/// part.
void write_results(message_writer& to, const exchanged& of, const call_ids& ids, user_content& pictures) {
    for (const message* call : of.answer) {
        if (!is_whole_call(*call)) continue;
        const message* const output = of.result_of(*call);
        if (output == nullptr) {
            write_result(to, ids.of(*call), wire::no_result);
            continue;
        }
        write_result(to, ids.of(*call), output->content());
        if (output->images().empty()) continue;
        pictures.add_text("Images of the result of the call " + std::string(ids.of(*call)) + " (" +
                          call->name().str() + "):");
        for (const text& each : output->images())
            pictures.add_image(each);
    }
}

void add_user(user_content& to, const message& m) {
    if (m.kind() == kind::text) return to.add_text(m.content());
    const auto shown = wire::picture_of(m);
    if (!shown) return to.add_text("[" + m.mime_type().str() + " data that this model cannot be shown]");
    if (shown->is_url()) return to.add_image(shown->data);
    to.add_image(std::string("data:").append(shown->mime_type).append(";base64,").append(shown->data));
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
    const std::vector<exchanged> all = wire::exchanges_of(request);
    const std::size_t running = wire::running_turn(all);
    for (std::size_t i = 0; i < all.size(); ++i) {
        answer_writer answer(to, options, all[i].answer);
        answer.write(i >= running);
        user_content user;
        write_results(to, all[i], answer.ids(), user);
        for (const message* each : all[i].user)
            add_user(user, *each);
        user.write(to);
    }
    to.finish();
}

} // namespace thalweg::providers::detail

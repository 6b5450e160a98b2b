// SPDX-License-Identifier: BSL-1.0

#include <thalweg/agent/detail/model_context.hpp>

#include <thalweg/agent/agent_errc.hpp>
#include <thalweg/protocol/json.hpp>

#include <algorithm>
#include <string>
#include <unordered_map>
#include <utility>

namespace thalweg::detail {

namespace {

class converter {
public:
    explicit converter(std::span<const agent_message> messages) : messages_(messages) {
        for (const agent_message& m : messages) {
            if (m.kind() == agent_message::type::tool_result) results_.emplace(m.tool_call_id(), &m);
        }
    }

    [[nodiscard]] result<std::vector<message>> run() {
        for (const agent_message& m : messages_) {
            switch (m.kind()) {
            case agent_message::type::user: add_user(m); break;
            case agent_message::type::assistant: add_answer(m); break;
            case agent_message::type::tool_result: add_orphan(m); break;
            case agent_message::type::custom:
                return error(agent_errc::hook_failed,
                             "convert_to_llm left a message of the type \"" + std::string(m.role()) +
                                 "\", which no model takes; drop it there or make a user message of it");
            }
        }
        return std::move(out_);
    }

private:
    void add(message m, const agent_message& of) {
        if (of.timestamp() != 0) m.stamp(of.timestamp());
        out_.push_back(std::move(m));
    }

    void add_user(const agent_message& m) {
        for (const content_block& block : m.content()) {
            if (block.kind() == content_block::type::image) {
                add(block.mime_type().empty()
                        ? message::image_url(block.content())
                        : message::inline_data(role::user, block.content(), block.mime_type()),
                    m);
            } else {
                add(message::user_text(block.content()).with_fidelity(block.fidelity()), m);
            }
        }
    }

    void add_answer(const agent_message& m) {
        std::vector<const content_block*> calls;
        for (const content_block& block : m.content()) {
            if (block.kind() == content_block::type::tool_call) {
                if (m.is_broken() && !results_.contains(block.id())) continue;
                calls.push_back(&block);
            }
            add_block(block, m);
        }
        for (const content_block* call : calls)
            add_result(*call, m);
    }

    void add_block(const content_block& block, const agent_message& m) {
        switch (block.kind()) {
        case content_block::type::text:
            if (!block.content().empty() || !block.fidelity().empty())
                add(message::assistant_text(block.content()).with_fidelity(block.fidelity()), m);
            break;
        case content_block::type::thinking:
            // One that was cut has no signature, and a provider that wants one would refuse it.
            if (!m.is_broken() || !block.fidelity().empty())
                add(message::thinking(block.content()).with_fidelity(block.fidelity()), m);
            break;
        case content_block::type::tool_call: add_call(block, m); break;
        case content_block::type::image:
            if (!block.mime_type().empty())
                add(message::inline_data(role::assistant, block.content(), block.mime_type()), m);
            break;
        case content_block::type::other: {
            parse_options loose;
            loose.require_timestamp = false;
            if (auto whole = parse_message(block.content(), loose)) add(std::move(whole.value()), m);
            break;
        }
        }
    }

    /// Arguments that were cut are no JSON; the result behind the call says what happened to it.
    void add_call(const content_block& block, const agent_message& m) {
        const bool is_whole = !json::check(block.content());
        add(message::tool_call(block.name(), is_whole ? block.content() : text("{}"), block.id())
                .with_fidelity(block.fidelity()),
            m);
    }

    void add_result(const content_block& call, const agent_message& m) {
        const auto found = results_.find(call.id());
        if (found == results_.end()) {
            add(message::tool_call_output("[no result was recorded for this call]", call.id())
                    .with_stop(stop_reason::aborted),
                m);
            return;
        }
        const agent_message& given = *found->second;
        results_.erase(found);
        std::vector<text> images;
        for (const content_block& block : given.content()) {
            if (block.kind() == content_block::type::image) images.push_back(image_url_of(block));
        }
        message output = message::tool_call_output(text(given.content().joined_text()), call.id())
                             .with_stop(given.is_error() ? stop_reason::failed : stop_reason::completed);
        if (!images.empty()) output = std::move(output).with_images(std::move(images));
        add(std::move(output), given);
    }

    void add_orphan(const agent_message& m) {
        const auto found = results_.find(m.tool_call_id());
        if (found == results_.end() || found->second != &m) return; // shown behind its call
        if (has_call_later(m)) return;
        results_.erase(found);
        add(message::user_text(text("[result of an earlier call of " + m.tool_name().str() + "]\n" +
                                    m.content().joined_text())),
            m);
    }

    [[nodiscard]] bool has_call_later(const agent_message& result) const {
        const auto from = static_cast<std::size_t>(&result - messages_.data());
        const auto later = messages_.subspan(from);
        return std::any_of(later.begin(), later.end(), [&result](const agent_message& m) {
            return m.kind() == agent_message::type::assistant &&
                   std::any_of(m.content().begin(), m.content().end(), [&result](const content_block& b) {
                       return b.kind() == content_block::type::tool_call && b.id() == result.tool_call_id();
                   });
        });
    }

    struct hash {
        std::size_t operator()(const text& t) const noexcept {
            return std::hash<std::string_view>()(t.view());
        }
    };

    std::span<const agent_message> messages_;
    std::unordered_map<text, const agent_message*, hash> results_; // not yet shown
    std::vector<message> out_;
};

} // namespace

result<std::vector<message>> model_context(std::span<const agent_message> messages) {
    return converter(messages).run();
}

std::size_t history_size(std::span<const message> context) noexcept {
    std::size_t at = context.size();
    while (at > 0 && context[at - 1].role() == role::user)
        --at;
    return at;
}

text image_url_of(const content_block& image) {
    if (image.mime_type().empty()) return image.content();
    return text("data:" + image.mime_type().str() + ";base64," + image.content().str());
}

} // namespace thalweg::detail

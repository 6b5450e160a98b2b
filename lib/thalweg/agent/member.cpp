// SPDX-License-Identifier: BSL-1.0

#include <thalweg/agent/member.hpp>

#include <thalweg/agent/compose.hpp>
#include <thalweg/async/loop.hpp>
#include <thalweg/engine/upward.hpp>

#include <algorithm>
#include <chrono>

namespace thalweg {

namespace {

/// Follows the text of the answer that is under way in a child's own messages.
class last_answer {
public:
    void hear(const message& m) {
        if (m.origin().size() != 1) return;
        if (m.kind() == kind::request_begin) words_.clear();
        if (m.kind() == kind::partial_text) words_ += m.content().view();
    }
    [[nodiscard]] std::string take() noexcept { return std::move(words_); }

private:
    std::string words_;
};

tool_result failed(std::string_view what, const error& why) {
    return tool_result::failed("[subagent " + std::string(what) + ": " + why.message() + "]");
}

tool_result verdict(const part& came) {
    if (came.ok()) {
        return came.answer().value().empty()
                   ? tool_result::completed("[subagent finished without a text answer]")
                   : tool_result::completed();
    }
    const error& why = came.answer().error();
    return failed(why.code() == agent_errc::aborted ? "aborted" : "error", why);
}

bool lies_too_deep(const tool_context& parent) noexcept {
    return parent.depth() >= parent.max_depth();
}

tool_result too_deep(const tool_context& parent) {
    return tool_result::failed("[subagent error: agents may lie at most " +
                               std::to_string(parent.max_depth()) + " deep under the first one]");
}

/// What a reader is told about an agent before its first message, as of a session under another one.
message head_of(const text& id, const agent_state& state) {
    session_meta head;
    head.session_id = id;
    head.model_id = state.model;
    head.system_prompt = state.system_prompt;
    head.source = text("subagent");
    return message::session_meta(std::move(head));
}

/// What a run under a tool call gets.
run_options options_under(const tool_context& parent, approver asks) {
    run_options options;
    options.approve = asks;
    options.depth = parent.depth() + 1;
    options.max_depth = parent.max_depth();
    options.grace = parent.grace() * 3 / 4; // so that what it says of its end is still heard
    return options;
}

class composition_member final : public detail::member_source {
public:
    explicit composition_member(composition runs) noexcept : runs_(std::move(runs)) {}

    [[nodiscard]] text name() const override { return text(runs_.name()); }
    [[nodiscard]] text hop() const override { return {}; }

    [[nodiscard]] stream<message, part> run(detail::member_request asked) override {
        auto inner = runs_.run_for(std::move(asked));
        while (message* m = co_await inner.peek())
            co_yield std::move(*m);
        composition_outcome& how = inner.result();
        if (how.ok()) co_return part(name(), how.answer(), how.parts());
        co_return part(name(), how.error(), how.parts());
    }

    /// Its members lie under a hop of the tool's name, so that their words are not taken for the answer.
    [[nodiscard]] stream<chunk, tool_result> run_under(tool_context parent, detail::member_request asked,
                                                       text tool) override {
        if (lies_too_deep(parent)) co_return too_deep(parent);
        detail::upward asks(parent.approve(), tool);
        asked.around = options_under(parent, std::ref(asks));
        auto inner = run(std::move(asked));
        while (message* m = co_await inner.peek())
            co_yield chunk::forward(std::move(*m).with_origin_prefix(tool));
        const part& came = inner.result();
        tool_result how = verdict(came);
        if (came.ok()) how = std::move(how).with_output(text(came.answer().value()));
        co_return std::move(how);
    }

private:
    composition runs_;
};

} // namespace

stream<message, part> detail::agent_member::run(member_request asked) {
    const context here = co_await this_coroutine();
    const text own = id();
    if (state().is_streaming) {
        co_return part(own, error(agent_errc::busy, own.str() + " is busy with another run"));
    }
    if (asked.known->introduce(own)) {
        message head = head_of(own, state()).with_origin_prefix(own);
        head.stamp(here.loop().wall_ms());
        co_yield std::move(head);
    }
    message said = message::user_text(asked.prompt).with_sender(text("parent_agent")).with_origin_prefix(own);
    said.stamp(here.loop().wall_ms());
    co_yield std::move(said);

    run_options around = asked.around;
    upward asks(around.approve, own);
    if (around.approve) around.approve = std::ref(asks);
    auto run = start(std::move(asked.prompt), around);
    while (message* m = co_await run.peek())
        co_yield std::move(*m).with_origin_prefix(own);
    const agent_outcome& how = run.result();
    if (how.ok()) co_return part(own, how.answer());
    co_return part(own, how.error());
}

stream<chunk, tool_result> detail::agent_member::run_under(tool_context parent, member_request asked, text) {
    if (lies_too_deep(parent)) co_return too_deep(parent);
    const approver asks = parent.approve() ? parent.approve() : approver(deny_all);
    asked.around = options_under(parent, asks);
    auto inner = run(std::move(asked));
    while (message* m = co_await inner.peek())
        co_yield chunk::forward(std::move(*m));
    co_return verdict(inner.result());
}

/// The way over run_under() gives the session's head and the prompt in its stream, as under any other parent.
/// The members lie as deep as their composition, hence one above.
stream<message, part> detail::session_member::run(member_request asked) {
    const context here = co_await this_coroutine();
    const run_options around = asked.around;
    const std::chrono::milliseconds grace = around.grace.value_or(session_options().interrupt_grace);
    tool_context above(around.approve, around.depth - 1, around.max_depth.value_or(around.depth + 1),
                       grace * 4 / 3, nullptr);
    auto run = start_under(std::move(above), std::move(asked.prompt));
    text own = name();
    last_answer answer;
    while (chunk* piece = co_await run.peek()) {
        if (piece->kind() != chunk::type::forwarded) continue;
        message& m = piece->forwarded();
        own = m.origin().front();
        answer.hear(m);
        co_yield std::move(m);
    }
    const tool_result& how = run.result();
    if (how.stop() != stop_reason::failed) co_return part(own, answer.take());
    const agent_errc code = here.stop_requested() ? agent_errc::aborted : agent_errc::model_failed;
    co_return part(own, error(code, how.note()));
}

stream<chunk, tool_result> detail::session_member::run_under(tool_context parent, member_request asked,
                                                             text) {
    return start_under(std::move(parent), std::move(asked.prompt));
}

member::member(const composition& runs) : source_(std::make_shared<composition_member>(runs)) {}

} // namespace thalweg

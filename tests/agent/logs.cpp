// SPDX-License-Identifier: BSL-1.0

#include "agent/logs.hpp"

#include "support/catch.hpp"

#include <thalweg/agent/agent_event_checker.hpp>
#include <thalweg/agent/agent_json.hpp>
#include <thalweg/agent/agent_view.hpp>

#include <algorithm>

namespace agent_logs {

using thalweg::agent_event;
using thalweg::agent_message;
using thalweg::content_block;
using thalweg::frame;
using thalweg::message;
using thalweg::stop_reason;
using thalweg::text;

fact_log join(std::initializer_list<fact_log> pieces) {
    fact_log all;
    for (const fact_log& piece : pieces)
        all.insert(all.end(), piece.begin(), piece.end());
    return all;
}

fact_log prompt(std::string_view body) {
    return {message::run_begin(), message::user_text(text(body)).as_input()};
}

fact_log answer() {
    return {message::request_begin(), message::response_begin()};
}

fact_log words(std::initializer_list<std::string_view> deltas) {
    fact_log all{message::partial_text(frame::start)};
    std::string whole;
    for (const std::string_view piece : deltas) {
        all.push_back(message::partial_text(frame::delta, text(piece)));
        whole += piece;
    }
    all.push_back(message::partial_text(frame::stop));
    all.push_back(message::assistant_text(text(whole)));
    return all;
}

fact_log thoughts(std::initializer_list<std::string_view> deltas) {
    fact_log all{message::partial_thinking(frame::start)};
    std::string whole;
    for (const std::string_view piece : deltas) {
        all.push_back(message::partial_thinking(frame::delta, text(piece)));
        whole += piece;
    }
    all.push_back(message::partial_thinking(frame::stop));
    all.push_back(message::thinking(text(whole)));
    return all;
}

fact_log call(std::string_view id, std::string_view name, std::initializer_list<std::string_view> arguments) {
    fact_log all{message::partial_tool_call(frame::start, text(id), text(name))};
    std::string whole;
    for (const std::string_view piece : arguments) {
        all.push_back(message::partial_tool_call(frame::delta, text(id), {}, text(piece)));
        whole += piece;
    }
    all.push_back(message::partial_tool_call(frame::stop, text(id)));
    all.push_back(message::tool_call(text(name), text(whole), text(id)));
    return all;
}

fact_log done(thalweg::finish why) {
    thalweg::request_end end;
    end.why = why;
    const thalweg::token_counts used{1, 2, 3, 6};
    return {message::event(thalweg::token_usage{used, used}), message::event(end)};
}

fact_log broken(stop_reason status, std::string_view error) {
    thalweg::request_end end;
    end.status = status;
    if (!error.empty()) end.error_message = text(error);
    return {message::event(end)};
}

fact_log begun(std::string_view id, std::string_view name) {
    return {message::call_begin(text(id), text(name), "{}"), message::body_begin(text(id))};
}

fact_log output(std::string_view id, std::string_view body, stop_reason stop) {
    return {message::partial_tool_call_output(frame::start, text(id)),
            message::partial_tool_call_output(frame::delta, text(id), text(body)).as_closing(),
            message::partial_tool_call_output(frame::stop, text(id)).with_stop(stop),
            message::tool_call_output(text(body), text(id)).with_stop(stop)};
}

fact_log settled(std::initializer_list<std::string_view> ids) {
    fact_log all;
    for (const std::string_view id : ids)
        all.push_back(message::call_settled(text(id)));
    all.push_back(message::batch_settled());
    return all;
}

fact_log run_end(thalweg::run_ending how, std::string_view reason) {
    return {message::event(thalweg::run_end{how, text(reason)})};
}

namespace {

using customs_view = std::span<const thalweg::custom_type* const>;

std::vector<agent_event> feed_all(const fact_log& facts, customs_view customs) {
    thalweg::agent_view view(customs);
    std::vector<agent_event> all;
    for (const message& fact : facts) {
        const auto some = view.feed(fact);
        all.insert(all.end(), some.begin(), some.end());
    }
    CHECK_FALSE(view.is_running());
    return all;
}

fact_log reread(const fact_log& facts) {
    fact_log again;
    for (const message& fact : facts) {
        std::string written;
        append_fact_json(written, fact);
        auto read = thalweg::parse_message(written, {.require_timestamp = false, .facts = true});
        INFO(written);
        if (!read) FAIL(read.error().message());
        again.push_back(std::move(read.value()));
    }
    return again;
}

void check_snapshots(const fact_log& facts, customs_view customs) {
    thalweg::agent_view view(customs);
    std::vector<agent_event> kept;
    std::vector<std::string> as_seen;
    for (const message& fact : facts) {
        for (const agent_event& event : view.feed(fact)) {
            kept.push_back(event);
            as_seen.push_back(to_json(event));
        }
    }
    for (std::size_t i = 0; i < kept.size(); ++i)
        CHECK(to_json(kept[i]) == as_seen[i]);
}

void check_json(const std::vector<agent_event>& all, customs_view customs) {
    for (const agent_event& event : all) {
        const std::string written = to_json(event);
        const auto read = thalweg::parse_agent_event(written, customs);
        INFO(written);
        if (!read) FAIL(read.error().message());
        CHECK(read.value() == event);
        CHECK(to_json(read.value()) == written);
    }
}

std::string block_line(const content_block& block) {
    std::string made(to_string(block.kind()));
    if (block.kind() == content_block::type::tool_call) made += ' ' + block.id().str();
    return made + ':' + block.content().str();
}

std::string message_line(const agent_message& m) {
    std::string made(m.role());
    if (m.kind() == agent_message::type::custom) return made + ' ' + m.members().str();
    if (m.kind() == agent_message::type::tool_result) {
        made += ' ' + m.tool_call_id().str() + (m.is_error() ? " error" : "");
    }
    if (m.kind() != agent_message::type::assistant) return made + ' ' + m.content().joined_text();
    for (const content_block& block : m.content())
        made += ' ' + block_line(block);
    if (m.is_broken()) made += " | " + std::string(to_string(m.stop())) + ": " + m.error().str();
    return made;
}

struct to_line {
    std::string operator()(const agent_event::agent_start&) const { return "agent_start"; }
    std::string operator()(const agent_event::agent_end& e) const {
        std::string made = "agent_end";
        for (const agent_message& m : e.messages)
            made.append(1, ' ').append(m.role());
        return made;
    }
    std::string operator()(const agent_event::turn_start&) const { return "turn_start"; }
    std::string operator()(const agent_event::turn_end& e) const {
        std::string made = "turn_end " + std::string(to_string(e.message.stop()));
        for (const agent_message& m : e.tool_results)
            made += ' ' + m.tool_call_id().str();
        return made;
    }
    std::string operator()(const agent_event::message_start& e) const {
        return "start " + message_line(e.message);
    }
    std::string operator()(const agent_event::message_update& e) const {
        const auto& update = e.update;
        std::string made = std::string(to_string(update.kind())) + ' ' +
                           std::to_string(update.content_index());
        if (update.is_delta()) made += ' ' + update.delta().str();
        if (update.is_end()) made += ' ' + update.content().str();
        return made;
    }
    std::string operator()(const agent_event::message_end& e) const {
        return "end " + message_line(e.message);
    }
    std::string operator()(const agent_event::tool_execution_start& e) const {
        const std::string label = e.tool_label.empty() ? "" : " (" + e.tool_label.str() + ')';
        return "tool_start " + e.tool_call_id.str() + ' ' + e.tool_name.str() + label + ' ' + e.args.str();
    }
    std::string operator()(const agent_event::tool_execution_update& e) const {
        return "tool_update " + e.tool_call_id.str() + ' ' + e.partial_result.content.joined_text() +
               (e.partial_result.details.empty() ? "" : ' ' + e.partial_result.details.str());
    }
    std::string operator()(const agent_event::tool_execution_end& e) const {
        return "tool_end " + e.tool_call_id.str() + (e.is_error ? " error " : " ") +
               e.result.content.joined_text() +
               (e.result.details.empty() ? "" : ' ' + e.result.details.str());
    }
    std::string operator()(const agent_event::auto_retry_start& e) const {
        return "retry_start " + std::to_string(e.attempt) + " of " +
               std::to_string(e.max_attempts.value_or(0)) + " in " + std::to_string(e.delay_ms) + ": " +
               e.error_message.str();
    }
    std::string operator()(const agent_event::auto_retry_end& e) const {
        return "retry_end " + std::to_string(e.attempt) + (e.success ? " ok" : ": " + e.final_error->str());
    }
};

} // namespace

std::vector<agent_event> events(const fact_log& facts, customs_view customs) {
    std::vector<agent_event> all = feed_all(facts, customs);
    CHECK(feed_all(reread(facts), customs) == all);
    check_snapshots(facts, customs);
    check_json(all, customs);
    thalweg::agent_event_checker checker;
    for (const agent_event& event : all)
        checker.feed(event);
    checker.finish();
    CHECK(checker.report().empty());
    return all;
}

std::string line(const agent_event& event) {
    return event.visit(to_line{});
}

lines project(const fact_log& facts, customs_view customs) {
    lines made;
    for (const agent_event& event : events(facts, customs))
        made.push_back(line(event));
    return made;
}

lines part(const lines& all, std::string_view from, std::string_view to) {
    const auto first = std::find(all.begin(), all.end(), from);
    const auto last = std::find(first, all.end(), to);
    INFO("from " << from << " to " << to);
    REQUIRE(last != all.end());
    return {first, last + 1};
}

} // namespace agent_logs

// SPDX-License-Identifier: BSL-1.0

#include "model.hpp"

#include <thalweg/async/sleep.hpp>

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include <chrono>
#include <optional>
#include <stdexcept>
#include <utility>

namespace conformance {

using namespace thalweg;
using std::chrono::milliseconds;

// The model
// --------------------------------------------------------------------------------------------------------

namespace {

/// One act of the model: after a wait, a piece, the end, or nothing.
struct act {
    explicit act(milliseconds d) noexcept : before(d) {}
    act(milliseconds d, delta p) noexcept : before(d), piece(std::move(p)) {}
    act(milliseconds d, model_outcome o) noexcept : before(d), outcome(std::move(o)) {}
    milliseconds before;
    std::optional<delta> piece = {};
    std::optional<model_outcome> outcome = {};
};

constexpr milliseconds pause{2};

model_outcome outcome_of(const json::object& end) {
    const std::string reason = text_or(end, "stop_reason", {});
    if (reason == "error") return model_outcome::failed(text_or(end, "error", {}));
    if (reason == "length") return model_outcome::completed(finish::length);
    if (reason == "toolUse") return model_outcome::completed(finish::tool_use);
    if (reason == "stop") return model_outcome::completed(finish::end);
    throw std::runtime_error("unknown stop reason of the model: " + reason);
}

/// The pieces of one block; `make` makes a piece of a text.
void add_block(std::vector<act>& script, delta start, const json::array& pieces, delta (*make)(text),
               bool is_cut) {
    script.emplace_back(pause, std::move(start));
    for (const json::value& each : pieces) {
        if (each.is_string()) {
            script.emplace_back(pause, make(text(std::string_view(each.as_string()))));
        } else if (const json::value* wait = each.as_object().if_contains("wait_ms")) {
            script.emplace_back(milliseconds(wait->as_int64()));
        } else {
            script.emplace_back(pause, model_outcome::failed(text_or(each.as_object(), "error", {})));
        }
    }
    if (!is_cut) script.emplace_back(pause, delta::end());
}

void add_step(std::vector<act>& script, const json::object& step) {
    const bool is_cut = step.contains("cut");
    if (const json::value* pieces = step.if_contains("text")) {
        add_block(script, delta::begin_text(), pieces->as_array(), &delta::text, is_cut);
    } else if (const json::value* thoughts = step.if_contains("thinking")) {
        add_block(script, delta::begin_thinking(), thoughts->as_array(), &delta::thinking, is_cut);
    } else if (const json::object* call = find_object(&step, "tool_call")) {
        const json::value* pieces = call->if_contains("arguments");
        add_block(script, delta::call(text(text_or(*call, "id", {})), text(text_or(*call, "name", {}))),
                  pieces != nullptr ? pieces->as_array() : json::array(), &delta::arguments, is_cut);
    } else if (const json::value* wait = step.if_contains("wait_ms")) {
        script.emplace_back(milliseconds(wait->as_int64()));
    } else if (const json::object* end = find_object(&step, "end")) {
        script.emplace_back(pause, outcome_of(*end));
    } else if (const json::object* close = find_object(&step, "close")) {
        script.emplace_back(pause, outcome_of(*close));
    } else {
        throw std::runtime_error("unknown step of the model: " + json::serialize(step));
    }
}

std::vector<act> script_of(const json::object& entry) {
    std::vector<act> script;
    script.emplace_back(milliseconds(number_or(entry, "start_after_ms", 0)));
    const json::value* silent = entry.if_contains("no_start");
    // The end of no block says only that the answer has begun.
    if (silent == nullptr || !silent->as_bool()) script.back().piece = delta::end();
    for (const json::value& each : entry.at("steps").as_array())
        add_step(script, each.as_object());
    return script;
}

stream<delta, model_outcome> play(std::vector<act> script) {
    for (act& each : script) {
        const bool waited = co_await sleep_for(each.before);
        if (!waited) co_return model_outcome::aborted();
        if (each.outcome) co_return std::move(*each.outcome);
        if (each.piece) co_yield std::move(*each.piece);
    }
    co_return model_outcome::completed();
}

} // namespace

stream<delta, model_outcome> script_model::generate(model_request request) {
    seen_.on_request(request);
    std::vector<act> script;
    if (next_ == script_.size()) {
        script.emplace_back(pause, model_outcome::failed("script exhausted"));
        return play(std::move(script));
    }
    const json::object& entry = script_[next_++].as_object();
    const json::array& steps = entry.at("steps").as_array();
    const json::value* thrown = steps.empty() ? nullptr : steps.front().as_object().if_contains("throw");
    if (thrown != nullptr) throw std::runtime_error(std::string(thrown->as_string()));
    return play(script_of(entry));
}

// The tools
// --------------------------------------------------------------------------------------------------------

namespace {

tool_result result_of(const json::object& step) {
    tool_result result = tool_result::completed().with_output(text(text_or(step, "result", {})));
    const json::value* last = step.if_contains("terminate");
    return last != nullptr && last->as_bool() ? std::move(result).terminating() : std::move(result);
}

/// The arguments without blanks, members in their order.
std::string echo_of(const tool_call& call) {
    return json::serialize(json::parse(std::string(call.arguments().view())));
}

stream<chunk, tool_result> play(record& seen, tool_call call, const json::array* steps, bool is_stubborn) {
    seen.on_body(call.id());
    for (std::size_t n = 0; steps != nullptr && n < steps->size(); ++n) {
        const json::object& step = steps->at(n).as_object();
        if (const json::value* wait = step.if_contains("wait_ms")) {
            const milliseconds d(wait->as_int64());
            bool waited = true;
            if (is_stubborn) {
                co_await sleep_through(d);
            } else {
                waited = co_await sleep_for(d);
            }
            if (!waited) throw std::runtime_error("Operation aborted");
        } else if (step.contains("update")) {
            co_yield chunk::progress(text(text_or(step, "update", {})));
        } else if (step.contains("result")) {
            co_return result_of(step);
        } else if (step.contains("throw")) {
            throw std::runtime_error(text_or(step, "throw", {}));
        } else if (step.contains("echo")) {
            co_return tool_result::completed().with_output(text(echo_of(call)));
        } else {
            throw std::runtime_error("unknown step of a tool: " + json::serialize(step));
        }
    }
    co_return tool_result::completed().with_output(text("ok"));
}

} // namespace

std::vector<tool_definition> script_tools::tools() const {
    std::vector<tool_definition> list;
    if (tools_ == nullptr) return list;
    for (const auto& each : *tools_) {
        const json::object& tool = each.value().as_object();
        tool_definition made;
        made.name = text(std::string_view(each.key()));
        made.description = text(text_or(tool, "description", {}));
        if (const json::value* schema = tool.if_contains("parameters"))
            made.parameters = text(json::serialize(*schema));
        made.sequential = text_or(tool, "execution_mode", {}) == "sequential";
        list.push_back(std::move(made));
    }
    return list;
}

stream<chunk, tool_result> script_tools::execute(tool_call call, tool_context) {
    const json::object* tool = find_object(tools_, call.name());
    const json::value* steps = find(find_object(tool, "calls"), call.id());
    const bool is_stubborn = tool != nullptr && text_or(*tool, "on_abort", {}) == "ignore";
    return play(seen_, std::move(call), steps != nullptr ? &steps->as_array() : nullptr, is_stubborn);
}

} // namespace conformance

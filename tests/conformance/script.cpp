// SPDX-License-Identifier: BSL-1.0

#include "script.hpp"

#include <boost/json/serialize.hpp>

#include <algorithm>
#include <chrono>
#include <stdexcept>
#include <utility>

namespace conformance {

using namespace thalweg;
using providers::scripted_answer;
using std::chrono::milliseconds;
using thalweg::testing::tool_script;

namespace {

text text_of(const json::value& v) {
    return text(std::string_view(v.as_string()));
}

std::vector<text> texts_of(const json::value& list) {
    std::vector<text> all;
    for (const json::value& each : list.as_array())
        all.push_back(text_of(each));
    return all;
}

token_counts counts_of(const json::value& v) {
    token_counts counts;
    counts.cache_read = v.at("cache_read").as_int64();
    counts.cache_write = v.at("cache_write").as_int64();
    counts.output = v.at("output").as_int64();
    counts.total = v.at("total").as_int64();
    return counts;
}

message message_of(const json::value& v) {
    // The data has no time stamps; the reader wants one.
    json::object dated = v.as_object();
    dated["timestamp"] = "2030-01-01T00:00:00.000Z";
    auto parsed = parse_message(json::serialize(dated));
    if (!parsed) throw std::runtime_error("a message of the scenario: " + parsed.error().message());
    return std::move(parsed.value());
}

model_outcome outcome_of(const json::object& end) {
    const std::string_view status = end.at("status").as_string();
    const json::value* detail = end.if_contains("message");
    const std::string why = detail != nullptr ? std::string(detail->as_string()) : std::string();
    const json::value* permanent = end.if_contains("permanent");
    model_outcome outcome = status == "completed"   ? model_outcome::completed()
                            : status == "aborted"   ? model_outcome::aborted()
                            : status == "timeout"   ? model_outcome::timeout(why)
                            : status == "malformed" ? model_outcome::malformed(why)
                            : status == "auth"      ? model_outcome::auth(why)
                                                    : model_outcome::failed(why);
    if (permanent != nullptr && permanent->as_bool()) outcome = std::move(outcome).permanent();
    if (end.contains("context_too_long")) outcome = std::move(outcome).context_too_long(); // a key of our own
    return outcome;
}

scripted_answer with_block_options(scripted_answer script, const json::object& step) {
    if (const json::value* gap = step.if_contains("gap_ms")) {
        script = std::move(script).with_gap(milliseconds(gap->as_int64()));
    }
    if (const json::value* fidelity = step.if_contains("fidelity")) {
        script = std::move(script).with_fidelity(text(json::serialize(*fidelity)));
    }
    if (const json::value* cut = step.if_contains("cut"); cut != nullptr && cut->as_bool()) {
        script = std::move(script).left_open();
    }
    return script;
}

scripted_answer add_step(scripted_answer script, const json::object& step) {
    if (const json::value* v = step.if_contains("wait_ms"))
        return std::move(script).wait(milliseconds(v->as_int64()));
    if (step.contains("hang")) return std::move(script).hang();
    if (const json::value* v = step.if_contains("usage")) return std::move(script).usage(counts_of(*v));
    if (const json::value* v = step.if_contains("message")) return std::move(script).whole(message_of(*v));
    if (const json::value* v = step.if_contains("end"))
        return std::move(script).ends(outcome_of(v->as_object()));
    if (const json::value* v = step.if_contains("text")) {
        return with_block_options(std::move(script).text_pieces(texts_of(*v)), step);
    }
    if (const json::value* v = step.if_contains("thinking")) {
        return with_block_options(std::move(script).thinking_pieces(texts_of(*v)), step);
    }
    if (const json::value* v = step.if_contains("tool_call")) {
        const json::object& call = v->as_object();
        script = std::move(script).call_pieces(text_of(call.at("id")), text_of(call.at("name")),
                                               texts_of(call.at("arguments")));
        if (const json::value* fidelity = call.if_contains("fidelity")) {
            script = std::move(script).with_fidelity(text(json::serialize(*fidelity)));
        }
        return with_block_options(std::move(script), step);
    }
    throw std::runtime_error("unknown model step " + json::serialize(step));
}

} // namespace

tool_script tool_steps(const json::array& steps) {
    tool_script script;
    for (const json::value& each : steps) {
        const json::object& step = each.as_object();
        if (const json::value* v = step.if_contains("wait_ms")) {
            const bool deaf = step.contains("ignore_abort");
            const milliseconds d(v->as_int64());
            script = deaf ? std::move(script).wait_through(d) : std::move(script).wait(d);
        } else if (const json::value* out = step.if_contains("output")) {
            script = std::move(script).output(text_of(*out));
        } else if (const json::value* images = step.if_contains("images")) {
            script = std::move(script).images(texts_of(*images));
        } else if (const json::value* what = step.if_contains("throw")) {
            script = std::move(script).throws(std::string(what->as_string()));
        } else if (const json::value* broken = step.if_contains("env_throw")) {
            script = std::move(script).breaks(std::string(broken->as_string()));
        } else if (step.contains("hang")) {
            const json::value* late = step.if_contains("after_abort_ms");
            script = std::move(script).hang(milliseconds(late != nullptr ? late->as_int64() : 0));
        } else if (const json::value* end = step.if_contains("end")) {
            const json::value* stop = end->as_object().if_contains("stop_reason");
            const json::value* note = end->as_object().if_contains("note");
            const std::string words = note != nullptr ? std::string(note->as_string()) : std::string();
            const std::string_view reason = stop != nullptr ? std::string_view(stop->as_string())
                                                            : "completed";
            script = std::move(script).ends(reason == "failed"    ? tool_result::failed(words)
                                            : reason == "aborted" ? tool_result::aborted()
                                                                  : tool_result::completed(words));
        } else {
            throw std::runtime_error("unknown tool step " + json::serialize(step));
        }
    }
    return script;
}

providers::scripted model_of(const json::array& requests) {
    providers::scripted model;
    for (const json::value& request : requests) {
        scripted_answer script;
        for (const json::value& step : request.at("steps").as_array()) {
            script = add_step(std::move(script), step.as_object());
        }
        model.add(std::move(script));
    }
    return model;
}

std::vector<message> input_of(const json::object& operation) {
    std::vector<message> input;
    const json::value* given = operation.if_contains("input");
    if (given == nullptr) return input;
    for (const json::value& each : given->as_array()) {
        const json::object& item = each.as_object();
        if (const json::value* words = item.if_contains("user_text")) {
            message m = message::user_text(text_of(*words));
            if (const json::value* sender = item.if_contains("sender"))
                m = std::move(m).with_sender(text_of(*sender));
            input.push_back(std::move(m));
        } else if (const json::value* url = item.if_contains("image_url")) {
            input.push_back(message::image_url(text_of(*url)));
        } else {
            input.push_back(message_of(item.at("message")));
        }
    }
    return input;
}

std::string provider_id(std::string_view session_id) {
    return std::string(session_id.substr(0, session_id.find('#')));
}

bool breaks(const scenario& s) {
    const auto& tools = s.data.at("tools").as_object();
    return std::any_of(tools.begin(), tools.end(), [](const auto& tool) {
        return json::serialize(tool.value()).find("\"env_throw\"") != std::string::npos;
    });
}

session_meta recorded_meta() {
    session_meta meta;
    meta.session_id = text("session-main");
    meta.provider = text("scripted");
    meta.model_id = text("scripted-1");
    meta.model_context_window = std::int64_t{128000};
    meta.system_prompt = text("scripted system prompt");
    meta.agent_state = text("agent_state");
    meta.workspace = text("workspace");
    return meta;
}

} // namespace conformance

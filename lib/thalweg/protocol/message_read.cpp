// SPDX-License-Identifier: BSL-1.0

#include <thalweg/protocol/detail/message_details.hpp>
#include <thalweg/protocol/detail/object_reader.hpp>
#include <thalweg/protocol/json.hpp>
#include <thalweg/protocol/timestamp.hpp>

#include <algorithm>

namespace thalweg {

namespace {

using detail::object_reader;
using detail::read_context;

token_counts read_counts(object_reader& payload, std::string_view name) {
    object_reader counts = payload.object(name);
    token_counts read;
    read.cache_read = counts.integer("cache_read");
    read.cache_write = counts.integer("cache_write");
    read.output = counts.integer("output");
    read.total = counts.integer("total");
    payload.note_unknown_in(counts);
    return read;
}

tool_definition read_tool(object_reader& tool, object_reader& payload) {
    tool_definition read;
    read.name = tool.string("name");
    read.description = tool.string("description");
    if (const auto schema = tool.optional("parameters")) read.parameters = text(schema->raw());
    payload.note_unknown_in(tool);
    return read;
}

mcp_connect_result read_mcp_result(object_reader& entry, object_reader& payload) {
    mcp_connect_result read;
    read.server = entry.string("server");
    read.transport = entry.string("transport");
    read.status = entry.string("status");
    read.duration_ms = entry.integer("duration_ms");
    read.tools = entry.optional_integer<std::int64_t>("tools");
    read.error = entry.optional_string("error");
    payload.note_unknown_in(entry);
    return read;
}

stop_reason read_status(object_reader& payload) {
    return payload.word<stop_reason>("status", detail::stop_reason_names);
}

std::shared_ptr<const session_meta> read_meta(object_reader& payload) {
    session_meta read;
    read.session_id = payload.string("session_id");
    read.provider = payload.string("provider");
    read.model_id = payload.string("model_id");
    const json::view window = payload.required("model_context_window", "a number or a string");
    if (const auto written = window.as_text())
        read.model_context_window = *written;
    else if (const auto tokens = window.as_int())
        read.model_context_window = *tokens;
    else
        payload.reject(window, "model_context_window", "an integer or a string");
    read.system_prompt = payload.string("system_prompt");
    read.agent_state = payload.string("agent_state");
    read.workspace = payload.string("workspace");
    read.source = payload.optional_string("source");
    return std::make_shared<const session_meta>(std::move(read));
}

event_payload read_event(kind k, object_reader& payload, bool facts) {
    const auto reason = [&payload] {
        return payload.word<compaction_reason>("reason", detail::compaction_reason_names);
    };
    const auto mode = [&payload] {
        return payload.word<compaction_mode>("mode", detail::compaction_mode_names);
    };
    switch (k) {
    case kind::session_meta: return read_meta(payload);
    case kind::request_end: {
        request_end read;
        read.status = read_status(payload);
        read.error_message = payload.optional_string("error_message");
        read.attempt = payload.optional_integer<int>("attempt");
        read.retry_in_ms = payload.optional_integer<std::int64_t>("retry_in_ms");
        if (facts) {
            read.why = payload.optional_word<finish>("finish", detail::finish_names).value_or(finish::end);
            read.max_attempts = payload.optional_integer<int>("max_attempts");
            if (const auto outside = payload.optional("outside")) {
                if (outside->raw() != "true") payload.reject(*outside, "outside", "true");
                read.is_outside = true;
            }
        }
        return read;
    }
    case kind::token_usage: {
        token_usage read;
        read.session = read_counts(payload, "session");
        read.request = read_counts(payload, "request");
        return read;
    }
    case kind::abort: return run_abort{payload.optional_string("reason")};
    case kind::compaction_begin: {
        compaction_begin read;
        read.reason = reason();
        read.mode = mode();
        read.context = payload.integer("context");
        read.turns = payload.integer("turns");
        return read;
    }
    case kind::compaction_end: {
        compaction_end read;
        read.reason = reason();
        read.mode = mode();
        read.status = read_status(payload);
        read.attempt = payload.optional_integer<int>("attempt");
        read.error_message = payload.optional_string("error_message");
        return read;
    }
    case kind::subagent: return subagent{payload.string("session_id")};
    case kind::tool_list_ready: {
        tool_list_ready read;
        for (object_reader& tool : payload.objects("tools"))
            read.tools.push_back(read_tool(tool, payload));
        return read;
    }
    case kind::mcp_connect_begin: return mcp_connect_begin{payload.strings("servers")};
    case kind::mcp_connect_end: {
        mcp_connect_end read{payload.string("status"), {}};
        for (object_reader& entry : payload.objects("results"))
            read.results.push_back(read_mcp_result(entry, payload));
        return read;
    }
    case kind::goal_finished:
        return goal_finished{payload.string("outcome"), payload.integer("rounds"),
                             payload.integer("tokens_used")};
    case kind::trace_fault:
        return trace_fault{payload.string("path"), payload.string("error"), payload.integer("lost")};
    case kind::notice: return notice{payload.string("code"), payload.string("text")};
    default: return {};
    }
}

std::string_view content_member(kind k) noexcept {
    switch (k) {
    case kind::text:
    case kind::partial_text: return "text";
    case kind::thinking:
    case kind::partial_thinking: return "thinking";
    case kind::tool_call:
    case kind::partial_tool_call: return "arguments";
    case kind::tool_call_output:
    case kind::partial_tool_call_output: return "output";
    case kind::image_url: return "image_url";
    default: return "data";
    }
}

// Which kind an envelope type and a payload type are together; unknown payload types fall to the `other_`
// kinds.
kind find_kind(bool is_event, std::string_view payload_type) noexcept {
    const auto first = static_cast<std::size_t>(is_event ? kind::request_begin : kind::text);
    const auto last = static_cast<std::size_t>(is_event ? kind::other_event : kind::request_begin);
    const auto begin = detail::kind_names.begin();
    const auto found = std::find(begin + first, begin + last, payload_type);
    if (found == begin + last || payload_type.empty())
        return is_event ? kind::other_event : kind::other_model;
    return static_cast<kind>(found - begin);
}

} // namespace

result<message> message_codec::read(std::string_view line, parse_options options) {
    auto root = json::parse(line);
    if (!root) return failure(root.error().code(), "message: " + root.error().message());
    read_context context(line);
    object_reader envelope(context, root.value(), "");
    message made;
    read_envelope(made, envelope, options);
    if (context.failed()) return failure(json::errc::shape, "message: " + context.take_error());
    return made;
}

void message_codec::read_envelope(message& made, object_reader& envelope, parse_options options) {
    read_time(made, envelope, options);
    const text type = envelope.string("type");
    const bool is_event = type == "event_msg";
    const bool is_meta = type == "session_meta";
    const bool is_fact = options.facts && type == "fact";
    if (!is_fact && !is_event && !is_meta && type != "model_msg") {
        envelope.reject("type", "\"session_meta\", \"model_msg\" or \"event_msg\"");
    }
    object_reader payload = envelope.object("payload");
    if (auto origin = envelope.optional_strings("origin"); !origin.empty())
        made.own().origin = std::move(origin);
    if (envelope.failed()) return;
    if (is_fact)
        read_fact(made, payload);
    else
        read_payload(made, payload, is_event, is_meta, options.facts);
    if (options.facts) read_fact_members(made, envelope);
    if (text extra = envelope.unknown_members(); !extra.empty()) made.own().extra_envelope = std::move(extra);
}

void message_codec::read_time(message& made, object_reader& envelope, parse_options options) {
    constexpr std::string_view form = "a time of the form \"YYYY-MM-DDThh:mm:ss.mmmZ\" from 1970 to 2527";
    if (!options.require_timestamp && !envelope.optional("timestamp")) return;
    const json::view written = envelope.required("timestamp", form);
    const auto time = parse_timestamp(written.as_text().value_or(text()));
    if (!time || *time < 0) return envelope.reject(written, "timestamp", form);
    made.stamp(*time);
    if (made.timestamp() != *time) envelope.reject(written, "timestamp", form);
}

void message_codec::read_fact(message& made, object_reader& payload) {
    const auto names = std::span(detail::kind_names).subspan(static_cast<std::size_t>(kind::run_begin));
    const auto nth = static_cast<std::size_t>(payload.word<kind>("type", names));
    made.head_.stop = 0;
    made.head_.kind = static_cast<std::uint64_t>(kind::run_begin) + nth;
    switch (made.kind()) {
    case kind::agent_input: {
        const json::view input = payload.required("message", "an object");
        if (!input.is_object()) payload.reject(input, "message", "an object");
        made.content_ = text(input.raw());
        made.head_.input = 1;
        break;
    }
    case kind::run_end:
        made.own().event = run_end{payload.word<run_ending>("how", detail::run_ending_names),
                                   payload.string("reason")};
        break;
    case kind::call_begin:
        made.id_ = payload.string("tool_call_id");
        made.own().name = payload.string("name");
        made.content_ = payload.string("arguments");
        made.own().beside = payload.optional_string("label").value_or(text());
        break;
    case kind::call_progress:
        made.id_ = payload.string("tool_call_id");
        made.content_ = payload.string("content");
        break;
    case kind::body_begin:
    case kind::call_settled: made.id_ = payload.string("tool_call_id"); break;
    default: break;
    }
}

void message_codec::read_fact_members(message& made, object_reader& envelope) {
    const auto flag = [&envelope](std::string_view name) {
        const auto found = envelope.optional(name);
        const auto value = found ? found->as_bool() : false;
        if (!value) envelope.reject(*found, name, "true or false");
        return value.value_or(false);
    };
    if (flag("input")) made.head_.input = 1;
    if (flag("closing")) made.head_.closing = 1;
    if (flag("trace_only")) made.head_.trace_only = 1;
    if (made.kind() == kind::call_begin) return;
    if (const auto details = envelope.optional("details")) made.own().beside = text(details->raw());
    if (auto images = envelope.optional_strings("images"); !images.empty())
        made = std::move(made).with_images(std::move(images));
}

void message_codec::read_payload(message& made, object_reader& payload, bool is_event, bool is_meta,
                                 bool facts) {
    const text type = is_meta ? text() : payload.string("type");
    const kind k = is_meta ? kind::session_meta : find_kind(is_event, type);
    made.head_.kind = static_cast<std::uint64_t>(k);
    if (k == kind::other_event || k == kind::other_model) {
        made.head_.stop = 0;
        made.own().type_name = type;
        made.own().raw_payload = text(payload.raw());
        return;
    }
    if (is_event || is_meta)
        read_event_payload(made, payload, facts);
    else
        read_model_payload(made, payload);
    if (payload.has_nested_unknown())
        made.own().raw_payload = text(payload.raw());
    else if (text extra = payload.unknown_members(); !extra.empty())
        made.own().extra_payload = std::move(extra);
}

void message_codec::read_event_payload(message& made, object_reader& payload, bool facts) {
    made.head_.stop = 0;
    if (made.kind() == kind::approval_decision) {
        const auto d = payload.word<decision>("decision", detail::decision_names);
        made.head_.decision = static_cast<std::uint64_t>(d);
        made.id_ = payload.string("tool_call_id");
    } else if (made.kind() != kind::request_begin) {
        made.own().event = read_event(made.kind(), payload, facts);
    }
}

void message_codec::read_model_payload(message& made, object_reader& payload) {
    read_role(made, payload);
    if (made.is_partial()) {
        made.head_.frame = static_cast<std::uint64_t>(payload.word<frame>("event_type", detail::frame_names));
    }
    const bool is_call = made.kind() == kind::tool_call || made.kind() == kind::partial_tool_call;
    const bool is_output = made.kind() == kind::tool_call_output ||
                           made.kind() == kind::partial_tool_call_output;
    if (is_call) {
        if (text name = payload.string("name"); !name.empty()) made.own().name = std::move(name);
    }
    made.content_ = payload.string(content_member(made.kind()));
    if (is_output) {
        if (auto images = payload.optional_strings("images"); !images.empty())
            made.own().images = std::move(images);
    }
    if (is_call || is_output) made.id_ = payload.string("tool_call_id");
    read_rest(made, payload);
}

void message_codec::read_rest(message& made, object_reader& payload) {
    const kind k = made.kind();
    if (k == kind::inline_data || k == kind::inline_thinking)
        made.own().mime_type = payload.string("mime_type");
    const auto stop = payload.optional_word<stop_reason>("stop_reason", detail::stop_reason_names);
    made.head_.stop = static_cast<std::uint64_t>(stop.value_or(stop_reason::none));
    const bool may_have_fidelity = made.is_complete() && k != kind::tool_call_output && k != kind::image_url;
    if (may_have_fidelity) {
        const auto fidelity = payload.optional("fidelity");
        if (fidelity && !fidelity->is_object()) payload.reject(*fidelity, "fidelity", "an object");
        if (fidelity) made = std::move(made).with_fidelity(text(fidelity->raw()));
    }
    if (k == kind::text) {
        if (auto sender = payload.optional_string("sender"))
            made = std::move(made).with_sender(std::move(*sender));
    }
}

// R-PRO-11: only text and inline data may be of either side.
void message_codec::read_role(message& made, object_reader& payload) {
    const auto by = payload.word<role>("role", detail::role_names);
    made.head_.role = static_cast<std::uint64_t>(by);
    switch (made.kind()) {
    case kind::text:
    case kind::inline_data: return;
    case kind::tool_call_output:
    case kind::partial_tool_call_output:
    case kind::image_url:
        if (by != role::user) payload.reject("role", "\"user\"");
        return;
    default:
        if (by != role::assistant) payload.reject("role", "\"assistant\"");
        return;
    }
}

result<message> parse_message(std::string_view line, parse_options options) {
    return message_codec::read(line, options);
}

} // namespace thalweg

// SPDX-License-Identifier: BSL-1.0

#include <thalweg/agent/detail/call_run.hpp>

#include <thalweg/agent/detail/model_context.hpp>
#include <thalweg/engine/grace.hpp>
#include <thalweg/engine/output_framer.hpp>
#include <thalweg/protocol/json.hpp>

#include <vector>

namespace thalweg::detail {

namespace {

/// What becomes of a call before a hook sees it: a status, and the line behind what the tool gave.
struct verdict {
    stop_reason status = stop_reason::completed;
    std::string note;
};

verdict verdict_of(const body_ending& how) {
    if (how.broken) return {stop_reason::failed, *how.broken};
    // Whatever the tool made of the stop request: that it was too slow is what the model has to know.
    if (how.timed_out && !how.interrupted) {
        return {stop_reason::failed,
                "[tool timeout: exceeded " + std::to_string(how.timed_out->count()) + "ms]"};
    }
    if (how.thrown) return {stop_reason::failed, *how.thrown};
    if (!how.result) return {stop_reason::aborted, "Operation aborted"};
    const stop_reason status = how.result->stop().value_or(stop_reason::completed);
    if (status != stop_reason::aborted || !how.result->note().empty()) return {status, how.result->note()};
    return {status, "Operation aborted"};
}

content_list content_of(std::string words, std::vector<text> images) {
    content_list content(content_block::text(text(words)));
    for (text& url : images)
        content.push_back(content_block::image_url(std::move(url)));
    return content;
}

} // namespace

result<std::string> schema_cache::check(const tool_definition& tool, std::string_view arguments) {
    const auto parsed = json::parse(arguments);
    if (!parsed) return parsed.error();
    if (!parsed.value().is_object()) return error(json::errc::shape, "expected an object at byte 0");
    if (tool.parameters.empty()) return std::string(arguments);
    auto place = compiled_.find(tool.name.view());
    if (place == compiled_.end())
        place = compiled_.emplace(tool.name.str(), json_schema::compile(tool.parameters)).first;
    if (!place->second) {
        return error(json::errc::shape,
                     "the tool's own schema is no schema: " + place->second.error().message());
    }
    const json_schema& schema = *place->second.value();
    std::string converted = schema.converted(parsed.value());
    const auto again = json::parse(converted);
    if (!again) return again.error();
    if (auto fault = schema.fault(again.value())) return error(json::errc::shape, std::move(*fault));
    return converted;
}

task<void> call_run::conclude(body_ending how, std::string held, output_framer& out) {
    verdict said = verdict_of(how);
    std::vector<text> images;
    text details;
    if (how.result) {
        terminates = how.result->terminates();
        images = std::move(how.result->images());
        details = std::move(how.result->details());
    }
    std::vector<std::string> notes;
    if (!options_.after_tool_call) {
        notes.push_back(std::move(said.note));
        if (how.result) out.add_last(std::move(how.result->output()));
        out.finish(said.status, notes, std::move(images), std::move(details));
        co_return;
    }
    if (how.result) held += how.result->output().view();
    if (!said.note.empty()) held += (held.empty() ? "" : "\n") + said.note;
    executed_tool result{content_of(std::move(held), std::move(images)), std::move(details),
                         said.status != stop_reason::completed, terminates};
    co_await change(result);
    terminates = result.terminates;
    std::vector<text> left;
    for (const content_block& block : result.content) {
        if (block.kind() == content_block::type::image) left.push_back(image_url_of(block));
    }
    stop_reason status = stop_reason::completed;
    if (result.is_error) status = said.status == stop_reason::completed ? stop_reason::failed : said.status;
    out.add_last(text(result.content.joined_text()));
    out.finish(status, notes, std::move(left), std::move(result.details));
}

/// Lets the hook change `result`; a hook that fails makes an error of it.
task<void> call_run::change(executed_tool& result) {
    std::string fault;
    try {
        co_await unless_deaf(call_hook(result), options_.interrupt_grace);
    } catch (const std::exception& e) {
        fault = e.what();
        if (fault.empty()) fault = "after_tool_call failed";
    } catch (...) {
        fault = "after_tool_call threw something that is no std::exception";
    }
    if (fault.empty()) co_return;
    result.content = content_list(content_block::text(text(fault)));
    result.is_error = true;
}

task<void> call_run::call_hook(executed_tool& result) {
    const hooked_call about{call, *answer};
    co_await options_.after_tool_call(about, result);
}

} // namespace thalweg::detail

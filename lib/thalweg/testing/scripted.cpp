// SPDX-License-Identifier: BSL-1.0

#include <thalweg/testing/scripted.hpp>

#include <thalweg/async/sleep.hpp>
#include <thalweg/testing/complaints.hpp>
#include <thalweg/testing/context_checker.hpp>

#include <stdexcept>

namespace thalweg::testing {

using std::chrono::milliseconds;

stream<delta, model_outcome> scripted_model::generate(model_request request) {
    const std::string fault = context_fault(request.history(), request.input());
    if (!fault.empty()) complain("request " + std::to_string(requests()) + " to the model: " + fault);
    return providers::scripted::generate(std::move(request));
}

tool_script tool_script::add(step s) && {
    steps_.push_back(std::move(s));
    return std::move(*this);
}
tool_script tool_script::wait(milliseconds d) && {
    return std::move(*this).add({step_type::wait, d, {}});
}
tool_script tool_script::wait_through(milliseconds d) && {
    return std::move(*this).add({step_type::wait_through, d, {}});
}
tool_script tool_script::output(text piece) && {
    return std::move(*this).add({step_type::output, {}, piece.str()});
}
tool_script tool_script::images(std::vector<text> data_urls) && {
    images_ = std::move(data_urls);
    return std::move(*this);
}
tool_script tool_script::hang(milliseconds after_stop) && {
    return std::move(*this).add({step_type::hang, after_stop, {}});
}
tool_script tool_script::throws(std::string what) && {
    return std::move(*this).add({step_type::throws, {}, std::move(what)});
}
tool_script tool_script::breaks(std::string what) && {
    return std::move(*this).add({step_type::breaks, {}, std::move(what)});
}
tool_script tool_script::ends(tool_result result) && {
    result_ = std::move(result);
    return std::move(*this);
}

stream<chunk, tool_result> tool_script::play(tool_script script) {
    for (step& each : script.steps_) {
        switch (each.type) {
        case step_type::wait: {
            const bool waited = co_await sleep_for(each.time);
            if (!waited) co_return tool_result::aborted();
            break;
        }
        case step_type::wait_through: co_await sleep_through(each.time); break;
        case step_type::output: co_yield chunk::text(text(each.words)); break;
        case step_type::hang:
            co_await stop_requested();
            co_await sleep_through(each.time);
            co_return tool_result::aborted();
        case step_type::throws: throw std::runtime_error(each.words);
        case step_type::breaks: throw environment_failure(each.words);
        }
    }
    tool_result result = tool_result::completed();
    if (script.result_) result = std::move(*script.result_);
    co_return std::move(result).with_images(std::move(script.images_));
}

tool_script after(milliseconds delay, text piece) {
    return tool_script().wait(delay).output(std::move(piece));
}

std::vector<tool_definition> scripted_tools::tools() const {
    std::vector<tool_definition> list;
    for (const auto& [name, script] : scripts_) {
        list.push_back({text(name), text("scripted " + name), text(R"({"type":"object"})")});
    }
    return list;
}

stream<chunk, tool_result> scripted_tools::execute(tool_call call, tool_context) {
    const auto found = scripts_.find(call.name().view());
    tool_script script = found != scripts_.end() ? found->second : tool_script();
    executed_.push_back(std::move(call));
    return tool_script::play(std::move(script));
}

} // namespace thalweg::testing

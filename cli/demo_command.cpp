// SPDX-License-Identifier: BSL-1.0

#include "demo_command.hpp"

#include "exit_status.hpp"
#include "printable.hpp"
#include "renderer.hpp"

#include <thalweg/environments/demo.hpp>
#include <thalweg/protocol/stream_checker.hpp>
#include <thalweg/protocol/utf8.hpp>
#include <thalweg/providers/scripted.hpp>
#include <thalweg/thalweg.hpp>

#include <chrono>
#include <cstdio>
#include <functional>
#include <string>
#include <utility>

namespace cli {

using namespace thalweg;

namespace {

/// Says what a message shows, once each.
class narrator {
public:
    std::string remark(const message& m) {
        switch (m.kind()) {
        case kind::request_begin:
            return requests_++ == 0 ? "one request to the model begins" : second_request();
        case kind::partial_thinking:
            if (m.frame() == frame::start) return once(segment_, "a segment: start, pieces, stop …");
            return {};
        case kind::thinking: return "… and at once the complete message, equal to its pieces";
        case kind::approval_decision: return about_decision(m);
        case kind::partial_tool_call:
            if (m.frame() == frame::start && running_ > 0) {
                return once(model_goes_on_, "the model's stream goes on; it does not wait for the tool");
            }
            return {};
        case kind::tool_call_output: return about_output(m);
        case kind::token_usage: return once(tail_, "always the last message of the model …");
        case kind::request_end:
            ended_ = true;
            return running_ > 0 ? "… and the request ends at once, though a tool still runs" : "";
        case kind::partial_tool_call_output:
            if (ended_ && m.frame() == frame::delta) {
                return once(late_, "late output, behind request_end: its call id says whose it is");
            }
            return {};
        default: return {};
        }
    }

private:
    static std::string once(bool& said, const char* sentence) {
        return std::exchange(said, true) ? std::string() : std::string(sentence);
    }
    std::string second_request() {
        ended_ = false;
        return "all outputs are there: only now the next request begins";
    }
    std::string about_decision(const message& m) {
        if (m.decision() != decision::allow) return "denied: nothing is dispatched …";
        ++running_;
        return once(allowed_, "approved before anything that follows; the tool starts now, beside the model");
    }
    std::string about_output(const message& m) {
        if (m.stop() == stop_reason::aborted) return "… and the output says so, for the model";
        --running_;
        if (running_ > 0)
            return once(overtaken_, "called later, done earlier: the stream has completion order");
        return "each call has exactly one complete output";
    }

    int requests_ = 0;
    int running_ = 0;
    bool ended_ = false;
    bool segment_ = false;
    bool model_goes_on_ = false;
    bool tail_ = false;
    bool late_ = false;
    bool allowed_ = false;
    bool overtaken_ = false;
};

std::string label(const message& m) {
    std::string text(m.type_name().view());
    if (m.frame() != frame::none) text += " " + std::string(to_string(m.frame()));
    if (m.kind() == kind::approval_decision) text += " " + std::string(to_string(m.decision()));
    if (!m.tool_call_id().empty()) text += " " + m.tool_call_id().str();
    return text;
}

std::string detail(const message& m) {
    if (!m.name().empty()) return m.name().str();
    if (const auto* used = m.event_if<token_usage>()) return std::to_string(used->request.total) + " tokens";
    if (const auto* end = m.event_if<request_end>()) return std::string(to_string(end->status));
    if (const auto* last = m.event_if<run_abort>()) return one_line(last->reason.value_or(text()), 34);
    return one_line(m.content(), 34);
}

/// printf counts bytes, a reader columns.
std::string padded(std::string text, std::size_t columns) {
    const std::size_t size = utf8::count(text);
    if (size < columns) text.append(columns - size, ' ');
    return text;
}

decision careful(const tool_call& call) {
    return call.name() == "delete_everything" ? decision::deny : decision::allow;
}

task<int> show() {
    const context here = co_await this_coroutine();
    providers::scripted model = providers::demo_model();
    session chat(std::ref(model), environments::demo());
    stream_checker checker;
    narrator tells;
    const bool color = wants_color(stdout);
    std::printf("One stream: a scripted model and three tool calls, merged in the order of arrival.\n\n");
    std::printf("     ms  message                                  content                             what "
                "it shows\n");

    const auto start = here.loop().now();
    auto run = chat.run("What is the weather in Oslo, and what do the dice say?", {.approve = careful});
    while (message* m = co_await run.peek()) {
        checker.feed(*m);
        const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(here.loop().now() - start)
                            .count();
        const std::string remark = tells.remark(*m);
        std::printf("%7lld  %s %s %s%s%s\n", static_cast<long long>(ms), padded(label(*m), 40).c_str(),
                    padded(detail(*m), 35).c_str(), color ? "\x1b[36m" : "", remark.c_str(),
                    color ? "\x1b[0m" : "");
        std::fflush(stdout);
    }
    checker.finish();

    if (run.result().how() == run_outcome::end::interrupted) co_return interrupted;
    std::printf("\nThe reader saw the outputs as they finished; the model got them in call order:");
    for (const message& m : model.request(1).input)
        std::printf(" %s", m.tool_call_id().str().c_str());
    std::printf("\nThe stream checker read all of it and %s.\n",
                checker.ok() ? "found nothing wrong" : "objects:");
    if (!checker.ok()) std::printf("%s\n", checker.report().c_str());
    co_return run.result().ok() && checker.ok() ? ok : failure;
}

} // namespace

int demo() {
    return run_main(show);
}

} // namespace cli

// SPDX-License-Identifier: BSL-1.0

#pragma once

// What the tests of whole turns share: something that happens at a moment, sinks and sessions that misbehave,
// and children.

#include "engine/framing.hpp"

#include <thalweg/async/sleep.hpp>
#include <thalweg/engine/session.hpp>
#include <thalweg/protocol/stream_checker.hpp>
#include <thalweg/testing/collect.hpp>
#include <thalweg/testing/scripted.hpp>
#include <thalweg/testing/virtual_loop.hpp>
#include <thalweg/trace/memory_sink.hpp>

#include <chrono>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace turn {

using namespace thalweg;
using namespace thalweg::testing;
using std::chrono::milliseconds;

inline task<void> do_at(milliseconds when, std::function<void()> what) {
    co_await sleep_through(when);
    what();
}

template <class... Answer>
void script(scripted_model& model, Answer... answers) {
    (model.add(std::move(answers)), ...);
}

/// Milliseconds of the virtual loop.
inline task<milliseconds> now() {
    const context here = co_await this_coroutine();
    co_return static_cast<virtual_loop&>(here.loop()).elapsed();
}

template <class Messages>
std::string objections(const Messages& messages) {
    stream_checker checker;
    for (const message& m : messages)
        checker.feed(m);
    checker.finish();
    return checker.report();
}

inline words words_of_request(const scripted_model& model, std::size_t n) {
    return words_of(model.request(n).input);
}

/// How often `what` stands in all that the model was ever handed as new input.
inline int times_asked(const scripted_model& model, std::string_view what) {
    int count = 0;
    for (std::size_t n = 0; n < model.requests(); ++n) {
        for (const message& m : model.request(n).input) {
            for (auto at = m.content().view().find(what); at != std::string_view::npos;
                 at = m.content().view().find(what, at + 1)) {
                ++count;
            }
        }
    }
    return count;
}

/// A trace that keeps everything in memory and takes its time, or for ever.
class slow_sink final : public trace::sink {
public:
    /// Writes up to `from` are quick, later ones take `each` and do not listen.
    slow_sink(std::size_t from, milliseconds each) : from_(from), each_(each) {}
    void get_well() { each_ = milliseconds::zero(); }
    void fall_ill(milliseconds each) { from_ = writes_, each_ = each; }
    std::size_t writes() const { return writes_; }

    task<result<void>> write(std::span<const message> messages) override {
        const bool is_slow = writes_++ >= from_ && each_ > milliseconds::zero();
        if (is_slow) co_await sleep_through(each_);
        co_return co_await kept.write(messages);
    }
    void rotate() override { kept.rotate(); }
    std::string_view path() const noexcept override { return "slow"; }

    trace::memory_sink kept;

private:
    std::size_t from_;
    milliseconds each_;
    std::size_t writes_ = 0;
};

/// Tools of which some are sessions: the arguments of the call are the child's prompt.
class family {
public:
    template <class Session>
    family& child(std::string name, Session& session) {
        children_[std::move(name)] = [&session](tool_context around, text prompt) {
            return session.run_under(std::move(around), std::move(prompt));
        };
        return *this;
    }
    family& tool(std::string name, tool_script script) {
        scripts_[std::move(name)] = std::move(script);
        return *this;
    }

    std::vector<tool_definition> tools() const {
        std::vector<tool_definition> list;
        for (const auto& [name, unused] : children_)
            list.push_back({text(name), text("a child"), text("{}")});
        for (const auto& [name, unused] : scripts_)
            list.push_back({text(name), text("a tool"), text("{}")});
        return list;
    }
    stream<chunk, tool_result> execute(tool_call call, tool_context around) {
        const auto child = children_.find(call.name().str());
        if (child != children_.end()) return child->second(std::move(around), call.arguments());
        return tool_script::play(scripts_[call.name().str()]);
    }

private:
    std::map<std::string, std::function<stream<chunk, tool_result>(tool_context, text)>> children_;
    std::map<std::string, tool_script> scripts_;
};

inline session_meta meta_of(std::string id) {
    session_meta meta;
    meta.session_id = text(std::move(id));
    return meta;
}

inline bool is_aborted(const std::vector<message>& messages) {
    return !messages.empty() && messages.back().kind() == kind::abort;
}

} // namespace turn

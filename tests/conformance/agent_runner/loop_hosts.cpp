// SPDX-License-Identifier: BSL-1.0

#include "hooks.hpp"
#include "hosts.hpp"

#include <thalweg/agent/agent_loop.hpp>
#include <thalweg/agent/agent_queue.hpp>
#include <thalweg/agent/agent_view.hpp>

#include <algorithm>
#include <array>
#include <string>
#include <utility>

namespace conformance {

using namespace thalweg;

namespace {

/// A host that keeps the queues itself and reads one run.
class iterator_host : public host {
public:
    iterator_host(const scenario& s, record& seen)
        : seen_(seen),
          model_(s.data.at("llm").as_array(), seen),
          tools_(find_object(&s.data, "tools"), seen),
          is_loop_(text_or(s.data, "api", {}) == "loop"),
          options_(options_of(find_object(&s.data, "options"), seen)),
          steering_(options_.steering_mode),
          follow_ups_(options_.follow_up_mode) {
        options_.poll_steering = [this] { return steering_.take(); };
        options_.poll_follow_ups = [this] { return follow_ups_.take(); };
        if (const json::value* more = find(find_object(&s.data, "options"), "loop_follow_ups")) {
            for (const json::value& each : more->as_array())
                follow_ups_.push(agent_message::user(text(std::string_view(each.as_string()))));
        }
    }

    task<agent_outcome> prompt(std::vector<agent_message> all) override { return read(std::move(all)); }
    task<agent_outcome> continue_() override { return read({}); }
    void steer(agent_message m) override { steering_.push(std::move(m)); }
    void follow_up(agent_message m) override { follow_ups_.push(std::move(m)); }
    void clear_queues() override {
        steering_.clear();
        follow_ups_.clear();
    }
    void abort() override {
        if (running_ != nullptr) running_->request(cancel_reason::user);
    }
    void drop_last(std::size_t) override {}
    task<void> idle() override { co_return; }
    void serve(scope&) override {}
    void add_to(json::object& seen) override {
        if (is_loop_) seen["result"] = result_;
    }

protected:
    [[nodiscard]] virtual task<agent_outcome> read(std::vector<agent_message> prompts) = 0;
    void keep(const agent_outcome& outcome) { result_ = seen_.words().of(outcome.messages()); }

    record& seen_;
    script_model model_;
    script_tools tools_;
    bool is_loop_;
    agent_options options_;
    cancel_source* running_ = nullptr;

private:
    agent_queue steering_;
    agent_queue follow_ups_;
    json::array result_;
};

class loop_host final : public iterator_host {
public:
    using iterator_host::iterator_host;

private:
    [[nodiscard]] stream<agent_event, agent_outcome> begin(std::vector<agent_message> prompts) {
        if (prompts.empty()) return agent_loop_continue(model_, tools_, options_.messages, options_);
        return agent_loop(model_, tools_, std::move(prompts), options_.messages, options_);
    }
    task<agent_outcome> read(std::vector<agent_message> prompts) override {
        const context here = co_await this_coroutine();
        cancel_source stop;
        const context under(here.loop(), stop);
        running_ = &stop;
        auto run = begin(std::move(prompts));
        while (auto event = co_await run.next_under(under))
            seen_.on_event(*event, nullptr);
        running_ = nullptr;
        keep(run.result());
        co_return run.result();
    }
};

class steps_host final : public iterator_host {
public:
    using iterator_host::iterator_host;

private:
    task<agent_outcome> read(std::vector<agent_message> prompts) override;
    void replay() const;

    std::vector<std::string> log_; // the facts, as a recorder writes them
};

task<agent_outcome> steps_host::read(std::vector<agent_message> prompts) {
    const context here = co_await this_coroutine();
    cancel_source stop;
    const context under(here.loop(), stop);
    running_ = &stop;
    agent_task what;
    what.prompts = std::move(prompts);
    what.transcript = options_.messages;
    auto shared = std::make_shared<const agent_options>(options_);
    auto run = agent_steps(provider_ref(model_), environment_ref(tools_), std::move(what), std::move(shared));
    while (auto step = co_await run.next_under(under)) {
        append_fact_json(log_.emplace_back(), step->fact);
        if (!step->fact.is_fact()) seen_.on_message(step->fact);
        for (const agent_event& each : step->events)
            seen_.on_event(each, nullptr);
    }
    running_ = nullptr;
    keep(run.result());
    replay();
    co_return run.result();
}

/// R-EVT-100: the same log gives the same events.
void steps_host::replay() const {
    agent_view view;
    std::vector<agent_event> again;
    for (const std::string& line : log_) {
        parse_options options;
        options.facts = true;
        const auto fact = parse_message(line, options);
        if (!fact)
            return seen_.object("a recorded fact is not read: " + fact.error().message() + ": " + line);
        const auto events = view.feed(fact.value());
        again.insert(again.end(), events.begin(), events.end());
    }
    if (again != seen_.plain_events()) seen_.object("R-EVT-100: the recorded facts give other events");
}

} // namespace

std::unique_ptr<host> make_loop(const scenario& s, record& seen) {
    return std::make_unique<loop_host>(s, seen);
}

std::unique_ptr<host> make_steps(const scenario& s, record& seen) {
    return std::make_unique<steps_host>(s, seen);
}

bool fits_iterator(const scenario& s) {
    const json::object* options = find_object(&s.data, "options");
    constexpr std::array listeners{"listener_delay",      "listener_throws", "unsubscribe_at",
                                   "prompt_on_agent_end", "queue_on",        "abort_on"};
    const bool has_listener = std::any_of(listeners.begin(), listeners.end(), [options](const char* name) {
        return find(options, name) != nullptr;
    });
    int runs = 0;
    for (const json::value& each : s.data.at("actions").as_array()) {
        const json::object& action = each.as_object();
        if (action.contains("after_idle") || action.contains("drop_last")) return false;
        if (action.contains("continue") && find(options, "initial_messages") == nullptr) return false;
        if (action.contains("prompt") || action.contains("continue")) ++runs;
    }
    return !has_listener && runs == 1;
}

} // namespace conformance

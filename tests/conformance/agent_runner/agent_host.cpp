// SPDX-License-Identifier: BSL-1.0

#include "hooks.hpp"
#include "hosts.hpp"

#include <thalweg/agent/agent.hpp>
#include <thalweg/async/sleep.hpp>

#include <algorithm>
#include <chrono>
#include <functional>
#include <stdexcept>
#include <utility>

namespace conformance {

using namespace thalweg;
using std::chrono::milliseconds;

namespace {

/// Waits for the nth event of a type.
class nth_event {
public:
    explicit nth_event(const json::object& script)
        : type_(text_or(script, "event", {})), left_(number_or(script, "nth", 1)) {}
    [[nodiscard]] bool is_it(const agent_event& e) { return to_string(e.kind()) == type_ && --left_ == 0; }

private:
    std::string type_;
    std::int64_t left_;
};

class agent_host final : public host {
public:
    agent_host(const scenario& s, record& seen)
        : options_(find_object(&s.data, "options")),
          seen_(seen),
          model_(s.data.at("llm").as_array(), seen),
          tools_(find_object(&s.data, "tools"), seen),
          agent_(std::ref(model_), std::ref(tools_), options_of(options_, seen)) {
        add_thrower();
        add_sleeper();
        add_leaver();
        add_actors();
        keep(agent_.subscribe([this](const message& m) { seen_.on_message(m); }));
        keep(agent_.subscribe([this](const agent_event& e) { seen_.on_event(e, &agent_.state()); }));
    }

    task<agent_outcome> prompt(std::vector<agent_message> all) override {
        return agent_.prompt(std::move(all));
    }
    task<agent_outcome> continue_() override { return agent_.continue_(); }
    void steer(agent_message m) override { agent_.steer(std::move(m)); }
    void follow_up(agent_message m) override { agent_.follow_up(std::move(m)); }
    void clear_queues() override { agent_.clear_all_queues(); }
    void abort() override { agent_.abort(); }
    void drop_last(std::size_t count) override {
        std::vector<agent_message> all = agent_.state().messages;
        all.resize(all.size() - std::min(count, all.size()));
        agent_.set_messages(std::move(all));
    }
    task<void> idle() override { return agent_.wait_for_idle(); }
    void serve(scope& calls) override { calls_ = &calls; }
    void add_to(json::object& seen) override;

private:
    void keep(subscription s) { listening_.push_back(std::move(s)); }
    void add_thrower();
    void add_sleeper();
    void add_leaver();
    void add_actors();
    [[nodiscard]] task<void> sleep(milliseconds d);
    [[nodiscard]] task<void> prompt_again(task<agent_outcome> call);

    const json::object* options_;
    record& seen_;
    script_model model_;
    script_tools tools_;
    agent<script_model&, script_tools&> agent_;
    scope* calls_ = nullptr;
    std::vector<subscription> listening_;
    subscription leaver_;
    json::array told_leaver_;
    json::value listener_action_;
};

void agent_host::add_thrower() {
    const json::object* script = find_object(options_, "listener_throws");
    if (script == nullptr) return;
    keep(agent_.subscribe([when = nth_event(*script), script](const agent_event& e) mutable {
        if (when.is_it(e)) throw std::runtime_error(text_or(*script, "message", {}));
    }));
}

void agent_host::add_sleeper() {
    const json::object* script = find_object(options_, "listener_delay");
    if (script == nullptr) return;
    keep(agent_.subscribe([this, script](const agent_event& e) -> task<void> {
        if (to_string(e.kind()) != text_or(*script, "event", {})) return {};
        return sleep(milliseconds(number_or(*script, "delay_ms", 0)));
    }));
}

task<void> agent_host::sleep(milliseconds d) {
    json::object begin{{"type", "#slow_begin"}};
    json::object end{{"type", "#slow_end"}};
    seen_.mark(std::move(begin));
    co_await sleep_through(d);
    seen_.mark(std::move(end));
}

void agent_host::add_leaver() {
    const json::object* script = find_object(options_, "unsubscribe_at");
    if (script == nullptr) return;
    leaver_ = agent_.subscribe([this, when = nth_event(*script)](const agent_event& e) mutable {
        told_leaver_.push_back(seen_.words().of(e, false));
        if (when.is_it(e)) leaver_.reset();
    });
}

void agent_host::add_actors() {
    if (const json::value* again = find(options_, "prompt_on_agent_end")) {
        keep(agent_.subscribe([this, again](const agent_event& e) {
            if (e.kind() != agent_event::type::agent_end || !listener_action_.is_null()) return;
            listener_action_ = "asked";
            calls_->spawn(prompt_again(agent_.prompt(text(std::string_view(again->as_string())))));
        }));
    }
    if (const json::object* script = find_object(options_, "queue_on")) {
        keep(agent_.subscribe([this, script, when = nth_event(*script)](const agent_event& e) mutable {
            if (!when.is_it(e)) return;
            if (script->contains("steer")) agent_.steer(text(text_or(*script, "steer", {})));
            if (script->contains("follow_up")) agent_.follow_up(text(text_or(*script, "follow_up", {})));
        }));
    }
    if (const json::object* script = find_object(options_, "abort_on")) {
        keep(agent_.subscribe([this, when = nth_event(*script)](const agent_event& e) mutable {
            if (when.is_it(e)) agent_.abort();
        }));
    }
}

task<void> agent_host::prompt_again(task<agent_outcome> call) {
    const agent_outcome outcome = co_await std::move(call);
    listener_action_ = result_value(outcome);
}

void agent_host::add_to(json::object& seen) {
    const agent_state& state = agent_.state();
    json::object last = state_value(state).as_object();
    last["messages"] = seen_.words().of(state.messages);
    last["is_streaming"] = agent_.is_busy();
    last["queued"] = agent_.has_queued_messages();
    seen["states"] = seen_.states();
    seen["final_state"] = std::move(last);
    if (!listener_action_.is_null()) seen["listener_action"] = listener_action_;
    if (find(options_, "unsubscribe_at") != nullptr) seen["listener_b"] = told_leaver_;
}

} // namespace

json::object result_value(const agent_outcome& outcome) {
    const std::error_code code = outcome.error().code();
    if (code == agent_errc::busy) return {{"error", "busy"}};
    if (code == agent_errc::empty) return {{"error", "empty"}};
    if (code == agent_errc::assistant_tail) return {{"error", "assistant_tail"}};
    return {{"ok", true}}; // also when the model failed (R-EVT-55)
}

std::unique_ptr<host> make_agent(const scenario& s, record& seen) {
    return std::make_unique<agent_host>(s, seen);
}

} // namespace conformance

// SPDX-License-Identifier: BSL-1.0

#include "support/catch.hpp"

#include <thalweg/async/sleep.hpp>
#include <thalweg/engine/session.hpp>
#include <thalweg/testing/co_test_case.hpp>
#include <thalweg/testing/collect.hpp>
#include <thalweg/testing/scripted.hpp>
#include <thalweg/trace/memory_sink.hpp>

#include <string>
#include <vector>

using namespace thalweg;
using namespace thalweg::testing;

namespace {

std::string kinds(const result<std::vector<message>>& history) {
    if (!history) return history.error().message();
    std::string all;
    for (const message& m : history.value()) {
        if (!all.empty()) all += ' ';
        all += m.kind() == kind::session_meta ? "session_meta" : m.type_name().str();
    }
    return all;
}

session_options options_with(trace::sink* sink) {
    session_options options;
    options.meta.emplace().session_id = text("session-of-a-test");
    options.trace = sink;
    return options;
}

constexpr const char*
    one_run = "session_meta text tool_list_ready request_begin text token_usage request_end";

} // namespace

CO_TEST_CASE("the history is the same from the trace, from memory, and from both") {
    for (const bool has_trace : {true, false}) {
        trace::memory_sink sink;
        scripted_model model{answer().text("hello")};
        session chat(std::ref(model), scripted_tools{}, options_with(has_trace ? &sink : nullptr));
        const auto seen = co_await collect(chat.run("hi"));
        CHECK(seen.result.ok());
        CHECK(kinds(chat.history()) == one_run);
    }
    trace::memory_sink sink;
    scripted_model model{answer().text("hello")};
    session chat(std::ref(model), scripted_tools{}, options_with(&sink));
    auto run = chat.run("hi");
    auto first = co_await run.next(); // the head and the prompt are recorded
    CHECK(first.has_value());
    sink.fail_writes(2, error(std::make_error_code(std::errc::no_space_on_device), "the disk is full"));
    std::vector<message> rest;
    while (auto m = co_await run.next())
        rest.push_back(std::move(*m));
    CHECK(kinds(chat.history()) == std::string(one_run) + " trace_fault");
    CHECK(of_kind(rest, kind::trace_fault).size() == 1);
}

CO_TEST_CASE("a record whose write was given up and landed later is in the history once") {
    class late_sink final : public trace::sink {
    public:
        [[nodiscard]] task<result<void>> write(std::span<const message> messages) override {
            if (!is_deaf) co_return take(messages);
            late_.assign(messages.begin(), messages.end());
            co_await sleep_through(std::chrono::hours(1));
            co_return take(late_);
        }
        void rotate() override {}
        [[nodiscard]] std::string_view path() const noexcept override { return "late"; }
        [[nodiscard]] result<std::vector<message>> read_back() const override { return kept_; }
        void land() { static_cast<void>(take(late_)); }
        bool is_deaf = false;

    private:
        result<void> take(std::span<const message> messages) {
            for (const message& m : messages) { // as from a file
                if (m.is_recordable()) kept_.push_back(parse_message(to_json(m)).value());
            }
            return BOOST_OUTCOME_V2_NAMESPACE::success();
        }
        std::vector<message> kept_;
        std::vector<message> late_;
    };
    late_sink sink;
    scripted_model model{answer().text("hello")};
    session chat(std::ref(model), scripted_tools{}, options_with(&sink));
    {
        auto run = chat.run("hi");
        auto first = co_await run.next();
        CHECK(first.has_value());
        sink.is_deaf = true;
        chat.interrupt();
        while (auto m = co_await run.next())
            CHECK(m->origin().empty());
    }
    const std::string before = kinds(chat.history());
    CHECK(before.starts_with("session_meta text tool_list_ready"));
    CHECK(before.find("abort") != std::string::npos);
    sink.land();
    CHECK(kinds(chat.history()) == before);
}

CO_TEST_CASE("a context that was given up stays in the history") {
    trace::memory_sink sink;
    scripted_model model{answer().text("hello"), answer().text("[summary]greeted[/summary]"),
                         answer().text("again")};
    session_options options = options_with(&sink);
    options.compaction.emplace();
    session chat(std::ref(model), scripted_tools{}, std::move(options));
    const auto before = co_await collect(chat.run("hi"));
    const auto compaction = co_await collect(chat.compact());
    const auto after = co_await collect(chat.run("and now"));
    CHECK(before.result.ok());
    CHECK(compaction.result.ok());
    CHECK(after.result.ok());
    CHECK(chat.context().size() == 3);
    CHECK(sink.files().size() == 2);
    const auto history = chat.history();
    CHECK(history.value().size() == sink.files()[0].size() + sink.files()[1].size());
    CHECK(history.value()[1].content() == "hi");
}

CO_TEST_CASE("a trace that cannot be read back says so") {
    class write_only final : public trace::sink {
    public:
        [[nodiscard]] task<result<void>> write(std::span<const message>) override { return done(); }
        void rotate() override {}
        [[nodiscard]] std::string_view path() const noexcept override { return "nowhere"; }

    private:
        static task<result<void>> done() { co_return BOOST_OUTCOME_V2_NAMESPACE::success(); }
    };
    write_only sink;
    scripted_model model{answer().text("hello")};
    session chat(std::ref(model), scripted_tools{}, options_with(&sink));
    const auto seen = co_await collect(chat.run("hi"));
    CHECK(seen.result.ok());
    CHECK(kinds(chat.history()).find("read back") != std::string::npos);
}

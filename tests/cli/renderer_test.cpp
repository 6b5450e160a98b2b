// SPDX-License-Identifier: BSL-1.0

#include "support/catch.hpp"

#include <cli/renderer.hpp>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>

using thalweg::decision;
using thalweg::frame;
using thalweg::message;
using thalweg::stop_reason;
using thalweg::text;

namespace {

/// A renderer whose output is kept.
class screen {
public:
    explicit screen(bool color = false) : out_(::open_memstream(&bytes_, &size_)), shown(out_, color) {}
    screen(const screen&) = delete;
    screen& operator=(const screen&) = delete;
    ~screen() {
        std::fclose(out_);
        std::free(bytes_); // NOLINT: the C library gave it
    }
    /// Everything written since the last call.
    std::string take() {
        std::fflush(out_);
        std::string all(bytes_ + std::exchange(taken_, size_), bytes_ + size_);
        return all;
    }

    [[nodiscard]] std::FILE* file() { return out_; }

private:
    char* bytes_ = nullptr;
    std::size_t size_ = 0;
    std::size_t taken_ = 0;
    std::FILE* out_;

public:
    cli::renderer shown;
};

message call(const char* name, const char* id) {
    return message::tool_call(text(name), text("{}"), text(id));
}
message piece(const char* id, const char* words) {
    return message::partial_tool_call_output(frame::delta, text(id), text(words));
}
message output(const char* id, const char* words, stop_reason how = stop_reason::completed) {
    return message::tool_call_output(text(words), text(id)).with_stop(how);
}

} // namespace

TEST_CASE("an answer is shown as it comes and once only") {
    screen on;
    on.shown.show(message::partial_text(frame::start));
    on.shown.show(message::partial_text(frame::delta, text("It is ")));
    CHECK(on.take() == "It is ");
    on.shown.show(message::partial_text(frame::delta, text("dry.")));
    on.shown.show(message::partial_text(frame::stop));
    CHECK(on.take() == "dry.");
    on.shown.show(message::assistant_text(text("It is dry.")));
    CHECK(on.take() == "\n");
}

TEST_CASE("an answer that ends its own line gets no second line end") {
    screen on;
    on.shown.show(message::partial_text(frame::delta, text("dry.\n")));
    on.shown.show(message::assistant_text(text("dry.\n")));
    on.shown.finish({});
    CHECK(on.take() == "dry.\n");
}

TEST_CASE("lines of tools that speak at once stay whole and bear their names") {
    screen on;
    on.shown.show(call("rain", "a"));
    on.shown.show(call("wind", "b"));
    CHECK(on.take() == "● rain {}\n● wind {}\n");
    on.shown.show(piece("a", "Oslo "));
    on.shown.show(piece("b", "Rome wi"));
    CHECK(on.take().empty());
    on.shown.show(piece("a", "dry\nBergen"));
    on.shown.show(piece("b", "ndy\n"));
    CHECK(on.take() == "  rain │ Oslo dry\n  wind │ Rome windy\n");
    on.shown.show(output("b", "Rome windy\n"));
    on.shown.show(output("a", "Oslo dry\nBergen"));
    CHECK(on.take() == "  wind ✓\n  rain │ Bergen\n  rain ✓\n");
}

TEST_CASE("a tool does not write into the model's line") {
    screen on;
    on.shown.show(call("rain", "a"));
    on.take();
    on.shown.show(message::partial_text(frame::delta, text("Meanwhile")));
    on.shown.show(piece("a", "dry\n"));
    CHECK(on.take() == "Meanwhile\n  rain │ dry\n");
}

TEST_CASE("a denied call says so in its card") {
    screen on;
    on.shown.show(call("remove", "a"));
    on.take();
    on.shown.show(message::approval_decision(decision::deny, text("a")));
    on.shown.show(output("a", "Tool call denied by user.", stop_reason::aborted));
    CHECK(on.take() == "  remove was not allowed\n  remove ✗ Tool call denied by user.\n");
    on.shown.show(message::approval_decision(decision::allow, text("b")));
    CHECK(on.take().empty());
}

TEST_CASE("a failed tool is marked, its images are counted") {
    screen on;
    on.shown.show(call("draw", "a"));
    on.take();
    on.shown.show(message::partial_tool_call_output(frame::delta, text("a"))
                      .with_images({text("data:image/png;base64,")}));
    on.shown.show(output("a", "no ink", stop_reason::failed));
    CHECK(on.take() == "  draw │ [1 image(s)]\n  draw ✗\n");
}

TEST_CASE("a request that fails says why and when it is tried again") {
    screen on;
    thalweg::request_end end;
    end.status = stop_reason::failed;
    end.error_message = text("503 from the \x1b[31mserver");
    end.retry_in_ms = 4000;
    on.shown.show(message::partial_text(frame::delta, text("half")));
    on.shown.show(message::event(std::move(end)));
    CHECK(on.take() == "half\nrequest failed: 503 from the ␛[31mserver (again in 4 s)\n");
}

TEST_CASE("a request that fails for good is left to the caller, who can ask what it said") {
    screen on;
    thalweg::request_end end;
    end.status = stop_reason::failed;
    end.error_message = text("404 no such model");
    on.shown.show(message::event(std::move(end)));
    CHECK(on.take().empty());
    CHECK(on.shown.last_failure() == "404 no such model");
    on.shown.show(message::request_begin());
    CHECK(on.shown.last_failure().empty());
}

TEST_CASE("an answer that a limit cut says so") {
    screen on;
    on.shown.show(message::partial_text(frame::delta, text("cut he")));
    on.shown.show(message::assistant_text(text("cut he")).with_stop(stop_reason::failed));
    thalweg::request_end end;
    end.status = stop_reason::completed;
    on.shown.show(message::event(end));
    CHECK(on.take() == "cut he\nthe answer is cut off: the model's length or content limit was reached\n");
    on.shown.show(message::request_begin());
    on.shown.show(message::event(end));
    CHECK(on.take().empty());
}

TEST_CASE("a question stands behind its call, and again behind what others show meanwhile") {
    screen on;
    on.shown.show(call("rain", "a"));
    on.take();
    on.shown.ask(text("b"), "run wind?");
    CHECK(on.take().empty());
    on.shown.show(call("wind", "b"));
    CHECK(on.take() == "● wind {}\nrun wind? ");
    on.shown.show(message::partial_tool_call_output(frame::start, text("a")));
    CHECK(on.take().empty());
    on.shown.show(piece("a", "dry\n"));
    CHECK(on.take() == "\n  rain │ dry\nrun wind? ");
    on.shown.stop_asking(true); // the person's own line end is on the terminal
    on.shown.show(piece("a", "still dry\n"));
    CHECK(on.take() == "  rain │ still dry\n");
    on.shown.ask(text("b"), "run wind?");
    CHECK(on.take() == "run wind? ");
    on.shown.stop_asking(false);
    on.shown.show(piece("a", "wet\n"));
    CHECK(on.take() == "\n  rain │ wet\n");
}

TEST_CASE("the answer and everything else may go to two places") {
    screen answers;
    screen notes;
    cli::renderer shown(answers.file(), notes.file(), false);
    shown.show(message::partial_thinking(frame::delta, text("hm")));
    shown.show(message::thinking(text("hm")));
    shown.show(message::partial_text(frame::delta, text("It is ")));
    shown.show(call("rain", "a"));
    shown.show(piece("a", "dry\n"));
    shown.show(message::partial_text(frame::delta, text("dry.")));
    thalweg::token_counts used;
    used.total = 30;
    shown.finish(used);
    CHECK(answers.take() == "It is dry.\n");
    CHECK(notes.take() == "hm\n● rain {}\n  rain │ dry\n30 tokens, 0 of them output\n");
}

TEST_CASE("trouble with the trace and notices are shown") {
    screen on;
    thalweg::trace_fault fault;
    fault.error = text("disk full");
    on.shown.show(message::event(std::move(fault)));
    CHECK(on.take() == "the trace cannot be written: disk full\n");
}

TEST_CASE("messages of children are left to another view") {
    screen on;
    on.shown.show(message::partial_text(frame::delta, text("inner")).with_origin_prefix(text("child")));
    CHECK(on.take().empty());
}

TEST_CASE("the end tells the usage, on a line of its own") {
    screen on;
    thalweg::token_counts used;
    used.total = 30;
    used.output = 22;
    on.shown.show(message::partial_text(frame::delta, text("cut")));
    on.shown.finish(used);
    CHECK(on.take() == "cut\n30 tokens, 22 of them output\n");
    used.cache_read = 5;
    on.shown.finish(used);
    CHECK(on.take() == "30 tokens, 22 of them output, 5 from cache\n");
}

TEST_CASE("colors frame what is ours and each piece ends them") {
    screen on(true);
    on.shown.show(message::partial_thinking(frame::delta, text("hm")));
    on.shown.show(message::thinking(text("hm")));
    on.shown.show(message::partial_text(frame::delta, text("plain")));
    on.shown.show(message::assistant_text(text("plain")));
    on.shown.show(call("rain", "a"));
    CHECK(on.take() == "\x1b[2mhm\x1b[0m\nplain\n\x1b[1m● rain {}\x1b[0m\n");
}

TEST_CASE("a file is no place for colors") {
    std::FILE* file = std::tmpfile();
    REQUIRE(file != nullptr);
    CHECK_FALSE(cli::wants_color(file));
    std::fclose(file);
}

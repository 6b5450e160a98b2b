// SPDX-License-Identifier: BSL-1.0

#include "support/catch.hpp"

#include "engine/framing.hpp"

#include <thalweg/engine/output_framer.hpp>
#include <thalweg/protocol/utf8.hpp>

#include <string>

using namespace thalweg;

TEST_CASE("an output is start, pieces, stop and the whole") {
    output_framer f("c", {}, 0);
    f.add("a");
    f.add("b");
    f.finish(stop_reason::completed, {}, {});
    CHECK(words_of(f.pending()) == words{"partial_tool_call_output:start:c",
                                         "partial_tool_call_output:delta:a:c",
                                         "partial_tool_call_output:delta:b:c",
                                         "partial_tool_call_output:stop:c", "tool_call_output:ab:c"});
}

TEST_CASE("an output is never empty") {
    output_framer f("c", {}, 0);
    f.add("");
    f.finish(stop_reason::completed, {""}, {});
    CHECK(f.pending().back().content() == "[no output]");
}

TEST_CASE("notes stand on lines of their own behind the content, and alone without one") {
    output_framer with("c", {}, 0);
    with.add("out");
    with.finish(stop_reason::failed, {"first", "", "second"}, {});
    CHECK(with.pending().back().content() == "out\nfirst\nsecond");
    CHECK(with.pending().back().stop() == stop_reason::failed);

    output_framer without("c", {}, 0);
    without.finish(stop_reason::failed, {"only"}, {});
    CHECK(without.pending().back().content() == "only");
}

TEST_CASE("the limit counts characters, keeps the head and is exact") {
    const std::string three = "aé😀";
    for (int limit = 1; limit <= 4; ++limit) {
        INFO("limit " << limit);
        output_framer f("c", {}, limit);
        f.add(text(three));
        f.add("x");
        f.finish(stop_reason::completed, {}, {});
        const std::string head(utf8::truncate(three + "x", static_cast<std::size_t>(limit)));
        const std::string note = "\n[output truncated: exceeded " + std::to_string(limit) + " chars]";
        CHECK(f.pending().back().content() == (limit == 4 ? three + "x" : head + note));
    }
}

TEST_CASE("whatever bytes come, what goes out is valid UTF-8 and pieces equal the whole") {
    using namespace std::string_literals;
    const std::string hostile = "ok \xff\xc3(\xe2\x82 \xed\xa0\x80 \x00 \xf0\x9f\x98\x80 \xf0\x9f"s;
    for (std::size_t cut = 0; cut <= hostile.size(); ++cut) {
        INFO("cut at " << cut);
        output_framer f("c", {}, 0);
        f.add(text(hostile.substr(0, cut)));
        f.add(text(hostile.substr(cut)));
        f.finish(stop_reason::completed, {}, {});
        std::string joined;
        for (const message& m : f.pending()) {
            CHECK(utf8::is_valid(m.content()));
            if (m.frame() == frame::delta) joined += m.content().view();
        }
        CHECK(joined == f.pending().back().content().view());
        CHECK(joined == utf8::make_valid(hostile));
    }
}

TEST_CASE("images go along with success only") {
    output_framer good("c", {}, 0);
    good.finish(stop_reason::completed, {}, {"data:image/png;base64,AA"});
    CHECK(good.pending().back().images().size() == 1);
    CHECK(good.pending()[good.pending().size() - 3].images().size() == 1);

    output_framer bad("c", {}, 0);
    bad.finish(stop_reason::failed, {"no"}, {"data:image/png;base64,AA"});
    for (const message& m : bad.pending())
        CHECK(m.images().empty());
}

TEST_CASE("a broken environment gives the output alone, or closes what it had begun") {
    output_framer bare("c", {}, 0);
    bare.finish_bare("[tool error] gone");
    CHECK(words_of(bare.pending()) == words{"tool_call_output:[tool error] gone:c:failed"});

    output_framer begun("c", {}, 0);
    begun.add("half");
    begun.finish_bare("[tool error] gone");
    CHECK(begun.pending().back().content() == "half\n[tool error] gone");
    CHECK(begun.pending()[begun.pending().size() - 2].frame() == frame::stop);
}

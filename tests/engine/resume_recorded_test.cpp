// SPDX-License-Identifier: BSL-1.0

// The recorded scenarios as data: what a complete engine rebuilt, and what must hold wherever a process may
// end.

#include "support/catch.hpp"

#include "records.hpp"

#include <thalweg/protocol/json.hpp>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>

namespace {

using namespace thalweg;
using namespace thalweg::testing;

struct scenario {
    std::string bytes;
    json::view root;
};

/// By name. Views stay valid: the bytes do not move.
const std::map<std::string, scenario>& scenarios() {
    static const auto all = [] {
        std::map<std::string, scenario> found;
        for (const auto& file : std::filesystem::directory_iterator(THALWEG_SCENARIOS)) {
            std::ifstream in(file.path(), std::ios::binary);
            scenario& s = found[file.path().stem().string()];
            s.bytes.assign(std::istreambuf_iterator<char>(in), {});
            s.root = json::parse(s.bytes).value();
        }
        return found;
    }();
    return all;
}

message message_of(json::view v) {
    return parse_message(v.raw(), {.require_timestamp = false}).value();
}

records records_of(json::view list) {
    records all;
    for (const json::view each : list.elements())
        all.push_back(message_of(each));
    return all;
}

json::view at(json::view v, const char* key) {
    const auto found = v.find(key);
    if (!found) FAIL("no member " << key);
    return *found;
}

std::vector<json::view> elements_of(json::view list) {
    std::vector<json::view> all;
    for (const json::view each : list.elements())
        all.push_back(each);
    return all;
}

std::vector<records> traces_of(const scenario& s) {
    std::vector<records> all;
    for (const json::view file : at(at(s.root, "expect"), "trace").elements())
        all.push_back(records_of(file));
    if (const auto children = at(s.root, "expect").find("children")) {
        for (const auto& child : children->members())
            for (const json::view file : at(child.value, "trace").elements())
                all.push_back(records_of(file));
    }
    return all;
}

/// The file as it was when the session was resumed: some records of it, or those before the next run's.
records at_resume(const scenario& s, json::view op, json::view next) {
    records all = traces_of(s).at(0);
    std::size_t count = all.size();
    if (const auto kept = op.find("keep_records")) {
        count = static_cast<std::size_t>(kept->as_int().value());
    } else {
        const auto input = at(*at(next, "input").elements().begin(), "user_text").as_text();
        for (std::size_t i = all.size(); i-- > 0;)
            if (all[i].kind() == kind::text && all[i].role() == role::user && all[i].content() == *input)
                count = i;
    }
    all.resize(count);
    return all;
}

std::vector<std::string> lines_of(std::span<const message> messages) {
    std::vector<std::string> all;
    for (const message& m : messages)
        all.push_back(to_json(m));
    return all;
}

void compare(const resumed_state& got, json::view expected) {
    CHECK(lines_of(got.history) == lines_of(records_of(at(expected, "history"))));
    CHECK(lines_of(got.carry_over) == lines_of(records_of(at(expected, "carry_over"))));
    CHECK(got.context_closed == at(expected, "context_closed").as_bool());
    CHECK(got.last_request_total == at(expected, "last_request_total").as_int());
    CHECK(got.session_turns == at(expected, "session_turns").as_int());
    const json::view tokens = at(expected, "session_tokens");
    CHECK(got.usage.cache_read == at(tokens, "cache_read").as_int());
    CHECK(got.usage.cache_write == at(tokens, "cache_write").as_int());
    CHECK(got.usage.output == at(tokens, "output").as_int());
    CHECK(got.usage.total == at(tokens, "total").as_int());
    const auto summary = expected.find("pending_summary");
    REQUIRE(summary.has_value() == got.pending_summary.has_value());
    if (summary) CHECK(to_json(*got.pending_summary) == to_json(message_of(*summary)));
    const auto dangling = expected.find("dangling_compaction");
    REQUIRE(dangling.has_value() == got.dangling.has_value());
    if (dangling) {
        CHECK(at(*dangling, "reason").as_string() == "context");
        CHECK(got.dangling->reason == compaction_reason::context);
        CHECK(got.dangling->mode == compaction_mode::summarize);
    }
}

TEST_CASE("each recorded resume is rebuilt exactly") {
    int seen = 0;
    for (const auto& [name, s] : scenarios()) {
        const auto ops = elements_of(at(s.root, "runs"));
        const auto results = elements_of(at(at(s.root, "expect"), "runs"));
        for (std::size_t i = 0; i + 1 < ops.size(); ++i) {
            const auto op = ops[i].find("op");
            if (!op || op->as_string() != "resume") continue;
            INFO(name);
            compare(resume(at_resume(s, ops[i], ops[i + 1])), results.at(i));
            ++seen;
        }
    }
    CHECK(seen == 8);
}

/// Each beginning of each recorded trace: where a process may have ended.
template <class Check>
int at_each_border(Check check) {
    int borders = 0;
    for (const auto& [name, s] : scenarios()) {
        for (const records& all : traces_of(s)) {
            for (std::size_t n = 0; n <= all.size(); ++n) {
                INFO(name << ", after " << n << " records");
                check(records(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(n)));
                ++borders;
            }
        }
    }
    return borders;
}

TEST_CASE("wherever a process ends, the resumed context is legal") {
    CHECK(at_each_border([](const records& cut) { CHECK(fault_of(resume(cut)) == ""); }) > 1000);
}

TEST_CASE("wherever a process ends, resuming again gives the same") {
    at_each_border([](const records& cut) {
        resumed_state once = resume(cut);
        CHECK(text_of(resume(cut)) == text_of(once));
        if (!once.dangling) return;
        const resumed_state again = resume(cut + records{message::event(*once.dangling)});
        CHECK_FALSE(again.dangling);
        once.dangling.reset();
        CHECK(text_of(again) == text_of(once));
    });
}

TEST_CASE("wherever a process ends, the next run finds everything that was owed") {
    at_each_border([](const records& cut) {
        const resumed_state owed = resume(cut);
        if (owed.context_closed) return;
        records on = cut;
        if (owed.dangling) on.push_back(message::event(*owed.dangling));
        const resumed_state next = resume(on + records{user("next")} + answered({says("done")}));
        records expected = owed.history + owed.carry_over + records{user("next"), says("done")};
        CHECK(lines_of(next.history) == lines_of(expected));
        CHECK(next.carry_over.empty());
    });
}

} // namespace

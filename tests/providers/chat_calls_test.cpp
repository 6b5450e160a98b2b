// SPDX-License-Identifier: BSL-1.0

// Lists of calls are made up, encoded as servers of different manners do, and must come out as they were
// (H-08).

#include "providers/chat_transcript.hpp"
#include "support/catch.hpp"

#include <thalweg/protocol/json.hpp>

#include <algorithm>
#include <random>

using namespace thalweg;
using namespace thalweg::testing;

namespace {

struct made_call {
    std::string id;
    std::string name;
    std::string arguments;
};

enum class manner : std::uint8_t {
    by_number,     ///< fragments with numbers, interleaved; id and name on the first one
    all_repeated,  ///< id, name and number on every fragment
    all_zero,      ///< one number for all, ids differ, one call after the other
    ids_only,      ///< no numbers, ids on every fragment, interleaved
    first_id_only, ///< no numbers, id on the first fragment, one call after the other
    whole_no_ids,  ///< number 0, no ids, every call whole in one fragment
    one_chunk,     ///< all calls whole in one chunk
};
constexpr manner all_manners[] = {manner::by_number, manner::all_repeated,  manner::all_zero,
                                  manner::ids_only,  manner::first_id_only, manner::whole_no_ids,
                                  manner::one_chunk};

class encoder {
public:
    encoder(manner how, unsigned seed) : how_(how), random_(seed) {}

    std::vector<std::string> encode(const std::vector<made_call>& list) {
        std::vector<std::vector<std::string>> fragments;
        for (std::size_t i = 0; i < list.size(); ++i)
            fragments.push_back(fragments_of(list[i], i));
        std::vector<std::string> events;
        if (how_ == manner::one_chunk) {
            std::string all;
            for (const auto& each : fragments)
                all += (all.empty() ? "" : ",") + each.front();
            events.push_back(calls(all));
        } else if (how_ == manner::by_number || how_ == manner::all_repeated || how_ == manner::ids_only) {
            interleave(fragments, events);
        } else {
            for (const auto& each : fragments)
                for (const std::string& fragment : each)
                    events.push_back(calls(fragment));
        }
        events.push_back(last_chunk(pick(2) == 0 ? "tool_calls" : "stop"));
        return events;
    }

private:
    std::size_t pick(std::size_t below) {
        return std::uniform_int_distribution<std::size_t>(0, below - 1)(random_);
    }

    // Heads come in the order of the list; what follows, in any order.
    void interleave(const std::vector<std::vector<std::string>>& fragments,
                    std::vector<std::string>& events) {
        std::vector<std::size_t> next(fragments.size(), 0);
        std::size_t begun = 0;
        const auto is_finished = [&](std::size_t i) { return next[i] == fragments[i].size(); };
        while (true) {
            std::vector<std::size_t> open;
            for (std::size_t i = 0; i < std::min(begun + 1, fragments.size()); ++i)
                if (!is_finished(i)) open.push_back(i);
            if (open.empty()) return;
            const std::size_t chosen = open[pick(open.size())];
            begun = std::max(begun, chosen + 1);
            events.push_back(calls(fragments[chosen][next[chosen]++]));
        }
    }

    std::vector<std::string> fragments_of(const made_call& call, std::size_t number) {
        const bool is_whole = how_ == manner::whole_no_ids || how_ == manner::one_chunk;
        std::vector<std::string> all;
        std::size_t at = 0;
        do {
            const std::size_t left = call.arguments.size() - at;
            const std::size_t size = is_whole ? left : std::min(left, pick(6));
            all.push_back(fragment(call, number, all.empty(), call.arguments.substr(at, size)));
            at += size;
        } while (at < call.arguments.size());
        return all;
    }

    std::string fragment(const made_call& call, std::size_t number, bool first, const std::string& piece) {
        const bool repeats = how_ == manner::all_repeated;
        std::vector<std::string> members;
        if (how_ != manner::ids_only && how_ != manner::first_id_only)
            members.push_back(
                "\"index\":" +
                std::to_string(how_ == manner::all_zero || how_ == manner::whole_no_ids ? 0 : number));
        if (how_ != manner::whole_no_ids && (first || repeats || how_ == manner::ids_only))
            members.push_back("\"id\":\"" + call.id + "\"");
        else if (pick(2) == 0)
            members.push_back(pick(2) == 0 ? "\"id\":\"\"" : "\"id\":null");
        std::string function = R"("function":{)";
        if (first || repeats) function += "\"name\":\"" + call.name + "\",";
        function += "\"arguments\":";
        json::append_string(function, piece);
        members.push_back(function + "}");
        std::shuffle(members.begin(), members.end(), random_);
        std::string joined = "{";
        for (const std::string& each : members)
            joined += (joined.size() > 1 ? "," : "") + each;
        return joined + "}";
    }

    manner how_;
    std::mt19937 random_;
};

std::vector<made_call> make_calls(std::mt19937& random) {
    const auto pick = [&](unsigned below) {
        return std::uniform_int_distribution<unsigned>(0, below - 1)(random);
    };
    static constexpr const char* arguments[] = {"{}", R"({"a":1})", R"({"a":"}{ \" \\"})",
                                                R"({"\u00e5":[{"b":{}}]})",
                                                "{\n \"long\": \"0123456789012345678901234567890\"\n}"};
    std::vector<made_call> list;
    for (unsigned i = 0, count = 1 + pick(4); i < count; ++i)
        list.push_back({"id" + std::to_string(i), "tool" + std::to_string(pick(2)), arguments[pick(5)]});
    return list;
}

} // namespace

TEST_CASE("calls survive every manner of sending them") {
    for (unsigned seed = 0; seed < 400; ++seed) {
        std::mt19937 random(seed);
        const std::vector<made_call> list = make_calls(random);
        for (const manner how : all_manners) {
            std::string expected;
            for (const made_call& each : list)
                expected += "C" + (how == manner::whole_no_ids ? "" : each.id) + "," + each.name + "|A" +
                            each.arguments + "|E|";
            const auto events = encoder(how, seed).encode(list);
            INFO("seed " << seed << ", manner " << static_cast<int>(how));
            REQUIRE(transcript_of(events) == expected + "completed");
        }
    }
}

TEST_CASE("an answer without end is given up at a bound") {
    chat_transcript many;
    for (std::size_t i = 0; i <= providers::detail::call_list::most_calls; ++i)
        many.event(calls(R"({"index":)" + std::to_string(i) + R"(,"function":{"name":"n"}})"));
    CHECK(many.finish() == "malformed");
    CHECK_THAT(many.ending().complaint, Catch::Contains("more than 1024 tool calls"));
}

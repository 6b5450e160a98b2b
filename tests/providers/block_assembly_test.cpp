// SPDX-License-Identifier: BSL-1.0

#include "support/catch.hpp"

#include <thalweg/wire/block_assembly.hpp>

#include <string>
#include <vector>

using namespace thalweg;
using thalweg::wire::block_assembly;

namespace {

std::string shown(const std::vector<delta>& all) {
    using type = delta::type;
    std::string made;
    for (const delta& each : all) {
        switch (each.kind()) {
        case type::begin_text: made += "BT"; break;
        case type::begin_thinking: made += "BH"; break;
        case type::text: made += "T" + each.content().str(); break;
        case type::thinking: made += "H" + each.content().str(); break;
        case type::call: made += "C" + each.id().str(); break;
        case type::arguments: made += "A" + each.content().str(); break;
        case type::end: made += "E"; break;
        case type::fidelity: made += "F" + each.content().str(); break;
        default: made += "?"; break;
        }
        made += ' ';
    }
    return made;
}

} // namespace

TEST_CASE("block assembly: the oldest open block is live, the others wait in the order of their opening") {
    block_assembly all;
    std::vector<delta> out;
    all.open_text(1, out);
    all.open_call(2, "c", "n", out);
    all.open_thinking(3, out);
    all.append_text(2, "{}", out);
    all.append_text(3, "hm", out);
    all.append_text(1, "a", out);
    CHECK(shown(out) == "Ta ");
    all.close(2, out);
    all.fidelity(3, "{}", out);
    CHECK(shown(out) == "Ta ");
    all.close(1, out);
    CHECK(shown(out) == "Ta E Cc A{} E Hhm F{} ");
    all.append_text(3, "!", out);
    all.close_all(out);
    CHECK(shown(out) == "Ta E Cc A{} E Hhm F{} H! E ");
    CHECK(all.empty());
    CHECK(all.complaint().empty());
}

TEST_CASE("block assembly: a block without content does not show up, a call and a signature do") {
    block_assembly all;
    std::vector<delta> out;
    all.open_text(0, out);
    all.close(0, out);
    all.open_thinking(1, out);
    all.close(1, out);
    CHECK(out.empty());
    all.open_thinking(2, out);
    all.fidelity(2, "{}", out);
    all.close(2, out);
    all.open_call(3, "c", "n", out);
    all.close(3, out);
    CHECK(shown(out) == "BH F{} E Cc E ");
}

TEST_CASE("block assembly: a number that is opened again is another block") {
    block_assembly all;
    std::vector<delta> out;
    all.open_text(0, out);
    all.append_text(0, "a", out);
    all.open_text(0, out);
    all.append_text(0, "b", out);
    all.close(0, out);
    CHECK(shown(out) == "Ta E Tb E ");
}

TEST_CASE("block assembly: what cannot be put together is told") {
    std::vector<delta> out;
    block_assembly unopened;
    unopened.append_text(0, "a", out);
    CHECK_FALSE(unopened.complaint().empty());
    block_assembly closed;
    closed.open_text(0, out);
    closed.close(0, out);
    CHECK_FALSE(closed.is_open(0));
    closed.append_text(0, "a", out);
    CHECK_FALSE(closed.complaint().empty());
    block_assembly many;
    for (std::size_t i = 0; i <= block_assembly::most_blocks; ++i)
        many.open_text(static_cast<block_assembly::key>(i), out);
    CHECK_FALSE(many.complaint().empty());
    block_assembly large;
    large.open_text(0, out);
    large.open_text(1, out);
    const std::string mebibyte(std::size_t{1} << 20, 'x');
    for (std::size_t i = 0; i <= block_assembly::most_waiting / mebibyte.size(); ++i)
        large.append_text(1, mebibyte, out);
    CHECK_FALSE(large.complaint().empty());
    CHECK(out.empty());
}

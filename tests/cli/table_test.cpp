// SPDX-License-Identifier: BSL-1.0

#include "support/catch.hpp"

#include <cli/table.hpp>

namespace {

TEST_CASE("columns are as wide as their widest cell, in characters") {
    cli::table t("lrl");
    t.add({"NAME", "COUNT", "END"});
    t.add({"ä…", "7", ""});
    t.add({"longer", "12345678", "x"});
    CHECK(t.text() == "NAME       COUNT  END\n"
                      "ä…             7\n"
                      "longer  12345678  x\n");
}

TEST_CASE("a table without rows is nothing") {
    CHECK(cli::table("l").text().empty());
}

} // namespace

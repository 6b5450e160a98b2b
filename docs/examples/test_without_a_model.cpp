// SPDX-License-Identifier: BSL-1.0

#define CATCH_CONFIG_MAIN
#include <thalweg/testing/co_test_case.hpp>
#include <thalweg/testing/collect.hpp>
#include <thalweg/testing/scripted.hpp>
#include <thalweg/thalweg.hpp>

using namespace std::chrono_literals;
using namespace thalweg;
using namespace thalweg::testing;

CO_TEST_CASE("outputs reach the reader as they finish and the model in call order") {
    scripted_model model{answer().call("a", "slow").call("b", "fast"), answer().text("done")};
    scripted_tools tools{{"slow", after(300ms, "late")}, {"fast", after(20ms, "early")}};
    session chat(std::ref(model), std::ref(tools));

    auto seen = co_await collect(chat.run("go", {.approve = allow_all})); // virtual time: takes microseconds

    REQUIRE(call_ids(outputs(seen)) == ids{"b", "a"});
    REQUIRE(call_ids(model.request(1).input) == ids{"a", "b"});
}

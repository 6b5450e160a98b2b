// SPDX-License-Identifier: BSL-1.0
// A program of somebody else: built once against the installed tree and once with Thalweg as a subproject.

#include <thalweg/async/merge.hpp>
#include <thalweg/async/run_main.hpp>
#include <thalweg/protocol/message.hpp>

#include <iostream>
#include <string>

namespace {

thalweg::task<int> talk() {
    thalweg::merge<std::string> stream;
    auto left = stream.attach();
    auto right = stream.attach();
    left.post("from");
    right.post("outside");
    left.finish();
    right.finish();
    int count = 0;
    while (auto word = co_await stream.next()) std::cout << (count++ == 0 ? "" : " ") << *word;
    std::cout << '\n';
    co_return count == 2 ? 0 : 1;
}

} // namespace

int main() { return thalweg::run_main(talk); }

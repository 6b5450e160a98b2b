// SPDX-License-Identifier: BSL-1.0

#pragma once

// Moves a trace to a thread of its own, so that a slow or deaf disk holds nothing but the session that waits
// for it (D-32). What is shown is still recorded before: write() resolves when the record is in the file.
//
//     auto file = trace::file_sink::open(place);
//     trace::threaded_sink sink(std::move(file.value()));
//
// A write costs two changes of thread; on a local disk the plain file_sink is faster.
// Thread rule: this object on one loop's thread; the inner sink is only used on the other thread.

#include <thalweg/trace/sink.hpp>

#include <chrono>
#include <memory>
#include <string>
#include <vector>

namespace thalweg::trace {

class threaded_sink final : public sink {
public:
    /// Starts the thread. `patience`: what the destructor waits for writes that are under way.
    explicit threaded_sink(std::unique_ptr<sink> inner,
                           std::chrono::milliseconds patience = std::chrono::seconds(2));
    threaded_sink(const threaded_sink&) = delete;
    /// Lets what was handed over be written. A disk that hangs longer than the patience keeps the thread and
    /// the inner sink, with its lock, until it lets go; nobody waits for it.
    ~threaded_sink() override;

    /// As sink::write(); calls are in order whether or not their tasks are awaited in order. A task that is
    /// destroyed while suspended takes nothing back: the record is written.
    [[nodiscard]] task<result<void>> write(std::span<const message> messages) override;
    void rotate() override;
    /// Waits for what was handed over before.
    [[nodiscard]] result<std::vector<message>> read_back() const override;
    /// Where the inner sink wrote to when it was last asked: at the start, and after each rotation.
    [[nodiscard]] std::string_view path() const noexcept override;

private:
    class worker;
    std::shared_ptr<worker> worker_;
    std::chrono::milliseconds patience_;
    mutable std::string path_;
};

} // namespace thalweg::trace

// SPDX-License-Identifier: BSL-1.0

#include <thalweg/trace/detail/append_file.hpp>
#include <thalweg/trace/detail/success.hpp>
#include <thalweg/trace/errors.hpp>

#include <cerrno>
#include <filesystem>
#include <utility>

namespace thalweg::trace::detail {

namespace {

std::error_code system_code(int number) noexcept {
    return {number, std::generic_category()};
}

std::string sentence(const std::string& path, std::string_view what, std::error_code why) {
    std::string made = "trace " + path + " ";
    made.append(what).append(": ").append(why.message());
    if (why == std::errc::no_space_on_device)
        made += "; make room on the disk";
    else if (why == std::errc::permission_denied || why == std::errc::read_only_file_system ||
             why == std::errc::not_a_directory)
        made += "; choose a folder that can be written";
    return made;
}

template <class Call>
auto uninterrupted(Call call) {
    auto done = call();
    while (done < 0 && errno == EINTR)
        done = call();
    return done;
}

std::string missing(std::size_t written, std::size_t all) {
    return "; " + std::to_string(all - written) + " of " + std::to_string(all) +
           " records are not in the file";
}

} // namespace

void append_file::move_to(std::string path) {
    close();
    path_ = std::move(path);
}

void append_file::close() noexcept {
    if (descriptor_ >= 0) system_->close(std::exchange(descriptor_, -1));
    needs_probe_ = true;
}

result<append_file::readiness> append_file::prepare() {
    readiness found;
    BOOST_OUTCOME_TRYV(look_at_name(found));
    BOOST_OUTCOME_TRYV(open());
    BOOST_OUTCOME_TRYV(probe());
    found.is_empty = known_.is_regular && known_.size == 0;
    return found;
}

result<void> append_file::look_at_name(readiness& found) {
    if (descriptor_ < 0) return success();
    const std::int64_t now_ms = system_->now_ms();
    if (now_ms - looked_at_ms_ < look_every_ms) return success();
    looked_at_ms_ = now_ms;
    file_state now;
    if (uninterrupted([&] { return system_->state(path_.c_str(), now); }) != 0) {
        const auto why = system_code(errno);
        if (why != std::errc::no_such_file_or_directory)
            return failure(why, sentence(path_, "cannot be looked at", why));
        found.changed = "was taken away while it was being written; the trace goes on in a new file of that "
                        "name";
        close();
    } else if (now.device != known_.device || now.number != known_.number) {
        found.changed = "was replaced while it was being written; the trace goes on in the file that has its "
                        "name now";
        close();
    } else if (now.is_regular && now.size != known_.size && !needs_probe_) {
        found.changed = "was changed by somebody else: " + std::to_string(known_.size) + " bytes became " +
                        std::to_string(now.size) + "; the trace goes on behind them";
        needs_probe_ = true;
    }
    return success();
}

result<void> append_file::open() {
    if (descriptor_ >= 0) return success();
    const auto attempt = [&] { return system_->open_append(path_.c_str()); };
    descriptor_ = uninterrupted(attempt);
    if (descriptor_ < 0 && errno == ENOENT) {
        const auto folder = std::filesystem::path(path_).parent_path();
        std::error_code why;
        std::filesystem::create_directories(folder, why);
        if (why) return failure(why, sentence(folder.string(), "cannot be made", why));
        descriptor_ = uninterrupted(attempt);
    }
    if (descriptor_ >= 0) return success();
    const auto why = system_code(errno);
    return failure(why, sentence(path_, "cannot be opened", why));
}

result<void> append_file::probe() {
    if (!needs_probe_) return success();
    if (uninterrupted([&] { return system_->state(path_.c_str(), known_); }) != 0) {
        const auto why = system_code(errno);
        return failure(why, sentence(path_, "cannot be looked at", why));
    }
    looked_at_ms_ = system_->now_ms();
    is_torn_ = false;
    if (known_.is_regular && known_.size > 0) {
        char last = 0;
        const auto got = uninterrupted(
            [&] { return system_->read_at(descriptor_, &last, 1, known_.size - 1); });
        if (got < 0) {
            const auto why = system_code(errno);
            return failure(why, sentence(path_, "cannot be read", why));
        }
        is_torn_ = last != '\n';
    }
    needs_probe_ = false;
    return success();
}

result<void> append_file::append(std::string_view lines, std::span<const std::size_t> line_ends) {
    std::size_t whole = 0; // records in the file
    std::size_t begin = 1; // of the first record that is not
    bool is_second_try = false;
    const auto give_up = [&](std::error_code why, std::string what) -> result<void> {
        needs_probe_ = true;
        if (whole == line_ends.size())
            return success(); // only the last LF is missing, which the next record brings
        return failure(why, std::move(what) + missing(whole, line_ends.size()));
    };
    for (;;) {
        const std::size_t from = is_torn_ ? begin - 1 : begin; // an LF stands in front of each record
        const auto taken = uninterrupted(
            [&] { return system_->write(descriptor_, lines.data() + from, lines.size() - from); });
        if (taken < 0) {
            const auto why = system_code(errno);
            return give_up(why, sentence(path_, "cannot be written", why));
        }
        const std::size_t reached = from + static_cast<std::size_t>(taken);
        known_.size += static_cast<std::size_t>(taken);
        if (taken > 0) is_torn_ = lines[reached - 1] != '\n';
        if (reached == lines.size()) return success();
        // A record whose LF alone was cut off is there; written again, it would be there twice.
        const std::size_t whole_before = whole;
        while (whole < line_ends.size() && line_ends[whole] - 1 <= reached)
            begin = line_ends[whole++];
        if (whole == whole_before && is_second_try)
            return give_up(errc::short_write, "trace " + path_ + " took only a part of a record, twice");
        is_second_try = whole == whole_before;
    }
}

} // namespace thalweg::trace::detail

// SPDX-License-Identifier: BSL-1.0

#include <thalweg/trace/detail/byte_source.hpp>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include <unistd.h>

namespace thalweg::trace::detail {

namespace {

class descriptor_source final : public byte_source {
public:
    descriptor_source(int descriptor, bool is_owned, std::string name)
        : descriptor_(descriptor), is_owned_(is_owned), name_(std::move(name)) {}
    ~descriptor_source() override {
        if (is_owned_) ::close(descriptor_);
    }

    result<std::size_t> read(char* into, std::size_t count) override {
        for (;;) {
            const ssize_t got = ::read(descriptor_, into, count);
            if (got >= 0) return static_cast<std::size_t>(got);
            if (errno == EINTR) continue;
            const std::error_code why(errno, std::generic_category());
            return failure(why, "trace " + name_ + " cannot be read: " + why.message());
        }
    }

private:
    int descriptor_;
    bool is_owned_;
    std::string name_;
};

class text_source final : public byte_source {
public:
    explicit text_source(std::string bytes) : bytes_(std::move(bytes)) {}

    result<std::size_t> read(char* into, std::size_t count) override {
        const std::size_t given = std::min(count, bytes_.size() - at_);
        std::memcpy(into, bytes_.data() + at_, given);
        at_ += given;
        return given;
    }

private:
    std::string bytes_;
    std::size_t at_ = 0;
};

} // namespace

std::unique_ptr<byte_source> read_descriptor(int descriptor, bool is_owned, std::string name) {
    return std::make_unique<descriptor_source>(descriptor, is_owned, std::move(name));
}

std::unique_ptr<byte_source> read_text(std::string bytes) {
    return std::make_unique<text_source>(std::move(bytes));
}

} // namespace thalweg::trace::detail

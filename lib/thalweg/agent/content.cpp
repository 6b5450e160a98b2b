// SPDX-License-Identifier: BSL-1.0

#include <thalweg/agent/content.hpp>

#include <algorithm>
#include <string>
#include <string_view>

namespace thalweg {

const text content_block::none;

content_block content_block::image_url(thalweg::text url) {
    constexpr std::string_view scheme = "data:";
    constexpr std::string_view encoding = ";base64,";
    const std::string_view whole = url;
    const std::size_t end = whole.find(encoding);
    if (!whole.starts_with(scheme) || end == std::string_view::npos) {
        return content_block(type::image, std::move(url));
    }
    return image(thalweg::text(whole.substr(end + encoding.size())),
                 thalweg::text(whole.substr(scheme.size(), end - scheme.size())));
}

content_list::content_list(std::initializer_list<content_block> blocks) {
    for (const content_block& each : blocks)
        push_back(each);
}

void content_list::push_back(content_block next) {
    // A list that nobody shares may hold blocks behind its own that copies of it once had.
    const bool is_own = before_ == nullptr || (before_.use_count() == 1 && before_->size() + 1 == size_);
    if (!is_own) {
        const auto shown = static_cast<std::ptrdiff_t>(size_ == 0 ? 0 : size_ - 1);
        before_ = std::make_shared<std::vector<content_block>>(before_->begin(), before_->begin() + shown);
    }
    grow(std::move(next));
}

void content_list::grow(content_block next) {
    if (size_ > 0) {
        if (before_ == nullptr || before_->size() == before_->capacity()) {
            auto larger = std::make_shared<std::vector<content_block>>();
            larger->reserve(std::max<std::size_t>(4, 2 * size_));
            if (before_ != nullptr) larger->assign(before_->begin(), before_->end());
            before_ = std::move(larger);
        }
        before_->push_back(std::move(last_));
    }
    last_ = std::move(next);
    ++size_;
}

std::string content_list::joined_text() const {
    std::string joined;
    for (const content_block& each : *this) {
        if (each.kind() == content_block::type::text) joined += each.content().view();
    }
    return joined;
}

bool operator==(const content_list& a, const content_list& b) noexcept {
    return a.size_ == b.size_ && std::equal(a.begin(), a.end(), b.begin());
}

} // namespace thalweg

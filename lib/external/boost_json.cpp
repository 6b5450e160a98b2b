// SPDX-License-Identifier: BSL-1.0

#include <boost/json/src.hpp>

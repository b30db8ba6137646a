#pragma once

namespace ort_train::runtime {

/// What a message between processes is.
enum MessageTag : int { control_tag = 1, greeting_tag, data_tag, result_tag };

}  // namespace ort_train::runtime

#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>

#include "base/tensor.h"

namespace ort_train {

/// NumPy's array files, after "numpy.lib.format" of the NumPy manual. Read: versions 1.0 to 3.0, C and Fortran order,
/// both byte orders, bool, integers, float16, float32, float64, and the 2-byte void type under which `ml_dtypes` stores
/// bfloat16. Written: version 1.0, little endian, C order. `origin` names the source in errors.
Tensor read_npy(const std::filesystem::path& path);
Tensor decode_npy(std::string_view bytes, const std::string& origin);
std::string encode_npy(const Tensor& tensor);
void write_npy(const std::filesystem::path& path, const Tensor& tensor);

/// A zip archive of arrays, as `numpy.savez` and `numpy.savez_compressed` write it. Keys come without ".npy" and may
/// contain any character. Written members are stored without compression, in the order of the keys, without a time,
/// so equal arrays give equal bytes.
std::map<std::string, Tensor> read_npz(const std::filesystem::path& path);
std::string encode_npz(const std::map<std::string, Tensor>& arrays);
void write_npz(const std::filesystem::path& path, const std::map<std::string, Tensor>& arrays);

}  // namespace ort_train

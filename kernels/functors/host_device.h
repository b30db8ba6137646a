#pragma once

/// Marks functions that a CPU loop and a CUDA kernel share.
#ifdef __CUDACC__
#define ORT_TRAIN_HOST_DEVICE __host__ __device__
#else
#define ORT_TRAIN_HOST_DEVICE
#endif

// A program with a kernel for a GPU alone: the virtual GPUs must take it in when it is loaded, and refuse the launch.
#include <cuda_runtime.h>

#include <cstdio>

__global__ void fill(float* elements, float value) { elements[threadIdx.x] = value; }

int main() {
  float* elements = nullptr;
  if (cudaMalloc(&elements, 32 * sizeof(float)) != cudaSuccess) return 1;
  fill<<<1, 32>>>(elements, 1.0f);
  std::printf("launch: %s\n", cudaGetErrorName(cudaGetLastError()));
  return cudaFree(elements) == cudaSuccess ? 0 : 1;
}

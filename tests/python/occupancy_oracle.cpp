// NVIDIA's own occupancy calculator as an oracle: built by test_occupancy_oracle.py where a CUDA
// toolkit brings its header. Each line of the input is one question, each line of the output its
// answer.
#include <cuda_occupancy.h>

#include <climits>
#include <cstdio>

int main() {
  int major, minor, threads_of_sm, regs, max_threads, barriers, carve_out, block, blocks;
  unsigned long shared_of_sm, opt_in, reserved, fixed, dynamic;
  while (std::scanf("%d %d %d %lu %lu %lu %d %lu %d %d %d %d %lu %d", &major, &minor,
                    &threads_of_sm, &shared_of_sm, &opt_in, &reserved, &regs, &fixed, &max_threads,
                    &barriers, &carve_out, &block, &dynamic, &blocks) == 14) {
    cudaOccDeviceProp device{};
    device.computeMajor = major;
    device.computeMinor = minor;
    device.maxThreadsPerBlock = 1024;
    device.maxThreadsPerMultiprocessor = threads_of_sm;
    device.regsPerBlock = device.regsPerMultiprocessor = 65536;
    device.warpSize = 32;
    device.sharedMemPerBlock = 49152;
    device.sharedMemPerMultiprocessor = shared_of_sm;
    device.numSms = 7;
    device.sharedMemPerBlockOptin = opt_in;
    device.reservedSharedMemPerBlock = reserved;
    cudaOccFuncAttributes kernel{};
    kernel.maxThreadsPerBlock = max_threads;
    kernel.numRegs = regs;
    kernel.sharedSizeBytes = fixed;
    kernel.partitionedGCConfig = PARTITIONED_GC_OFF;
    kernel.shmemLimitConfig = FUNC_SHMEM_LIMIT_OPTIN;
    kernel.maxDynamicSharedSizeBytes = opt_in > fixed ? opt_in - fixed : 0;
    kernel.numBlockBarriers = barriers;
    cudaOccDeviceState state;
    state.carveoutConfig = carve_out;
    cudaOccResult result{};
    int status =
        cudaOccMaxActiveBlocksPerMultiprocessor(&result, &device, &kernel, &state, block, dynamic);
    int min_grid = 0, best = 0;
    int best_status = cudaOccMaxPotentialOccupancyBlockSize(&min_grid, &best, &device, &kernel,
                                                            &state, nullptr, dynamic);
    size_t fits = 0;
    int fits_status =
        cudaOccAvailableDynamicSMemPerBlock(&fits, &device, &kernel, &state, blocks, block);
    std::printf("%d %d %u %d %d %d %d %d %d %zu %d %d %d %d %zu\n", status,
                result.activeBlocksPerMultiprocessor, result.limitingFactors,
                result.blockLimitWarps, result.blockLimitRegs, result.blockLimitSharedMem,
                result.blockLimitBlocks, result.blockLimitBarriers,
                result.allocatedRegistersPerBlock, result.allocatedSharedMemPerBlock, best_status,
                best, min_grid, fits_status, fits);
  }
}

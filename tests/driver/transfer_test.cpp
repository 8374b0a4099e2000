// Host <-> device copies of every size class: ring, one piece, several pieces and threads, pinned
// memory.
#include <numeric>
#include <thread>

#include "support.h"

namespace td::test {
namespace {

using driver::PinnedMemory;
using driver::StreamState;

class Transfer : public DriverTest {};

// Bytes that differ at every offset a wrong piece could come from.
std::vector<unsigned> pattern(std::size_t count, unsigned seed) {
  std::vector<unsigned> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = static_cast<unsigned>(i) * 2654435761u + seed;
  return values;
}

constexpr std::size_t kSizes[] = {
    4,           4096,           65536,          65540,    262144,
    262148,      1u << 20,       (1u << 20) + 4, 5u << 20, (16u << 20) + 12,
    (33u << 20), (70u << 20) + 8};

TEST_F(Transfer, PageableRoundTrip) {
  StreamState stream(device(), nullptr, false);
  for (std::size_t bytes : kSizes) {
    Buffer memory(bytes);
    std::vector<unsigned> sent = pattern(bytes / 4, static_cast<unsigned>(bytes)),
                          received(bytes / 4, 0);
    std::vector<unsigned> original = sent;
    driver::upload(stream, memory, sent.data(), bytes);
    std::fill(sent.begin(), sent.end(), 0xdeadbeef);  // the host memory may be reused now
    driver::download(stream, received.data(), memory, bytes);
    EXPECT_EQ(received, original) << bytes;
  }
}

TEST_F(Transfer, UnalignedOffsetsAndSizes) {
  StreamState stream(device(), nullptr, false);
  constexpr std::size_t kBytes = (6u << 20) + 77;
  Buffer memory(kBytes + 16);
  std::vector<unsigned char> sent(kBytes + 3), received(kBytes + 5);
  std::iota(sent.begin(), sent.end(), 0);
  driver::upload(stream, memory + 9, sent.data() + 3, kBytes);
  driver::download(stream, received.data() + 5, memory + 9, kBytes);
  EXPECT_TRUE(std::equal(sent.begin() + 3, sent.end(), received.begin() + 5));
}

TEST_F(Transfer, PinnedRoundTrip) {
  StreamState stream(device(), nullptr, false);
  constexpr std::size_t kBytes = 3u << 20;
  PinnedMemory from(device(), kBytes), to(device(), kBytes);
  std::vector<unsigned> sent = pattern(kBytes / 4, 7);
  std::memcpy(from.data(), sent.data(), kBytes);
  Buffer memory(kBytes);
  driver::upload(stream, memory, from.data(), kBytes);
  driver::download(stream, to.data(), memory, kBytes);
  EXPECT_EQ(std::memcmp(to.data(), sent.data(), kBytes), 0);
}

TEST_F(Transfer, NothingToCopy) {
  StreamState stream(device(), nullptr, false);
  driver::upload(stream, 0, nullptr, 0);
  driver::download(stream, nullptr, 0, 0);
}

// Later work of the stream sees an upload, and a download sees earlier work: staging has its place
// in the order.
TEST_F(Transfer, KeepsStreamOrder) {
  TestStream handle;
  StreamState stream(device(), handle, false);
  constexpr std::size_t kBytes = 12u << 20;
  Buffer memory(kBytes), copy(kBytes);
  std::vector<unsigned> received(kBytes / 4);
  for (unsigned round = 0; round < 4; ++round) {
    std::vector<unsigned> sent = pattern(kBytes / 4, round);
    driver::upload(stream, memory, sent.data(), kBytes);
    if (api().cuMemcpyDtoDAsync(copy, memory, kBytes, handle) == cuda::CUDA_ERROR_NOT_SUPPORTED)
      return;
    driver::download(stream, received.data(), copy, kBytes);
    EXPECT_EQ(received, sent);
  }
}

TEST_F(Transfer, ThreadsDoNotMixTheirData) {
  auto worker = [](unsigned seed) {
    device();
    TestStream handle;
    StreamState stream(device(), handle, false);
    for (std::size_t bytes : {std::size_t{40000}, std::size_t{2} << 20, std::size_t{9} << 20}) {
      Buffer memory(bytes);
      std::vector<unsigned> sent = pattern(bytes / 4, seed), received(bytes / 4);
      for (int i = 0; i < 5; ++i) {
        driver::upload(stream, memory, sent.data(), bytes);
        driver::download(stream, received.data(), memory, bytes);
        EXPECT_EQ(received, sent);
      }
    }
  };
  std::vector<std::thread> threads;
  for (unsigned seed = 1; seed <= 3; ++seed) threads.emplace_back(worker, seed * 1000003);
  for (auto& thread : threads) thread.join();
}

TEST_F(Transfer, BadAddressIsAnError) {
  StreamState stream(device(), nullptr, false);
  std::vector<char> host(1000);
  Buffer memory(4096);
  EXPECT_THROW(driver::upload(stream, memory + (std::size_t{1} << 45), host.data(), host.size()),
               DriverError);
}

}  // namespace
}  // namespace td::test

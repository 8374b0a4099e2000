// A std::vector of small numbers that keeps its first few elements in itself: shapes, strides and
// axes are short, and an operation on small arrays makes dozens of them.
//
// The interface is the part of std::vector's that the library uses, with the same meaning;
// iterators are pointers. Growth, insertion and assignment allow a value that lies in the vector
// itself. A moved-from vector is empty.
#pragma once

#include <algorithm>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <iterator>
#include <memory>
#include <new>
#include <type_traits>

namespace [[gnu::visibility("default")]] td {

template <class T, std::uint32_t Inline>
class InlineVector {
  static_assert(std::is_trivially_copyable_v<T> && Inline > 0);

 public:
  using value_type = T;
  using size_type = std::size_t;
  using difference_type = std::ptrdiff_t;
  using reference = T&;
  using const_reference = const T&;
  using iterator = T*;
  using const_iterator = const T*;

  InlineVector() noexcept : data_(own_) {}
  explicit InlineVector(std::size_t count, T value = T()) : InlineVector() { assign(count, value); }
  InlineVector(std::initializer_list<T> values) : InlineVector(values.begin(), values.end()) {}
  template <std::forward_iterator It>
  InlineVector(It first, It last) : InlineVector() {
    assign(first, last);
  }
  InlineVector(const InlineVector& other) : InlineVector() { copy(other); }
  InlineVector(InlineVector&& other) noexcept : InlineVector() { take(other); }
  ~InlineVector() { drop(); }

  InlineVector& operator=(const InlineVector& other) {
    if (this != &other) copy(other);
    return *this;
  }
  InlineVector& operator=(InlineVector&& other) noexcept {
    if (this != &other) {
      drop();
      take(other);
    }
    return *this;
  }
  InlineVector& operator=(std::initializer_list<T> values) {
    assign(values.begin(), values.end());
    return *this;
  }

  void assign(std::size_t count, T value) {
    need(count);
    std::fill_n(data_, count, value);
    size_ = static_cast<std::uint32_t>(count);
  }
  template <std::forward_iterator It>
  void assign(It first, It last) {
    InlineVector fresh;
    fresh.need(static_cast<std::size_t>(std::distance(first, last)));
    for (; first != last; ++first) fresh.data_[fresh.size_++] = static_cast<T>(*first);
    *this = std::move(fresh);
  }

  T* data() noexcept { return data_; }
  const T* data() const noexcept { return data_; }
  std::size_t size() const noexcept { return size_; }
  std::size_t capacity() const noexcept { return capacity_; }
  bool empty() const noexcept { return size_ == 0; }
  T& operator[](std::size_t k) { return data_[k]; }
  const T& operator[](std::size_t k) const { return data_[k]; }
  T& front() { return data_[0]; }
  const T& front() const { return data_[0]; }
  T& back() { return data_[size_ - 1]; }
  const T& back() const { return data_[size_ - 1]; }

  T* begin() noexcept { return data_; }
  T* end() noexcept { return data_ + size_; }
  const T* begin() const noexcept { return data_; }
  const T* end() const noexcept { return data_ + size_; }
  const T* cbegin() const noexcept { return data_; }
  const T* cend() const noexcept { return data_ + size_; }
  auto rbegin() const noexcept { return std::reverse_iterator(end()); }
  auto rend() const noexcept { return std::reverse_iterator(begin()); }
  auto rbegin() noexcept { return std::reverse_iterator(end()); }
  auto rend() noexcept { return std::reverse_iterator(begin()); }

  void reserve(std::size_t count) { need(count); }
  void clear() noexcept { size_ = 0; }
  void resize(std::size_t count, T value = T()) {
    if (count > size_) {
      need(count);
      std::fill(data_ + size_, data_ + count, value);
    }
    size_ = static_cast<std::uint32_t>(count);
  }
  void push_back(T value) {
    if (size_ == capacity_) [[unlikely]]
      grow(size_ + 1);
    data_[size_++] = value;
  }
  void pop_back() { --size_; }

  T* insert(const T* at, T value) { return insert(at, &value, &value + 1); }
  T* insert(const T* at, std::size_t count, T value) {
    T* gap = open(at, count);
    std::fill_n(gap, count, value);
    return gap;
  }
  template <std::forward_iterator It>
  T* insert(const T* at, It first, It last) {
    InlineVector values(first, last);
    T* gap = open(at, values.size());
    std::copy(values.begin(), values.end(), gap);
    return gap;
  }
  T* insert(const T* at, std::initializer_list<T> values) {
    return insert(at, values.begin(), values.end());
  }
  T* erase(const T* at) { return erase(at, at + 1); }
  T* erase(const T* first, const T* last) {
    T* place = data_ + (first - data_);
    T* rest = std::copy(last, cend(), place);
    size_ = static_cast<std::uint32_t>(rest - data_);
    return place;
  }

  friend bool operator==(const InlineVector& a, const InlineVector& b) {
    return a.size_ == b.size_ && std::equal(a.begin(), a.end(), b.begin());
  }
  friend auto operator<=>(const InlineVector& a, const InlineVector& b) {
    return std::lexicographical_compare_three_way(a.begin(), a.end(), b.begin(), b.end());
  }

 private:
  void need(std::size_t count) {
    if (count > capacity_) [[unlikely]]
      grow(count);
  }

  [[gnu::noinline]] void grow(std::size_t count) {
    std::size_t capacity = std::max<std::size_t>(count, 2 * std::size_t{capacity_});
    if (capacity > UINT32_MAX) throw std::bad_array_new_length();
    T* fresh = std::allocator<T>().allocate(capacity);
    std::copy_n(data_, size_, fresh);
    drop();
    data_ = fresh;
    capacity_ = static_cast<std::uint32_t>(capacity);
  }

  // Room for `count` elements at `at`.
  T* open(const T* at, std::size_t count) {
    auto place = static_cast<std::size_t>(at - data_);
    need(size_ + count);
    std::copy_backward(data_ + place, data_ + size_, data_ + size_ + count);
    size_ += static_cast<std::uint32_t>(count);
    return data_ + place;
  }

  // A short vector copies all of its own elements, which is less work than counting them.
  void copy(const InlineVector& other) {
    if (other.size_ <= Inline) [[likely]] {
      std::memcpy(data_, other.data_, sizeof own_);
    } else {
      need(other.size_);
      std::copy_n(other.data_, other.size_, data_);
    }
    size_ = other.size_;
  }

  // Of a vector that holds no memory.
  void take(InlineVector& other) noexcept {
    if (other.data_ == other.own_) [[likely]] {
      data_ = own_;
      capacity_ = Inline;
      std::memcpy(own_, other.own_, sizeof own_);
    } else {
      data_ = other.data_;
      capacity_ = other.capacity_;
      other.data_ = other.own_;
      other.capacity_ = Inline;
    }
    size_ = other.size_;
    other.size_ = 0;
  }

  void drop() noexcept {
    if (data_ != own_) [[unlikely]]
      std::allocator<T>().deallocate(data_, capacity_);
  }

  T* data_;
  std::uint32_t size_ = 0;
  std::uint32_t capacity_ = Inline;
  T own_[Inline] = {};
};

}  // namespace td

#pragma once

template <typename T>
T larger(T a, T b) {
  return a < b ? b : a;
}

template <typename A, typename B>
struct Pair {
  A first;
  B second;
  A get() const { return first; }
};

using IntPair = Pair<int, int>;
typedef unsigned int count_t;

#include "templates/pairs.hpp"

int overloaded(int n) { return n; }
int overloaded(double d) { return static_cast<int>(d); }

int main() {
  IntPair pair{1, 2};
  count_t n = larger(pair.first, pair.get());
  return overloaded(1) + overloaded(2.0) + n;
}

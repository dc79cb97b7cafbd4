#ifndef STORE_H
#define STORE_H

#define LIMIT 8

namespace store {

/// A small store.
class Store {
 public:
  explicit Store(int size);
  int get(int key) const;
  void put(int key, int value);
  static Store make();

 private:
  int values_[LIMIT];
  int size_;
};

int helper(int value);

}  // namespace store

#endif

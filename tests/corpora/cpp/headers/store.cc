#include "headers/store.h"

namespace store {

static int clamp(int key) { return key < LIMIT ? key : LIMIT - 1; }

Store::Store(int size) : size_(size) {}

int Store::get(int key) const { return values_[clamp(key)]; }

void Store::put(int key, int value) { values_[clamp(key)] = helper(value); }

Store Store::make() { return Store(LIMIT); }

}  // namespace store

int store::helper(int value) { return value + 1; }

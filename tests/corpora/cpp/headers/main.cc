#include "headers/store.h"

int main() {
  store::Store made = store::Store::make();
  made.put(1, store::helper(2));
  store::Store *other = new store::Store(3);
  return made.get(1) + other->get(2);
}

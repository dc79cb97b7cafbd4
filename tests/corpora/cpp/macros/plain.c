#include <stddef.h>

#define SQUARE(x) ((x) * (x))

typedef struct node {
  struct node *next;
  int value;
} node_t;

static int sum(const node_t *list) {
  int total = 0;
  for (const node_t *it = list; it != NULL; it = it->next) {
    total += SQUARE(it->value);
  }
  return total;
}

static int (*handler)(const node_t *) = sum;

int main(void) {
  node_t last = {.next = NULL, .value = 2};
  return handler(&last) + sum(&last);
}

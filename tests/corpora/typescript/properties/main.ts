interface Options {
  depth: number;
  label?: string;
}

class Store {
  private items = new Map<string, Options>();
  static count = 0;

  get size(): number {
    return this.items.size;
  }

  set size(value: number) {
    Store.count = value;
  }

  put(label: string, depth: number): this {
    this.items.set(label, { label, depth });
    return this;
  }
}

const store = new Store().put("a", 1);
store.size = store.size + 1;
const table = { put: store.put, "quoted-key": 1, nested: { deep: 2 } };
table.put("b", table.nested.deep);
export type Label = NonNullable<Options["label"]>;
const label: Label = "x";
store.put(label, 1);

export function twice(n: number): number;
export function twice(s: string): string;
export function twice(value: number | string): number | string {
  return typeof value === "number" ? value * 2 : value + value;
}

const arrow = (n: number): number => twice(n);
const named = function inner(n: number): number {
  return n > 0 ? inner(n - 1) : arrow(n);
};

function apply(callback: (n: number) => number): number {
  return callback(1);
}

apply(named);
apply((n) => arrow(n));

export function* counter(limit: number): Generator<number> {
  for (let i = 0; i < limit; i++) {
    yield i;
  }
}

function outer(): () => number {
  let count = 0;
  function step(): number {
    count += 1;
    return count;
  }
  return step;
}

outer()();
const { length: size, ...rest } = [...counter(3)];
console.log(size, rest, twice("a"));

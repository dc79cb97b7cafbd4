export interface Shape {
  readonly name: string;
  area(): number;
}

export abstract class Base implements Shape {
  constructor(public readonly name: string) {}

  abstract area(): number;

  describe(): string {
    return `${this.name} of ${this.area()}`;
  }
}

export class Square extends Base {
  #side: number;

  constructor(side: number) {
    super("square");
    this.#side = side;
  }

  override area(): number {
    return this.#side * this.#side;
  }

  static unit(): Square {
    return new Square(1);
  }
}

export class Plain {}

import { Base, Plain, Square, type Shape } from "./shapes.js";

function total(shapes: Shape[]): number {
  let sum = 0;
  for (const shape of shapes) {
    sum += shape.area();
  }
  return sum;
}

const squares: Base[] = [new Square(2), Square.unit()];
total(squares);
squares[0]?.describe();
new Plain();

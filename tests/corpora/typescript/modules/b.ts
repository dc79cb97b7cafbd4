import { missing } from "./nowhere.js";

export enum Colour {
  Red,
  Blue = limitOf(2),
}

function limitOf(n: number): number {
  return n;
}

export namespace Tools {
  export function sharpen(): void {
    missing();
  }
}

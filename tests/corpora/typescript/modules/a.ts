export function first(): string {
  return "first";
}

export default function chosen(): string {
  return first();
}

export const limit = 10;

import pick, { limit } from "./a.js";
import { renamed, everything, Colour, Tools } from "./index.js";

pick();
renamed();
everything.first();
Tools.sharpen();
export const answer = limit + Colour.Blue;

export async function later(): Promise<string> {
  const loaded = await import("./a.js");
  return loaded.first();
}

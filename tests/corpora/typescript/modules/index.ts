export { first as renamed, limit } from "./a.js";
export * as everything from "./a.js";
export * from "./b.js";

import * as issues from "./issues.js";
import { Plain } from "./issues.js";

export function make(bag: issues.Bag): issues.Issue {
  bag.anything();
  issues.catch(() => undefined);
  const first: issues.Issue = new issues.Issue("a");
  issues.catch(() => new issues.Issue("b"));
  return first.path ? new Plain("c") : new issues.Plain("d");
}

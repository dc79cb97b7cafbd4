export interface Issue {
  readonly path: string;
}

export const Issue: new (
  path: string,
) => Issue = class {
  constructor(readonly path: string) {}
};

export const Plain: new (path: string) => Issue = Issue;

const catch_ = (handler: () => void): void => handler();
export { catch_ as catch };

export interface Bag {
  [key: string]: () => void;
}

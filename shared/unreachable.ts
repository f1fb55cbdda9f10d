/** Marks the branch of an exhaustive switch that the types say cannot happen. */
export function unreachable(value: never): never {
  throw new TypeError(`Unreachable: ${JSON.stringify(value)}`);
}

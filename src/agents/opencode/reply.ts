interface Reply<T> {
  readonly data?: T | undefined;
  readonly error?: unknown;
}

/** What the server answered. The client does not throw when there is no server any more, and no answer would pass for an empty one. */
export function answered<T>({ data, error }: Reply<T>): T {
  if (data !== undefined) return data;
  throw new Error(error instanceof Error ? error.message : JSON.stringify(error));
}

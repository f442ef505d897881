interface Reply<T> {
  readonly data?: T | undefined;
  readonly error?: unknown;
}

/**
 * Unwraps an answer of the server. The client does not throw if there is no server any more, and a missing answer
 * would look like an empty one.
 */
export function answered<T>({ data, error }: Reply<T>): T {
  if (data !== undefined) return data;
  throw new Error(error instanceof Error ? error.message : JSON.stringify(error));
}

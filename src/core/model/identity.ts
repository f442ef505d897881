import { hash } from 'node:crypto';

/**
 * Rule T7: an item is identified by its metadata and its ordinal among equal rows, not by its position. Columns are
 * sorted by name, so moving a column changes no identity.
 */
export function describeMetadata(names: readonly string[], values: readonly string[]): string {
  const pairs = names.map((name, i): [string, string] => [name, values[i] ?? '']);
  pairs.sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
  return JSON.stringify(pairs);
}

export function itemId(metadata: string, ordinal: number): string {
  return `${digest(metadata).slice(0, 16)}.${ordinal}`;
}

/**
 * The `NIGHTSHIFT_KEY`, which makes effects idempotent: the same for every attempt at this item-task, also after a
 * reset.
 */
export function itemKey(shift: string, task: string, item: string): string {
  return digest(JSON.stringify([shift, task, item])).slice(0, 32);
}

/** Names a version of a task file by its content. */
export function versionOf(text: string): string {
  return digest(text).slice(0, 12);
}

function digest(text: string): string {
  return hash('sha256', text);
}

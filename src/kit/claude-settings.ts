import { type JsonNode, layoutOf, render, scan, withEntry, withoutEntry } from './json-text.ts';

/** What is wrong with a settings file; `line` is 1-based. */
export interface SettingsProblem {
  readonly problem: string;
  readonly line?: number;
}

/** The new settings; without `text` nothing is left, and the file is removed. */
export interface Settings {
  readonly text?: string;
}

/** An entry of a list in the settings: the keys that lead to the list, and the new value. */
export interface Addition {
  readonly path: readonly string[];
  readonly value: unknown;
}

/**
 * Identifies our hooks. A permission has no such mark: it is ours if the hooks are, and then the last one of its
 * name, so that your own stays.
 */
export const HOOK_COMMAND = 'nightshift hook claude';

/** Adds each of `additions` once; replaces entries of older versions. */
export function mergeSettings(
  before: string | undefined,
  additions: readonly Addition[],
): Required<Settings> | SettingsProblem {
  const others = removeSettings(before, additions);
  if ('problem' in others) return others;
  let text = others.text;
  for (const { path, value } of additions) {
    const added = add(text, path, value);
    if (typeof added !== 'string') return added;
    text = added;
  }
  return { text: text ?? '' };
}

/** Removes what `mergeSettings` added, and restores the bytes before it. */
export function removeSettings(before: string | undefined, additions: readonly Addition[]): Settings | SettingsProblem {
  if (before === undefined) return {};
  const problem = problemOf(before);
  if (problem !== undefined) return problem;
  const hooks = ownHooks(before);
  if ('problem' in hooks) return hooks;
  if (hooks.places.length === 0) return { text: before };
  const lists = additions.filter(({ path }) => path[0] !== 'hooks');
  const places = [...hooks.places, ...lists.flatMap(({ path, value }) => lastOf(before, path, value))];
  // From the end of the file, so that earlier positions stay valid.
  let text: string | undefined = before;
  for (const place of places.toSorted(byPlace).toReversed()) text = text === undefined ? text : takeOut(text, place);
  return text === undefined ? {} : { text };
}

/** The path to a value: the index of each entry on it. */
type Way = readonly number[];

function byPlace(a: Way, b: Way): number {
  const at = a.findIndex((number, i) => number !== b[i]);
  return at === -1 ? 0 : a[at]! - (b[at] ?? -1);
}

function problemOf(text: string): SettingsProblem | undefined {
  try {
    const value: unknown = JSON.parse(text.replace(/^\uFEFF/, ''));
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return undefined;
    return { problem: 'it holds no JSON object' };
  } catch (error) {
    const { message } = error as Error;
    const position = /at position (\d+)/.exec(message)?.[1];
    return {
      problem: `it is not JSON: ${message}`,
      ...(position === undefined ? {} : { line: text.slice(0, Number(position)).split('\n').length }),
    };
  }
}

function oddity(path: readonly string[], should: string): SettingsProblem {
  return { problem: `\`${path.join('.')}\` in it is not ${should}` };
}

/** The entry of an object. Programs differ in which of two equal names they take. */
function entryOf(node: JsonNode, path: readonly string[], depth: number): number | SettingsProblem {
  const found = node.entries.flatMap(({ key }, i) => (key === path[depth] ? [i] : []));
  return found.length > 1 ? oddity(path.slice(0, depth + 1), 'there once only') : (found[0] ?? -1);
}

function add(before: string | undefined, path: readonly string[], value: unknown): string | SettingsProblem {
  const text = before ?? '';
  const layout = layoutOf(text);
  if (before === undefined) return `${render(nested(path, [value]), 0, layout)}${layout.newline}`;
  let node = scan(text);
  for (let depth = 0; depth < path.length; depth++) {
    if (node.kind !== 'object') return oddity(path.slice(0, depth), 'an object');
    const at = entryOf(node, path, depth);
    if (typeof at !== 'number') return at;
    if (at === -1) {
      const rest = nested(path.slice(depth + 1), [value]);
      return withEntry(text, node, `${JSON.stringify(path[depth])}: ${render(rest, depth + 1, layout)}`);
    }
    node = node.entries[at]!.value;
  }
  if (node.kind !== 'array') return oddity(path, 'a list');
  return withEntry(text, node, render(value, path.length + 1, layout));
}

function nested(path: readonly string[], value: unknown): unknown {
  return path.reduceRight<unknown>((inner, key) => ({ [key]: inner }), value);
}

/** The paths to our groups of hooks, or to our hook in your own group. */
function ownHooks(text: string): { readonly places: readonly Way[] } | SettingsProblem {
  const root = scan(text);
  const at = entryOf(root, ['hooks'], 0);
  if (typeof at !== 'number') return at;
  if (at === -1) return { places: [] };
  const hooks = root.entries[at]!.value;
  if (hooks.kind !== 'object') return oddity(['hooks'], 'an object');
  const places: Way[] = [];
  for (const [i, { key, value: groups }] of hooks.entries.entries()) {
    if (groups.kind !== 'array') return oddity(['hooks', key], 'a list');
    for (const [j, { value: group }] of groups.entries.entries()) {
      const k = group.entries.findIndex((entry) => entry.key === 'hooks');
      const commands = group.entries[k]?.value.entries ?? [];
      const own = commands.flatMap(({ value }, l) => (isOwn(text, value) ? [l] : []));
      if (own.length > 0 && own.length === commands.length) places.push([at, i, j]);
      else places.push(...own.map((l) => [at, i, j, k, l]));
    }
  }
  return { places };
}

function isOwn(text: string, { start, end, kind }: JsonNode): boolean {
  if (kind !== 'object') return false;
  const { command } = JSON.parse(text.slice(start, end)) as { command?: unknown };
  return typeof command === 'string' && command.includes(HOOK_COMMAND);
}

/** The path to the last entry of a list that equals this value. */
function lastOf(text: string, path: readonly string[], value: unknown): Way[] {
  const way: number[] = [];
  let node = scan(text);
  for (const key of path) {
    const at = node.entries.findLastIndex((entry) => entry.key === key);
    if (at === -1) return [];
    way.push(at);
    node = node.entries[at]!.value;
  }
  const at = node.entries.findLastIndex(
    ({ value: { start, end } }) => text.slice(start, end) === JSON.stringify(value),
  );
  return at === -1 ? [] : [[...way, at]];
}

/** Together with the containers that were added for it. */
function takeOut(text: string, way: Way): string | undefined {
  const nodes = [scan(text)];
  for (const at of way) nodes.push(nodes.at(-1)!.entries[at]!.value);
  for (let depth = way.length - 1; depth >= 0; depth--) {
    const rest = withoutEntry(text, nodes[depth]!, way[depth]!);
    if (rest !== undefined) return rest;
  }
  return undefined;
}

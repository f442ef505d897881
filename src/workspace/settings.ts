/** Settings of git. The last value of a key counts; keys are in lower case, except for the name of a sub section. */
export type Settings = readonly (readonly [key: string, value: string])[];

export function settingIn(settings: Settings, key: string): string | undefined {
  return settings.findLast(([name]) => name === key)?.[1];
}

/** About one folder, or names of programs that the engine does not need. */
const OF_ONE_FOLDER = [
  'core\\.(worktree|hookspath|fsmonitor|untrackedcache|splitindex|sparsecheckout.*|alternaterefscommand)',
  'include\\..*|includeif\\..*|safe\\..*|alias\\..*|gc\\..*|maintenance\\..*',
];

/** For a repository of the engine's own. `more`: patterns of other keys that it does not take over. */
export function ownSettings(settings: Settings, more: readonly string[]): Settings {
  const leftOut = new RegExp(`^(${[...OF_ONE_FOLDER, ...more].join('|')})$`, 'i');
  return settings.filter(([key]) => !leftOut.test(key));
}

/** Nothing tidies up behind the engine's back. */
export const CALM: Settings = [
  ['gc.auto', '0'],
  ['maintenance.auto', 'false'],
];

/** `key\nvalue\0`, as `git config --list -z` prints it; a key without a value means `true`. */
export function parseSettings(printed: string): Settings {
  return printed
    .split('\0')
    .filter((entry) => entry !== '')
    .map((entry) => {
      const at = entry.indexOf('\n');
      return at === -1 ? ([entry, 'true'] as const) : ([entry.slice(0, at), entry.slice(at + 1)] as const);
    });
}

/** As a configuration file. */
export function renderSettings(settings: Settings): string {
  return settings
    .map(([key, value]) => `${header(key)}\n\t${key.slice(key.lastIndexOf('.') + 1)} = ${quoted(value)}\n`)
    .join('');
}

/** `section` or `section.sub section`: the name of the sub section may contain anything. */
function header(key: string): string {
  const [first, last] = [key.indexOf('.'), key.lastIndexOf('.')];
  const section = key.slice(0, first);
  if (first === last) return `[${section}]`;
  return `[${section} "${key.slice(first + 1, last).replace(/["\\]/g, '\\$&')}"]`;
}

function quoted(value: string): string {
  const escaped = value.replace(/["\\]/g, '\\$&').replaceAll('\n', '\\n').replaceAll('\t', '\\t');
  return `"${escaped}"`;
}

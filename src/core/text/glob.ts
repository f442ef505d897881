/** One part of a glob as a pattern for names. */
export function namePattern(part: string): RegExp {
  return new RegExp(`^${sourceOf(part)}$`, 'su');
}

/**
 * Matches absolute paths that a glob names, or paths below them; globs are relative to a folder, as in `protect:`.
 */
export function globMatcher(folder: string, globs: readonly string[]): (path: string) => boolean {
  const patterns = globs.map((glob) => new RegExp(`^${pathSource(folder, glob)}(?:/.*)?$`, 'su'));
  return (path) => patterns.some((pattern) => pattern.test(path));
}

/** The globs without braces that `{a,b}` stands for. Braces without a comma are text. */
export function expandBraces(glob: string): string[] {
  const [braces, choices] = /\{([^{}]*,[^{}]*)\}/.exec(glob) ?? [];
  if (braces === undefined || choices === undefined) return [glob];
  const [before = '', after = ''] = [
    glob.slice(0, glob.indexOf(braces)),
    glob.slice(glob.indexOf(braces) + braces.length),
  ];
  return choices.split(',').flatMap((choice) => expandBraces(before + choice + after));
}

/** The parts of a glob, without `.`. */
export function globParts(glob: string): string[] {
  return glob.split('/').filter((part) => part !== '' && part !== '.');
}

function pathSource(folder: string, glob: string): string {
  const above = folder.split('/').filter((part) => part !== '');
  const parts = globParts(glob);
  while (parts[0] === '..') {
    parts.shift();
    above.pop();
  }
  const fixed = above.map((part) => `/${escaped(part)}`).join('');
  return fixed + parts.map((part) => (part === '**' ? '(?:/[^/]+)*' : `/${sourceOf(part)}`)).join('');
}

function sourceOf(part: string): string {
  return escaped(part)
    .replaceAll(/(?:\\\*)+/g, '[^/]*')
    .replaceAll('\\?', '[^/]');
}

function escaped(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
}

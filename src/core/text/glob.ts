/** One part of a glob as a pattern for names: `*` and `?` stand for characters. */
export function namePattern(part: string): RegExp {
  return new RegExp(`^${sourceOf(part)}$`, 'su');
}

/** Whether an absolute path is one that a glob names, or below one; as `protect:` has globs, relative to a folder. */
export function globMatcher(folder: string, globs: readonly string[]): (path: string) => boolean {
  const patterns = globs.map((glob) => new RegExp(`^${pathSource(folder, glob)}(?:/.*)?$`, 'su'));
  return (path) => patterns.some((pattern) => pattern.test(path));
}

/** The names in a glob; `.` is where it stands already. */
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

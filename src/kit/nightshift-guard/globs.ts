/** Names that a shell pattern could expand to. */
const NAMES = [
  '.opencode',
  'opencode.json',
  'opencode.jsonc',
  '.claude',
  '.claude.json',
  '.mcp.json',
  '.git',
  '.gitconfig',
  '.config',
  '.nightshift',
  '.env',
  '.env.in-force',
  '.engine',
  'prompts',
  'hooks',
  'config',
];

/** A word with `*`, `?`, `[a]` or `{a,b}`, and the names that it may expand to. */
export function meanings(word: string): string[] {
  if (!/[*?[{]/.test(word) || word.length > 400) return [word];
  let ways = [''];
  for (const part of word.split('/')) {
    const here = [part, ...NAMES.filter((name) => isMeant(part, name))];
    ways = ways.flatMap((way) => here.map((each) => (way === '' ? each : `${way}/${each}`))).slice(0, 200);
  }
  return ways;
}

/** Patterns that begin with a wildcard, or are `.*`, are too common to deny. */
function isMeant(part: string, name: string): boolean {
  if (!/[*?[{]/.test(part) || part[0] !== name[0] || /^\.[*?]+$/.test(part)) return false;
  const pattern = part
    .toLowerCase()
    .replace(/[.+^$()|\\]/g, '\\$&')
    .replace(/\{[^}]*\}?|\*+/g, '.*')
    .replace(/\?/g, '.')
    .replace(/\[[^\]]*\]?/g, '.');
  return new RegExp(`^${pattern}$`).test(name);
}

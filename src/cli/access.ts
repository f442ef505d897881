/** Commander's options are untyped; each command reads its own. */
// biome-ignore lint/suspicious/noExplicitAny: see above
export type Options = Record<string, any>;

/** Whether a command changes anything: always, never, or depending on its arguments and options. */
export type Access = 'reads' | 'writes' | ((args: readonly string[], options: Options) => 'reads' | 'writes');

export const writesUnlessDry: Access = (_, { dryRun }) => (dryRun ? 'reads' : 'writes');

const TABLE_WRITES = [
  ...['edit', 'add', 'import', 'reset', 'remove'],
  ...['add-column', 'rename-column', 'drop-column'],
];

/** The verb is the first or the second word. With a token, `edit` itself checks whose status it is. */
export function tableAccess([first = '', second = '']: readonly string[], { token }: Options): 'reads' | 'writes' {
  const mayEdit = token !== undefined;
  const writes = [first, second].some((word) => TABLE_WRITES.includes(word) && !(word === 'edit' && mayEdit));
  return writes ? 'writes' : 'reads';
}

/** An export to a file could replace any file of the shift. */
export function exportAccess(_: readonly string[], { csv, jsonl, md }: Options): 'reads' | 'writes' {
  return [csv, jsonl, md].every((file) => file === undefined || file === '-') ? 'reads' : 'writes';
}

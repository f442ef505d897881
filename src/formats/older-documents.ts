import { findSections, type Line, scan, splice } from './markdown.ts';

/** A task whose name got underscores. */
export interface RenamedTask {
  readonly from: string;
  readonly to: string;
}

/** A document in today's form, with a short description of each change. */
export interface UpgradedText {
  readonly text: string;
  readonly changes: readonly string[];
}

const NO_TASKS_YET = /^\s*\(no tasks yet\b.*\)\s*$/;

/** The line that the template of older programs has instead of a Task Order. */
export function noTasksYet(text: string): Line | undefined {
  const section = findSections(scan(text), 'Task Order')[0];
  return section?.lines.find((line) => NO_TASKS_YET.test(line.text));
}

export function upgradeTask(text: string, file: string, renamed: readonly RenamedTask[]): UpgradedText {
  const changes: string[] = [];
  const renamedKeys = renameKeys(text, 'Configuration', file, changes);
  const slashed = withoutSecondSlash(renamedKeys, file, changes);
  return { text: renameMentions(slashed, file, renamed, changes), changes };
}

/** Without the Task Order itself, in which names are changed one by one. */
export function upgradeManager(text: string, renamed: readonly RenamedTask[], hasTasks: boolean): UpgradedText {
  const changes: string[] = [];
  let upgraded = renameKeys(text, 'Shift Configuration', 'manager.md', changes);
  upgraded = withoutSecondSlash(upgraded, 'manager.md', changes);
  upgraded = renameMentions(upgraded, 'manager.md', renamed, changes);
  const line = hasTasks ? noTasksYet(upgraded) : undefined;
  if (line) {
    upgraded = splice(upgraded, line.start, line.next, '');
    changes.push('manager.md: removes the line "(no tasks yet ...)", because there are tasks');
  }
  return { text: upgraded, changes };
}

const WORKING_DIR = /^(\s*[-*+]\s+[`"']?)working_dir(?=[`"']?\s*:)/;

/** Both forms are read, but files should use one. */
function renameKeys(text: string, section: string, file: string, changes: string[]): string {
  const lines = findSections(scan(text), section)[0]?.lines ?? [];
  const line = lines.find(({ active }) => WORKING_DIR.test(active));
  if (!line) return text;
  changes.push(`${file}: \`working_dir\` becomes \`working-dir\``);
  const [, lead = ''] = WORKING_DIR.exec(line.active)!;
  const start = line.start + lead.length;
  return splice(text, start, start + 'working_dir'.length, 'working-dir');
}

/** `{SHIFT:FOLDER}` now ends in a slash. Removes the slash after it, so that every path stays the same. */
function withoutSecondSlash(text: string, file: string, changes: string[]): string {
  const pattern = /(?<![${])(\{SHIFT:FOLDER\})\/+/g;
  const count = text.match(pattern)?.length ?? 0;
  if (count === 0) return text;
  changes.push(`${file}: {SHIFT:FOLDER}/ becomes {SHIFT:FOLDER}, which ends in a slash (${places(count)})`);
  return text.replace(pattern, '$1');
}

/** Renames placeholders, names in backticks and file names; other text may mean something else. */
function renameMentions(text: string, file: string, renamed: readonly RenamedTask[], changes: string[]): string {
  let changed = text;
  for (const { from, to } of renamed) {
    const pattern = new RegExp(`(?<=\\{|\`)${from}(?=\\}|\`)|(?<![\\w./-])${from}(?=\\.md\\b)`, 'g');
    const count = changed.match(pattern)?.length ?? 0;
    if (count === 0) continue;
    changes.push(`${file}: ${from} becomes ${to} (${places(count)})`);
    changed = changed.replace(pattern, to);
  }
  return changed;
}

function places(count: number): string {
  return count === 1 ? '1 place' : `${count} places`;
}

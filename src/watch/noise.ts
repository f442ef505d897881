import { basename } from 'node:path';

/** What operating systems and editors write by themselves, beside the files that people open. */
const LEFT_BESIDE = [
  /^\.DS_Store$/,
  /^\._/,
  /^Thumbs\.db$/i,
  /^desktop\.ini$/i,
  // Vim: swap files, and the file by which it tries whether it may write.
  /^\..*\.sw[a-px]$/,
  /^4913$/,
  // Emacs and others: locks, autosaves, backups.
  /^\.#/,
  /^#.*#$/,
  /~$/,
  // Office programs.
  /^\.~lock\..*#$/,
  /^~\$/,
];

/** Folders that belong to a tool: what it installed, caches, the state of an editor. */
const OF_TOOLS = new Set([
  'node_modules',
  '.venv',
  'venv',
  '__pycache__',
  '.pytest_cache',
  '.mypy_cache',
  '.ruff_cache',
  '.tox',
  '.cache',
  '.direnv',
  '.idea',
  '.vscode',
]);

/** Such a file says nothing about what a qa did. */
export function isLeftBeside(path: string): boolean {
  const name = basename(path);
  return LEFT_BESIDE.some((pattern) => pattern.test(name));
}

export function isOfTool(path: string): boolean {
  return path.split('/').some((part) => OF_TOOLS.has(part));
}

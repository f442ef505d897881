import { basename } from 'node:path';

/** Files that operating systems and editors write on their own, beside those you open. */
const LEFT_BESIDE = [
  /^\.DS_Store$/,
  /^\._/,
  /^Thumbs\.db$/i,
  /^desktop\.ini$/i,
  // Vim: swap files, and the file that tests whether it may write.
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

/** Folders that belong to a tool: installed packages, caches, editor state. */
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

/** Such a file is no evidence against a qa. */
export function isLeftBeside(path: string): boolean {
  const name = basename(path);
  return LEFT_BESIDE.some((pattern) => pattern.test(name));
}

export function isOfTool(path: string): boolean {
  return path.split('/').some((part) => OF_TOOLS.has(part));
}

import { VERBS } from './access.ts';

/** What other programs call a command of ours. */
const SYNONYMS: Readonly<Record<string, readonly string[]>> = {
  start: ['run', 'go', 'begin', 'launch', 'exec', 'execute'],
  create: ['new', 'make', 'add', 'add-shift'],
  'add-task': ['task', 'new-task', 'create-task'],
  retry: ['rerun', 'redo', 'retry-failed'],
  stop: ['kill', 'cancel', 'abort', 'quit', 'end', 'terminate'],
  pause: ['hold', 'suspend'],
  resume: ['continue', 'unpause', 'proceed'],
  attach: ['follow', 'view', 'live', 'monitor', 'tui', 'ui', 'top'],
  logs: ['journal', 'history', 'tail', 'events', 'transcript', 'transcripts'],
  status: ['progress', 'stats', 'summary', 'state'],
  show: ['row', 'item', 'inspect', 'describe', 'get', 'info', 'why'],
  list: ['ls', 'shifts', 'ps'],
  export: ['results', 'report', 'output', 'outputs', 'dump'],
  archive: ['rm', 'delete', 'drop', 'finish'],
  unarchive: ['restore', 'unpack'],
  doctor: ['check', 'validate', 'verify', 'lint', 'diagnose', 'fix'],
  edit: ['config', 'configure', 'set'],
  'test-task': ['test', 'try', 'trial'],
  preview: ['prompt', 'render'],
  lessons: ['learn', 'learned', 'learning'],
  demo: ['example', 'tutorial', 'quickstart'],
  init: ['setup', 'install'],
  '--version': ['version'],
};

/** Our command for a word that other programs use. */
export function commandFor(word: string): string | undefined {
  const found = Object.entries(SYNONYMS).find(([, words]) => words.includes(word.toLowerCase()));
  if (found) return found[0];
  return VERBS.some((verb) => verb === word) ? `table ${word}` : undefined;
}

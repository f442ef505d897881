import { readFileSync } from 'node:fs';
import type { KitFile } from './kit.ts';
import { COMMANDS, DEV, MANAGER, QA } from './texts.ts';

/** qsv commands that only read, alone or under the lock. */
const QSV_READS = ['count', 'headers', 'search', 'slice', 'select'];
const TABLE_READS = ['count', 'headers', 'show', 'search', 'slice'];

/**
 * The last matching rule decides. Whatever could write, or run something else, is denied again at the end, as far as
 * patterns can tell; the guard checks the rest.
 */
const MANAGER_SHELL = rules([
  ['*', 'deny'],
  ...['open', 'close'].map((verb): Rule => [`nightshift batch ${verb} *`, 'allow']),
  ...TABLE_READS.map((verb): Rule => [`nightshift table * ${verb}*`, 'allow']),
  ['nightshift lesson *', 'allow'],
  ['nightshift status*', 'allow'],
  ...QSV_READS.map((verb): Rule => [`qsv ${verb} *`, 'allow']),
  ...QSV_READS.map((verb): Rule => [`flock -x *.nightshift/*/table.csv.lock qsv ${verb} *`, 'allow']),
  ...['qsv * -o*', 'qsv * --o*', 'flock * -o*', 'flock * --o*', 'flock * -c*', 'flock * --command*'].map(
    (pattern): Rule => [pattern, 'deny'],
  ),
]);

/** Its own status, and nothing else: no agent judges its own work, even with the token of another. */
function statusShell(statuses: readonly string[]): Record<string, string> {
  return rules([
    ['*', 'deny'],
    ...statuses.map((status): Rule => [`nightshift table * edit * ${status} --token *`, 'allow']),
  ]);
}

const SHIFT_FILES = ['table.csv', 'table.csv.lock', 'manager.md', 'lessons.json', '.env*', '.engine/*'];

/** If `doom_loop` is denied, the third identical call ends the agent. */
const NOTHING_ASKED = { external_directory: 'deny', doom_loop: 'allow', question: 'deny' };
/** In the project's folder, and with paths relative to a folder above. */
const anywhere = (...patterns: readonly string[]) => patterns.flatMap((pattern) => [pattern, `*/${pattern}`]);
const deny = (pattern: string): Rule => [pattern, 'deny'];

/** Reading the resources of MCP servers comes with the server. */
const FILES = rules([['*', 'allow'], deny('mcp:*'), ...anywhere('.nightshift/*/.env*').map(deny)]);

/**
 * Everything except the files of shifts, and those that configure agents and git. Here a `*` also matches several
 * folders. Only the guard knows which files are tasks, and which shift is the dev's own.
 */
const EDITS = rules([
  ['*', 'allow'],
  ...anywhere('.nightshift/*').map(deny),
  ...anywhere('.nightshift/*/*').map((pattern): Rule => [pattern, 'allow']),
  ...anywhere('.nightshift/archive/*', ...SHIFT_FILES.map((file) => `.nightshift/*/${file}`)).map(deny),
  ...anywhere('.opencode/*', 'opencode.json', 'opencode.jsonc', '.claude/*', '.mcp.json', '.git/*').map(deny),
]);
const READING = { read: FILES, glob: 'allow', grep: 'allow', list: 'allow' };

export function opencodeFiles(): KitFile[] {
  return [
    agent('nightshift-manager', 'all', 'Runs a Nightshift shift batch by batch with dev and qa agents', MANAGER, {
      '*': 'deny',
      ...READING,
      bash: MANAGER_SHELL,
      task: rules([
        ['*', 'deny'],
        ['nightshift-dev', 'allow'],
        ['nightshift-qa', 'allow'],
      ]),
      ...NOTHING_ASKED,
    }),
    agent('nightshift-dev', 'subagent', 'Does one task for one item of a Nightshift shift', DEV, {
      '*': 'deny',
      ...READING,
      edit: EDITS,
      bash: statusShell(['qa', 'failed']),
      ...NOTHING_ASKED,
    }),
    agent('nightshift-qa', 'subagent', 'Judges one item of a Nightshift shift, and changes nothing', QA, {
      '*': 'deny',
      ...READING,
      bash: statusShell(['done', 'failed']),
      ...NOTHING_ASKED,
    }),
    ...Object.entries(COMMANDS).map(([name, { description, body }]) => ({
      path: `.opencode/command/nightshift-${name}.md`,
      text: `---\ndescription: ${description}\n---\n\n${body}\n`,
    })),
    plugin('nightshift', 'opencode-guard'),
    plugin('nightshift-tools', 'opencode-tools'),
    plugin('nightshift-session', 'opencode-session'),
    ...GUARD.map((name) => plugin(`nightshift-guard/${name}`, `nightshift-guard/${name}`)),
  ];
}

/** The files that the guard imports. OpenCode takes only the files of the folder itself for plugins. */
const GUARD = ['rules', 'places', 'plain-line', 'open-shell', 'globs', 'real-path', 'task-tools'];

/** Its own compiled source: OpenCode runs it without the rest of Nightshift. */
function plugin(name: string, source: string): KitFile {
  const text = readFileSync(new URL(`./${source}.js`, import.meta.url), 'utf8');
  return { path: `.opencode/plugin/${name}.js`, text };
}

type Rule = readonly [pattern: string, decision: 'allow' | 'deny'];

function rules(list: readonly Rule[]): Record<string, string> {
  return Object.fromEntries(list);
}

function agent(
  name: string,
  mode: string,
  description: string,
  prompt: string,
  permission: Readonly<Record<string, string | Record<string, string>>>,
): KitFile {
  const lines = Object.entries(permission).flatMap(([tool, decision]) =>
    typeof decision === 'string'
      ? [`  ${JSON.stringify(tool)}: ${decision}`]
      : [
          `  ${JSON.stringify(tool)}:`,
          ...Object.entries(decision).map(([key, value]) => `    ${JSON.stringify(key)}: ${value}`),
        ],
  );
  const head = ['---', `description: ${description}`, `mode: ${mode}`, 'permission:', ...lines, '---'];
  return { path: `.opencode/agent/${name}.md`, text: `${head.join('\n')}\n\n${prompt}\n` };
}

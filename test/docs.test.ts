import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { processIo } from '../src/cli/io.ts';
import { createProgram } from '../src/cli/program.ts';

const DOCUMENTS = [
  ...readdirSync('.').filter((file) => file.endsWith('.md')),
  ...['docs', 'examples'].filter(existsSync).flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.md') && !file.includes('/sample/'))
      .map((file) => join(folder, file)),
  ),
];

test('the README has at most 130 lines', () => {
  expect(readFileSync('README.md', 'utf8').trimEnd().split('\n').length).toBeLessThanOrEqual(130);
});

test('the README and docs/each.md show the lines that `each --help` shows and its tests run', () => {
  const lines = readFileSync('src/cli/run-options.ts', 'utf8').match(
    /^ {2}(?:nightshift each|.*\| nightshift each).*$/gm,
  )!;
  expect(lines).toHaveLength(3);
  for (const file of ['README.md', 'docs/each.md']) {
    const text = readFileSync(file, 'utf8').split('\n');
    expect(
      lines.map((line) => line.trim()).filter((line) => !text.includes(line)),
      file,
    ).toEqual([]);
  }
});

test('docs/README.md leads to every page', () => {
  const index = readFileSync('docs/README.md', 'utf8');
  const pages = readdirSync('docs').filter((file) => file.endsWith('.md') && file !== 'README.md');
  expect(pages.filter((page) => !index.includes(`](${page})`))).toEqual([]);
});

test('docs/events.md has every event, each with a line that has nothing but what is described', () => {
  const source = readFileSync('src/core/model/events.ts', 'utf8');
  const map = /interface EventMap \{\n(.*?)\n\}\n/s.exec(source)![1]!;
  const fields = new Map(
    [...map.matchAll(/^ {2}'?([a-z]+(?::[a-z]+)?)'?: (\{.*?\})[^}]*?;$/gms)].map(([, type, body]) => [
      type!,
      [...body!.matchAll(/([a-zA-Z]+)\??:\s/g)].map(([, name]) => name!),
    ]),
  );
  const types = [...fields.keys()];
  const text = readFileSync('docs/events.md', 'utf8');
  const sections = [...text.matchAll(/^### `([^`]+)`\n(.*?)```json\n(.*?)\n```/gms)];
  expect(sections.map(([, type]) => type).sort()).toEqual(types.sort());
  const common = [
    'type',
    'at',
    'run',
    'seq',
    'elapsed',
    'shift',
    'task',
    'index',
    'item',
    'label',
    'attempt',
    'worker',
    'order',
    'n',
  ];
  for (const [, type, described, line] of sections) {
    const rows = [...described!.matchAll(/^- (`.+?`):/gm)].flatMap(([, names]) => names!.match(/[a-zA-Z]+/g)!);
    const event = JSON.parse(line!) as Record<string, unknown>;
    expect(event.type).toBe(type);
    expect(
      fields.get(type!)!.filter((name) => !common.includes(name) && !rows.includes(name)),
      `fields of ${type}`,
    ).toEqual([]);
    const strange = Object.keys(event).filter((name) => !common.includes(name) && !rows.includes(name));
    expect(strange, type).toEqual([]);
  }
});

test('docs/formats.md has every key that a manifest or a task may have', () => {
  const text = readFileSync('docs/formats.md', 'utf8');
  const files = ['formats/settings.ts', 'formats/change-settings.ts', 'formats/manager.ts', 'core/schedule/budget.ts'];
  const lists = files.flatMap((file) => {
    return [...readFileSync(`src/${file}`, 'utf8').matchAll(/const [A-Z_]+_KEYS = \[(.*?)\]/gs)].map(
      ([, list]) => list!,
    );
  });
  const keys = lists.flatMap((list) => [...list.matchAll(/'([a-z-]+)'/g)].map(([, key]) => key!));
  expect(keys).toEqual(expect.arrayContaining(['agent', 'patience', 'max-cost', 'max-files', 'deliver']));
  expect(keys.filter((key) => !text.includes(`\`${key}\``))).toEqual([]);
});

test('docs/commands.md has every command with all of its options, every verb of `table` and every exit code', () => {
  const text = readFileSync('docs/commands.md', 'utf8');
  const limits = /LIMITS stands for (.*?) \(/s.exec(text)![1]!;
  const rowOf = (name: string) => new RegExp(`^\\| \`${name}[ \`].*$`, 'm').exec(text)?.[0] ?? '';
  const program = createProgram(processIo(), '', () => {});
  const commands = program.commands.filter((command) => !command.name().startsWith('__'));
  expect(commands.length).toBeGreaterThan(20);
  expect(commands.map((command) => command.name()).filter((name) => rowOf(name) === '')).toEqual([]);
  const missing = commands.flatMap((command) => {
    const row = rowOf(command.name());
    // The options of `table` belong to its verbs.
    const described = command.name() === 'table' ? text : row.includes('[LIMITS]') ? `${row} ${limits}` : row;
    const words = [...command.aliases(), ...command.options.map((option) => option.long!)];
    return words.filter((word) => word !== '--json' && !described.includes(word)).map((w) => `${command.name()} ${w}`);
  });
  expect(missing).toEqual([]);
  const verbs = /const HANDLERS.*?= \{(.*?)\n\};/s.exec(readFileSync('src/cli/table-verbs.ts', 'utf8'))![1]!;
  const named = [...verbs.matchAll(/^ {2}async '?([a-z-]+)/gm)].map(([, verb]) => verb!);
  expect(named.length).toBeGreaterThan(10);
  const table = text.slice(text.indexOf('## The table'));
  expect(named.filter((verb) => !new RegExp(`\`${verb}[ \`]`).test(table))).toEqual([]);
  const codes = /export const EXIT = \{(.*?)\}/s.exec(readFileSync('src/core/model/errors.ts', 'utf8'))![1]!;
  for (const [code] of codes.matchAll(/\d+/g)) expect(text).toMatch(new RegExp(`^\\| ${code} \\|`, 'm'));
});

test('every command in the docs exists, with the options that are shown', () => {
  const program = createProgram(processIo(), '', () => {});
  const wrong = DOCUMENTS.filter((file) => file !== 'CHANGELOG.md').flatMap((file) => {
    const text = readFileSync(file, 'utf8');
    // A command in backticks, or on a line of its own in a block.
    const shown = [...text.matchAll(/`nightshift ([a-z][a-z-]*)([^`]*)`|^\s*(?:\$ )?nightshift ([a-z][a-z-]*)(.*)$/gm)];
    return shown.flatMap(([, inline, inlineRest = '', alone, rest = inlineRest]) => {
      const name = (inline ?? alone)!;
      const command = program.commands.find((each) => each.name() === name || each.aliases().includes(name));
      if (!command) return name === 'hook' || name === 'help' ? [] : [`${file}: nightshift ${name}`];
      const flags = [...rest.replace(/#.*|"[^"]*"|'[^']*'/g, '').matchAll(/(?<=\s|\[)--[a-z-]+/g)].map(
        ([flag]) => flag,
      );
      const known = [...command.options.map((option) => option.long), '--help'];
      return flags.filter((flag) => !known.includes(flag)).map((flag) => `${file}: nightshift ${name} ${flag}`);
    });
  });
  expect(wrong).toEqual([]);
});

test('docs/dependencies.md has every dependency', () => {
  const text = readFileSync('docs/dependencies.md', 'utf8');
  const { dependencies, devDependencies } = JSON.parse(readFileSync('package.json', 'utf8'));
  const names = Object.keys({ ...dependencies, ...devDependencies });
  expect(names.filter((name) => !text.includes(`| ${name} `))).toEqual([]);
});

test('SECURITY.md and docs/guarantees.md name rules that hold for each protection', () => {
  const rules = readFileSync('docs/rules.md', 'utf8');
  const table = readFileSync('SECURITY.md', 'utf8').matchAll(/^\| (?!what|---)(.+?) \| .* \| (.+?) \|$/gm);
  const rows = [...table].map(([, what, ids]) => ({ what, ids: ids!.split(', ') }));
  const bullets = readFileSync('docs/guarantees.md', 'utf8').matchAll(/^- \*\*(.*?)\*\*(?: \((.*?)\))?/gms);
  rows.push(...[...bullets].map(([, what, ids = '']) => ({ what, ids: ids.split(', ') })));
  expect(rows.length).toBeGreaterThan(20);
  const holds = (id: string) => new RegExp(`^\\| ${id} \\| .* \\| (?!later)`, 'm').test(rules);
  expect(rows.filter(({ ids }) => !ids.every(holds))).toEqual([]);
});

test('links lead somewhere', () => {
  const broken = DOCUMENTS.flatMap((file) => {
    const text = readFileSync(file, 'utf8').replace(/```.*?```/gs, '');
    return [...text.matchAll(/\]\((?!https?:)([^)\s]+)\)/g)].flatMap(([, link]) => {
      const [path = '', anchor] = link!.split('#');
      const target = path === '' ? file : resolve(dirname(file), path);
      if (!existsSync(target)) return [`${file}: ${link}`];
      return anchor === undefined || anchorsOf(target).includes(anchor) ? [] : [`${file}: ${link}`];
    });
  });
  expect(broken).toEqual([]);
});

/** As GitHub makes them of headings. */
function anchorsOf(file: string): string[] {
  return [...readFileSync(file, 'utf8').matchAll(/^#+ (.+)$/gm)].map(([, heading]) =>
    heading!
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  );
}

test('notes on decisions are short', () => {
  const long = DOCUMENTS.filter((file) => file.startsWith('docs/decisions/')).filter(
    (file) => readFileSync(file, 'utf8').split(/\s+/).length > 420,
  );
  expect(long).toEqual([]);
});

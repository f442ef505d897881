import { expect, test } from 'vitest';
import { escapeUnsafe } from '../src/core/text/printable.ts';
import { type Ended, Project, type ShiftHandle, shellTask } from './harness.ts';
import { listing } from './listing.ts';

export type Change = (shift: ShiftHandle, project: Project) => void;

/** One way to be wrong, and all that a tired person must be told about it. */
export interface Mistake {
  /** What is wrong with a shift that was right; or with the arguments. */
  make?: Change;
  args?: readonly string[];
  /** The message; what to do. */
  says: RegExp;
  advises: RegExp;
  /** `FILE:LINE`, from the shift's folder; `''` where there is no place: a name on the command line. */
  at: string;
  exit?: number;
}

export const TABLE = 'name,size,make_page\na,1,todo\nb,2,todo\n';
export const TASK = shellTask('echo {name} >> done.txt', 'grep -x {name} done.txt');
export const LONG = 'x'.repeat(4096);

/** A project with one shift, `pages`, that is right in every way. */
export function rightProject(): { project: Project; shift: ShiftHandle } {
  const project = new Project();
  const shift = project.shift('pages', {
    settings: { agent: 'shell' },
    table: TABLE,
    tasks: { make_page: TASK },
    env: 'API_KEY=s3cret-value\n',
  });
  return { project, shift };
}

/** Runs it with `--json`: people read standard error, which is the same without; machines read standard output. */
async function refuse(mistake: Mistake): Promise<void> {
  const { project, shift } = rightProject();
  mistake.make?.(shift, project);
  const before = listing(project.root);
  const [command = '', ...rest] = mistake.args ?? ['start', 'pages'];
  const ended = await project.run([command, '--json', ...rest]);
  expect(ended.stderr).toMatch(mistake.says);
  expect(ended.code, ended.stderr).toBe(mistake.exit ?? 2);
  const [message = '', ...more] = ended.stderr.trimEnd().split('\n');
  expect(message).toMatch(/^error: /);
  expect(message, 'the message').toMatch(mistake.says);
  const place = mistake.at === '' ? [] : [`  at ${project.path(shift.folder, mistake.at)}`];
  expect(
    more.filter((line) => line.startsWith('  at ')),
    ended.stderr,
  ).toEqual(place);
  expect(more.filter((line) => !line.startsWith('  at ')).join('\n'), 'what to do').toMatch(mistake.advises);
  expect(ended.stderr).not.toMatch(/\bat .*\.js:\d|bug in Nightshift|s3cret/);
  expect(message.length, 'the message').toBeLessThan(500);
  expectOneError(ended);
  expect(listing(project.root)).toEqual(before);
}

/** Standard output holds one JSON object that says the same. */
export function expectOneError({ stdout, stderr }: Ended): void {
  expect(stdout.trimEnd().split('\n')).toHaveLength(1);
  const { type, code, message } = JSON.parse(stdout);
  expect(type).toBe('error');
  expect(code).toMatch(/^[a-z-]+$/);
  expect(stderr).toContain(escapeUnsafe(message));
}

export function check(mistakes: Record<string, Mistake>): void {
  test.each(Object.entries(mistakes))('%s', (_, mistake) => refuse(mistake));
}

export const setTable =
  (table: string | Buffer): Change =>
  (shift, project) =>
    project.write(`${shift.folder}/table.csv`, table);
export const setTask =
  (text: string | Buffer): Change =>
  (shift, project) =>
    project.write(`${shift.folder}/make_page.md`, text);
export const setManager =
  (change: (text: string) => string): Change =>
  (shift) => {
    const changed = change(shift.manager);
    if (changed === shift.manager) throw new Error('the mistake was not made');
    shift.manager = changed;
  };
export const setEnv =
  (text: string | Buffer): Change =>
  (shift, project) =>
    project.write(`${shift.folder}/.env`, text);

/** Another task after the first, with these Configurations. */
export function twoTasks(
  shift: ShiftHandle,
  first: string,
  second: string,
  name = '{name}',
  firstStep = '{name}',
): void {
  const { project, folder } = shift;
  project.write(`${folder}/make_page.md`, shellTask(`echo ${firstStep}`, 'true', first));
  project.write(`${folder}/check_page.md`, shellTask(`echo ${name}`, 'true', second));
  shift.manager = shift.manager.replace('1. make_page', '1. make_page\n2. check_page');
  shift.tableText = 'name,size,make_page,check_page\na,1,todo,todo\n';
}

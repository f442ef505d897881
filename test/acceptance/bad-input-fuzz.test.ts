import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { openAndCheck } from '../../src/app/open-shift.ts';
import { NightshiftError } from '../../src/core/model/errors.ts';
import { openShift } from '../../src/store/folder/layout.ts';
import { Project, shellTask } from '../harness.ts';
import { listing } from '../listing.ts';

/** A place as a part of the file, how many bytes go, and what comes instead. */
type Edit = readonly [number, number, Uint8Array];

// biome-ignore format: a list to read at a glance
const fragments = [
  '"', ',', '\n', '\r', '\r\n', '\0', '\t', ' ', '#', '-', '1.', '- ', '{', '}', '{{', '{name}', '{nmae}', '{ENV:A}', '{SHIFT:NAME}',
  '`', '```', '```sh\n', '~~~', '<!--', '-->', '## Steps\n', '## Configuration\n', '## Task Order\n', '# x\n', '1. make_page\n',
  '- agent: shell\n', '- outputs: make_page\n', '- timeout: 1e99\n', '- name:\n', 'todo', 'done', 'name', 'make_page', '$((', '$(', "'",
  '\\', '<<EOF\n', "<<'EOF'\n", 'EOF\n', 'eval ', 'A=1\n', 'A="', 'export ', '=', '\u202e', 'ü', '💥', '../', '\ufeff',
].map((text) => Buffer.from(text));
const inserted = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(...fragments) },
  { weight: 1, arbitrary: fc.uint8Array({ maxLength: 6 }) },
);
const edit: fc.Arbitrary<Edit> = fc.tuple(fc.double({ min: 0, max: 1, noNaN: true }), fc.nat(12), inserted);
const edits = fc.array(edit, { maxLength: 4 });

function mutate(bytes: Buffer, changes: readonly Edit[]): Buffer {
  let changed = bytes;
  for (const [part, removed, put] of changes) {
    const at = Math.floor(part * changed.length);
    changed = Buffer.concat([changed.subarray(0, at), put, changed.subarray(at + removed)]);
  }
  return changed;
}

test('R10 whatever stands in its files, a shift is read or refused in words, and nothing is written', async () => {
  const project = new Project();
  const shift = project.shift('pages', {
    settings: { agent: 'shell', timeout: '5m', parallel: true, 'max-batch-size': 4 },
    table: 'name,"the size",make_page\n"a, b",1,todo\n"c ""d""\ne",2,done\n',
    tasks: {
      make_page: shellTask('cat <<EOF\n{name}\nEOF\necho "{the size}" \'{ENV:A}\'', 'test {name}', '- qa: auto'),
    },
    env: 'A=1\nB="two\nlines"\n',
  });
  const files = ['manager.md', 'table.csv', 'make_page.md', '.env'].map((name) => {
    const path = join(project.path(shift.folder), name);
    return { path, right: readFileSync(path) };
  });
  const open = () => openAndCheck(openShift(project.root, 'pages'));
  await open();

  let refused = 0;
  await fc.assert(
    fc.asyncProperty(fc.tuple(edits, edits, edits, edits), async (all) => {
      for (const [i, { path, right }] of files.entries()) writeFileSync(path, mutate(right, all[i]!));
      const before = listing(project.root);
      const error = await open().then(
        () => undefined,
        (thrown: unknown) => thrown,
      );
      expect(listing(project.root)).toEqual(before);
      if (error === undefined) return;
      if (!(error instanceof NightshiftError)) throw error;
      refused++;
      const { exitCode, message, hint, file, line } = error;
      expect(exitCode).toBe(2);
      expect(message.length).toBeGreaterThan(0);
      expect(hint?.length, message).toBeGreaterThan(0);
      expect(files.map(({ path }) => path)).toContain(file);
      const lines = readFileSync(file!, 'latin1').split(/\r\n|\n|\r/).length;
      expect(line, message).toBeGreaterThanOrEqual(1);
      expect(line, message).toBeLessThanOrEqual(lines);
    }),
    { numRuns: Number(process.env.NIGHTSHIFT_FUZZ ?? 500) },
  );
  expect(refused).toBeGreaterThan(0);
});

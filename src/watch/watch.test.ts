import { expect, test } from 'vitest';
import type { Change } from '../store/store.ts';
import { type Edit, Watch } from './watch.ts';

/** A watch over files in which these edits are found at the next look. */
function watchOver(found: { changes?: Change[]; edits?: Edit[] }): Watch {
  const watch = new Watch({ sleep: () => new Promise(() => {}) });
  watch.open({
    changes: async () => found.changes?.splice(0) ?? [],
    putBack: async () => found.edits?.splice(0) ?? [],
    isThere: async () => true,
    onFailure: (error) => {
      throw error;
    },
  });
  return watch;
}

const edited = (): Change => ({ kind: 'reverted', what: 'row 2: work from todo to done' }) as Change;
const names = (file: string) => [JSON.stringify({ command: `sed -i s/todo/done/ ${file}` })];

test('D5 of several in flight only the one whose tool call names the file fails, and is told once', async () => {
  const watch = watchOver({ changes: [edited()] });
  for (const token of ['a', 'b', 'c']) watch.enter(token, 'key');
  expect(await watch.trespassOf('a', names('out/page.html'))).toBeUndefined();
  expect(await watch.trespassOf('b', names('.nightshift/night/table.csv'))).toBe(
    'it edited what only Nightshift writes (row 2: work from todo to done)',
  );
  expect(await watch.trespassOf('b', names('.nightshift/night/table.csv'))).toBeUndefined();
  expect(await watch.trespassOf('c', names('.nightshift/night/table.csv'))).toBeUndefined();
});

test('D5 of several in flight nobody fails without a call that names the file; alone in flight one needs none', async () => {
  const found = { changes: [] as Change[], edits: [{ what: 'Validation of work.md', file: 'work.md' }] };
  const watch = watchOver(found);
  watch.enter('a', 'key');
  watch.enter('b', 'key');
  expect(await watch.trespassOf('a', names('table.csv'))).toBeUndefined();
  expect(await watch.trespassOf('b', [])).toBeUndefined();
  watch.leave('b');
  await watch.look();
  // From here on nobody else could have done it.
  found.changes.push(edited());
  expect(await watch.trespassOf('a', [])).toContain('it edited what only Nightshift writes');
});

test('D5 who came after an edit is not blamed for it, whatever it calls', async () => {
  const found = { changes: [edited()] };
  const watch = watchOver(found);
  watch.enter('a', 'key');
  watch.enter('b', 'key');
  await watch.look();
  watch.enter('late', 'key');
  expect(await watch.trespassOf('late', names('table.csv'))).toBeUndefined();
});

test('D5 an edit that a person could have made fails nobody without a call that names that file of the shift', async () => {
  const edit = { what: '.env: PATH added', file: '.env', folder: 'night' };
  const found = { edits: [edit] };
  const watch = watchOver(found);
  watch.enter('a', 'key');
  // Alone in flight; and with a file of its own that has the same name.
  expect(await watch.trespassOf('a', [])).toBeUndefined();
  expect(await watch.trespassOf('a', ['{"content":"process.env.PATH"}'])).toBeUndefined();
  expect(await watch.trespassOf('a', names('app/.env'))).toBeUndefined();
  expect(await watch.trespassOf('a', names('/srv/.nightshift/night/.env'))).toContain('.env: PATH added');
  for (const call of ['echo X >> "$NIGHTSHIFT_SHIFT_DIR/.env"', 'cd .nightshift/night && echo X >> .env']) {
    found.edits.push(edit);
    expect(await watch.trespassOf('a', [JSON.stringify({ command: call })])).toContain('.env: PATH added');
  }
});

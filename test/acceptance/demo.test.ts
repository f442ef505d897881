import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { Project, ShiftHandle } from '../harness.ts';

const SHIFT = 'night-notes';

/** The demo's project as the other tests see theirs. */
function inside(project: Project, dir: string): ShiftHandle {
  return new ShiftHandle(new Project(project.path(dir)), SHIFT);
}

function wordsOf(text: string): string[] {
  return text.split(/\s+/).filter((word) => word !== '');
}

/** Every file below a folder, with its bytes and the time of its last change. */
function contents(folder: string): Record<string, string> {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return Object.fromEntries(
    files.map((entry) => {
      const file = join(entry.parentPath, entry.name);
      return [file, `${statSync(file).mtimeMs} ${readFileSync(file, 'latin1')}`];
    }),
  );
}

/** The fields of each type of event. */
function fieldsOf(events: readonly object[]): string[] {
  const fields = events.flatMap((event) =>
    Object.keys(event).map((name) => `${(event as { type: string }).type} ${name}`),
  );
  return [...new Set(fields)].sort();
}

describe('X3 the demo', () => {
  test('X3 `demo` runs a real shift: pages on disk, a second attempt, a failure with its reason, commands that work', async () => {
    const project = new Project();
    const dir = "my night's demo";
    // In a project that has shifts already, the demo is still a project of its own.
    await project.run(['create', 'other']);
    const { code, stdout, stderr } = await project.run(['demo', dir]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });

    const shift = inside(project, dir);
    const notes = readdirSync(shift.project.path('notes'));
    const rows = shift.rows();
    expect(rows).toHaveLength(24);
    expect(notes.sort()).toEqual(rows.map(({ note }) => `${note}.md`).sort());

    const failed = rows.filter((row) => row.make_page === 'failed');
    expect(failed).toMatchObject([{ note: 'nightjar', title: '', words: '', add_to_index: 'todo' }]);
    const done = rows.filter((row) => row.make_page === 'done' && row.add_to_index === 'done');
    expect(done).toHaveLength(23);

    const index = shift.project.read('site/index.html');
    for (const { note, about, title, words } of done) {
      const page = shift.project.read(`site/${note}.html`);
      const text = shift.project.read(`notes/${note}.md`);
      expect(text.split('\n')[0]).toBe(`# ${title}`);
      expect(Number(words)).toBe(wordsOf(text.slice(2)).length);
      // Nothing of the note is lost on its way to the page.
      const shown = page.slice(page.indexOf('<h1>'), page.indexOf('<footer>')).replaceAll('&amp;', '&');
      expect(wordsOf(shown.replace(/<[^>]*>/g, ' '))).toEqual(wordsOf(text.slice(2).replaceAll('*', ' ')));
      expect(index.split(`<a href="${note}.html">${title}</a> <small>${about}, ${words} words</small>`)).toHaveLength(
        2,
      );
    }
    expect(shift.project.exists('site/nightjar.html')).toBe(false);
    expect(index).not.toContain('nightjar');
    expect(readdirSync(shift.project.path('site')).sort()).toEqual(
      [...done.map(({ note }) => `${note}.html`), 'index.html', 'night.css'].sort(),
    );

    const journal = shift.journal();
    const recorded = readFileSync('scripts/picture/demo-run.jsonl', 'utf8').match(/(?<="event":)\{.*(?=\}$)/gm)!;
    const advice = "events have changed since the README's picture was made: run `npm run picture -- --record`";
    expect(fieldsOf(journal), advice).toEqual(fieldsOf(recorded.map((event) => JSON.parse(event))));
    const attempts = journal
      .filter((event) => event.type === 'dev:finished' && event.attempts > 1)
      .sort((a, b) => a.index - b.index);
    expect(attempts.map(({ task, index, attempts, status }) => ({ task, index, attempts, status }))).toEqual([
      { task: 'make_page', index: 3, attempts: 2, status: 'SUCCESS' },
      { task: 'make_page', index: 6, attempts: 3, status: 'FAILED (step 1)' },
    ]);
    expect(journal.some((event) => event.type === 'batch:claimed' && event.indices.length > 1)).toBe(true);

    const lines = stdout.trimEnd().split('\n');
    const closing = lines.slice(lines.findIndex((line) => line.startsWith('Made: '))).join('\n');
    expect(closing).toContain('Made: 23 pages');
    const made = closing.match(/^ {2}my night's demo\/\S+$/gm)!.map((line) => line.trim());
    expect(made.filter((file) => project.exists(file))).toHaveLength(4);
    expect(closing).toMatch(/Passed at attempt 2: row 4 \(hedgehog\).*\n.*had CRLF line ends/);
    expect(closing).toMatch(/Failed, .*row 7 \(nightjar\), after 3 attempts:\n.*notes\/nightjar\.md has no title line/);

    // A folder with something in it is refused, and stays as it is.
    const before = contents(shift.project.root);
    const again = await project.run(['demo', dir]);
    expect([again.code, again.stdout]).toEqual([2, '']);
    expect(again.stderr).toMatch(/demo is not empty\n.*nightshift demo DIR/);
    expect(contents(shift.project.root)).toEqual(before);

    // The commands that it suggests work as they are printed, where the user is.
    const [, block] = stdout.split(/^Try next.*\n/m);
    expect(block).toMatch(/ retry\n$/);
    const ran = spawnSync('sh', ['-e', '-c', block!], { cwd: project.root, encoding: 'utf8' });
    expect({ code: ran.status, stderr: ran.stderr }).toEqual({ code: 0, stderr: '' });
    expect(ran.stdout).toContain('23 completed, 1 failed');
    expect(ran.stdout).toContain('attempt 3: FAILED (step 1)');
    expect(new Set([...shift.column('make_page'), ...shift.column('add_to_index')])).toEqual(new Set(['done']));
    expect(shift.project.read('site/index.html')).toContain('href="nightjar.html">Nightjar<');
  });

  test('X3 where a file is in the way, `demo` touches nothing', async () => {
    const project = new Project();
    project.write('file', 'mine');
    const inTheWay = await project.run(['demo', 'file']);
    expect(inTheWay.code).toBe(2);
    expect(inTheWay.stderr).toContain('there is a file in the way');
    expect(project.read('file')).toBe('mine');
  });

  test('X3 `demo --json` prints events only, into the folder nightshift-demo; stopped, it has the exit code of its run', async () => {
    const project = new Project();
    const running = project.launch(['demo', '--json']);
    await running.seen('batch:claimed');
    await project.run(['stop'], { cwd: project.path('nightshift-demo') });
    const { code, events, stdout } = await running.ended;
    expect(code).toBe(130);
    expect(events).toHaveLength(stdout.trimEnd().split('\n').length);
    expect(events.at(-1)).toMatchObject({ type: 'run:finished', exitCode: 130 });
    expect(inside(project, 'nightshift-demo').column('make_page')).toContain('todo');
  });
});

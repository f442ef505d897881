import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { NIGHTSHIFT, Project, ShiftHandle } from '../harness.ts';

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

describe('X3 the demo', () => {
  test('X3 `demo` runs a real shift: pages on disk, one second attempt, one failure with its reason', async () => {
    const project = new Project();
    const { code, stdout, stderr } = await project.run(['demo']);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });

    const shift = inside(project, 'nightshift-demo');
    const notes = readdirSync(project.path('nightshift-demo/notes'));
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
    const attempts = journal.filter((event) => event.type === 'dev:finished' && event.attempts > 1);
    expect(attempts.map(({ task, index, attempts, status }) => ({ task, index, attempts, status }))).toEqual([
      { task: 'make_page', index: 3, attempts: 2, status: 'SUCCESS' },
      { task: 'make_page', index: 6, attempts: 3, status: 'FAILED (step 1)' },
    ]);
    expect(journal.some((event) => event.type === 'batch:claimed' && event.indices.length > 1)).toBe(true);

    const lines = stdout.trimEnd().split('\n');
    const closing = lines.slice(lines.findIndex((line) => line.startsWith('Made: '))).join('\n');
    expect(closing).toContain('Made: 23 pages');
    const made = closing.match(/^ {2}nightshift-demo\/\S+$/gm)!.map((line) => line.trim());
    expect(made.filter((file) => project.exists(file))).toHaveLength(4);
    expect(closing).toMatch(/Passed at attempt 2: row 4 \(hedgehog\).*\n.*had CRLF line ends/);
    expect(closing).toMatch(/Failed, .*row 7 \(nightjar\), after 3 attempts:\n.*notes\/nightjar\.md has no title line/);
  });

  test('X3 the commands that `demo` suggests work as they are printed, where the user is', async () => {
    const project = new Project();
    const { stdout } = await project.run(['demo', "my night's demo"]);
    const [, block] = stdout.split(/^Try next.*\n/m);
    const ran = spawnSync('sh', ['-e', '-c', block!], { cwd: project.root, encoding: 'utf8' });
    expect({ code: ran.status, stderr: ran.stderr }).toEqual({ code: 0, stderr: '' });
    expect(ran.stdout).toContain('23 completed, 1 failed');
    expect(ran.stdout).toContain('attempt 3: FAILED (step 1)');
    const shift = inside(project, "my night's demo");
    expect(new Set([...shift.column('make_page'), ...shift.column('add_to_index')])).toEqual(new Set(['done']));
    expect(shift.project.read('site/index.html')).toContain('href="nightjar.html">Nightjar<');
  });

  test('X3 a folder with something in it is refused, and stays as it is', async () => {
    const project = new Project();
    expect((await project.run(['demo', 'here'])).code).toBe(0);
    const before = contents(project.path('here'));
    const again = await project.run(['demo', 'here']);
    expect(again.code).toBe(2);
    expect(again.stdout).toBe('');
    expect(again.stderr).toMatch(/here is not empty\n.*nightshift demo DIR/);
    expect(contents(project.path('here'))).toEqual(before);

    project.write('file', 'mine');
    const inTheWay = await project.run(['demo', 'file']);
    expect(inTheWay.code).toBe(2);
    expect(inTheWay.stderr).toContain('there is a file in the way');
    expect(project.read('file')).toBe('mine');
  });

  test('X3 `demo --json` prints events only; a run that ends otherwise keeps its exit code', async () => {
    const project = new Project();
    const whole = await project.run(['demo', '--json']);
    expect(whole.code).toBe(0);
    expect(whole.events).toHaveLength(whole.stdout.trimEnd().split('\n').length);
    expect(whole.events.at(-1)).toMatchObject({ type: 'run:finished', exitCode: 3, completed: 23, failed: 1 });

    const running = project.spawn(['demo', 'stopped', '--json']);
    await running.seen('batch:claimed');
    running.kill('SIGINT');
    const stopped = await running.ended;
    expect(stopped.code).toBe(130);
    const resumed = spawnSync(process.execPath, [NIGHTSHIFT, 'start'], { cwd: project.path('stopped') });
    expect(resumed.status).toBe(3);
    expect(
      inside(project, 'stopped')
        .column('add_to_index')
        .filter((status) => status === 'done'),
    ).toHaveLength(23);
  });
});

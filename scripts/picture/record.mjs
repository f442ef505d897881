import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildDemo } from '../../dist/app/demo/build-demo.js';
import { judgeDemo } from '../../dist/app/demo/judge-demo.js';
import { runFolder } from '../../dist/app/run/run-shift.js';

/**
 * Runs the demo as `nightshift demo` does, in a temporary folder. Returns everything that its view is told, with the
 * time, and at last how the demo ended.
 */
export async function record() {
  const cwd = mkdtempSync(join(tmpdir(), 'nightshift-picture-'));
  const world = { cwd, env: { ...process.env, XDG_STATE_HOME: join(cwd, 'state') }, now: Date.now };
  try {
    const entries = [];
    const paths = await buildDemo(world);
    const { exitCode, reason } = await runFolder(
      paths,
      {
        onEvent: (event) => entries.push({ at: Date.now(), event }),
        onTranscript: ({ task, item, entry }) => entries.push({ at: Date.now(), heard: { task, item, entry } }),
      },
      world,
    );
    const end = await judgeDemo(world, paths, exitCode);
    if (!end.failure) throw new Error(`the demo did not end as intended: ${reason}`);
    return at(cwd, [...entries, { at: Date.now(), end, reason }]);
  } finally {
    rmSync(cwd, { recursive: true, force: true });
  }
}

/** As if it had been run in the home folder: the temporary folder has another name each time. */
function at(cwd, entries) {
  return JSON.parse(JSON.stringify(entries).replaceAll(realpathSync(cwd), '~').replaceAll(cwd, '~'));
}

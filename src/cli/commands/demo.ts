import { realpath } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { buildDemo } from '../../app/demo/build-demo.ts';
import { judgeDemo } from '../../app/demo/judge-demo.ts';
import { runFolder } from '../../app/run/run-shift.ts';
import { EXIT } from '../../core/model/errors.ts';
import type { NightshiftEvent } from '../../core/model/events.ts';
import { plainLines } from '../../views/plain.ts';
import { endLines, introLines } from '../demo/lines.ts';
import { programSpelling, shorter } from '../demo/spelling.ts';
import type { Io } from '../io.ts';
import type { Options } from '../program.ts';
import { StopSignals } from '../stop-signals.ts';

const MAIN = fileURLToPath(new URL('../main.js', import.meta.url));

/** Makes a small project and runs its shift, with the code that `create`, `add-task` and `start` use. */
export async function run(io: Io, [dir]: readonly string[], { json }: Options): Promise<number> {
  const paths = await buildDemo(io, dir);
  const folder = shorter(paths.root, await realpath(io.cwd));
  if (!json) for (const line of introLines({ folder })) io.print(line);
  const onEvent = (event: NightshiftEvent) => {
    if (json) io.print(JSON.stringify(event));
    else for (const line of plainLines(event)) io.print(line);
  };
  const { exitCode, reason } = await runFolder(paths, { onEvent, openStop: () => new StopSignals() }, io);
  const end = await judgeDemo(io, paths, exitCode);
  if (!json) {
    const nightshift = programSpelling(MAIN, paths.root, io.env);
    for (const line of ['', ...endLines(end, reason, { folder, nightshift })]) io.print(line);
  }
  return end.failure ? EXIT.done : exitCode;
}

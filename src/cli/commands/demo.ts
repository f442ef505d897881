import { realpath } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { buildDemo } from '../../app/demo/build-demo.ts';
import { judgeDemo } from '../../app/demo/judge-demo.ts';
import { EXIT } from '../../core/model/errors.ts';
import { endLines, introLines } from '../demo/lines.ts';
import { programSpelling, shorter } from '../demo/spelling.ts';
import type { Io } from '../io.ts';
import type { Options } from '../program.ts';
import { writeReport } from '../write-report.ts';
import { runInView } from './start.ts';

const MAIN = fileURLToPath(new URL('../main.js', import.meta.url));

/** Makes a small project and runs its shift, with the code that `create`, `add-task` and `start` use. */
export async function run(io: Io, [dir]: readonly string[], options: Options): Promise<number> {
  const { json } = options;
  const paths = await buildDemo(io, dir);
  const folder = shorter(paths.root, await realpath(io.cwd));
  if (!json) for (const line of introLines({ folder })) io.print(line);
  const { exitCode, reason } = await runInView(io, paths, options);
  const report = await writeReport(io, paths);
  const end = await judgeDemo(io, paths, exitCode);
  if (!json) {
    const nightshift = programSpelling(MAIN, paths.root, io.env);
    for (const line of ['', ...endLines({ ...end, report }, reason, { folder, nightshift })]) io.print(line);
  }
  return end.failure ? EXIT.done : exitCode;
}

import { findShift } from '../../app/find-shift.ts';
import { testTask } from '../../app/run/test-task.ts';
import { EXIT } from '../../core/model/errors.ts';
import type { NightshiftEvent } from '../../core/model/events.ts';
import { oneLine } from '../../core/text/printable.ts';
import { plainLines } from '../../views/plain.ts';
import { testLines } from '../../views/test-task.ts';
import type { Io } from '../io.ts';
import { readLimitFlags } from '../limit-flags.ts';
import type { Options } from '../program.ts';
import { StopSignals } from '../stop-signals.ts';

export async function run(io: Io, [name = '', task = '']: readonly string[], options: Options): Promise<number> {
  const { agent, model, row, json } = options;
  const limits = readLimitFlags(options);
  const onEvent = (event: NightshiftEvent) => {
    if (json) io.print(JSON.stringify(event));
    else for (const line of plainLines(event)) io.print(line);
  };
  const onWarning = (message: string) => io.warn(`warning: ${oneLine(message)}`);
  const openStop = () => stopSignals(io);
  const paths = findShift(io, name);
  const result = await testTask(paths, { task, row, agent, model, limits, onEvent, onWarning, openStop }, io);
  if (result.kind === 'refused') {
    const { text, key, enough } = result.limit;
    io.warn(`nothing was tried: ${text}; raise it in manager.md, or add --${key} ${enough}`);
    return EXIT.stopped;
  }
  if (!json) for (const line of testLines({ shift: paths.name, task, ...result })) io.print(line);
  return result.exitCode;
}

function stopSignals(io: Io): StopSignals {
  const stop = new StopSignals();
  stop.drain.addEventListener('abort', () => io.warn('stopping when this row is finished; Ctrl-C again stops at once'));
  return stop;
}

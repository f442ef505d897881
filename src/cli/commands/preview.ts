import { findShift } from '../../app/find-shift.ts';
import { previewTask } from '../../app/preview-task.ts';
import { EXIT } from '../../core/model/errors.ts';
import { oneLine } from '../../core/text/printable.ts';
import { previewLines } from '../../views/preview.ts';
import type { Io } from '../io.ts';
import type { Options } from '../program.ts';

export async function run(io: Io, [name = '', task = '']: readonly string[], options: Options): Promise<number> {
  const { row, agent, model } = options;
  const preview = await previewTask(io, findShift(io, name), { task, row, agent, model });
  const { order, sent, checks, environment, warnings } = preview;
  for (const warning of warnings) io.warn(`warning: ${oneLine(warning)}`);
  if (options.json) {
    const { index } = order.item;
    io.print(JSON.stringify({ shift: name, task, index, agent: order.settings.agent, ...sent, checks, environment }));
    return EXIT.done;
  }
  for (const line of previewLines(preview)) io.print(line);
  io.print(`--- environment given (names): ${environment.given.join(', ')}`);
  io.print(`--- environment withheld (names): ${environment.withheld.join(', ') || 'none'}`);
  return EXIT.done;
}

import { type HeldDeliveries, openHeldDeliveries } from '../../app/delivery/deliver-held.ts';
import type { HeldRow } from '../../app/delivery/held-rows.ts';
import { EXIT, NightshiftError } from '../../core/model/errors.ts';
import { count } from '../../core/text/count.ts';
import { deliveredLine, deliveredSummary, heldLines } from '../../views/deliveries.ts';
import { chooseShift } from '../choose-shift.ts';
import { confirm } from '../confirm.ts';
import type { Io } from '../io.ts';
import type { Options } from '../program.ts';

/** Shows the results that wait for approval, and sends them once you agree. */
export async function run(io: Io, [name]: readonly string[], options: Options): Promise<number> {
  const { json, dryRun } = options;
  const rows = [options.row, options.rows].filter((each) => each !== undefined);
  const paths = await chooseShift(io, name);
  const { signal } = new AbortController();
  const held = await openHeldDeliveries(paths, { rows, signal }, io);
  if (!json) for (const line of heldLines(held.rows)) io.print(line);
  if (held.rows.length === 0) {
    io.print(json ? JSON.stringify({ shift: paths.name, rows: [] }) : `nothing of ${paths.name} waits for approval`);
    return EXIT.done;
  }
  if (dryRun) {
    if (json) io.print(JSON.stringify({ shift: paths.name, rows: held.rows.map(plain) }));
    return EXIT.done;
  }
  if (!options.yes && !(await isConfirmed(io, held))) {
    io.print('nothing was sent');
    return EXIT.stopped;
  }
  // One after the other: each is known as soon as it has arrived.
  const sent = await held.send((row) => {
    if (!json) io.print(deliveredLine(row));
  });
  io.print(json ? JSON.stringify({ shift: paths.name, rows: sent.map(plain) }) : deliveredSummary(sent));
  return sent.every(({ result }) => result === 'sent') ? EXIT.done : EXIT.failedItems;
}

async function isConfirmed(io: Io, { rows }: HeldDeliveries): Promise<boolean> {
  if (io.isInteractive) return confirm(io, `Deliver ${count(rows.length, 'row')}?`);
  const hint = 'read the list above (or use --dry-run), then add --yes';
  throw new NightshiftError('usage', 'there is no terminal to ask for confirmation', hint);
}

/** Without what only Nightshift needs. */
function plain<T extends HeldRow>({ record: _, ...row }: T): Omit<T, 'record'> {
  return row;
}

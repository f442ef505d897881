import { syncPullRequests } from '../../app/delivery/sync-pull-requests.ts';
import { EXIT } from '../../core/model/errors.ts';
import { syncedLine } from '../../views/deliveries.ts';
import { chooseShift } from '../choose-shift.ts';
import type { Io } from '../io.ts';
import type { Options } from '../program.ts';

/** Reads the state of pull requests again. */
export async function run(io: Io, [name]: readonly string[], { json }: Options): Promise<number> {
  const paths = await chooseShift(io, name);
  const { signal } = new AbortController();
  const onRow = json ? () => {} : (row: Parameters<typeof syncedLine>[0]) => io.print(syncedLine(row));
  const rows = await syncPullRequests(paths, { signal, onRow }, io);
  if (json) io.print(JSON.stringify({ shift: paths.name, rows }));
  else if (rows.length === 0) io.print(`${paths.name} has no pull requests`);
  return rows.every(({ to }) => to !== undefined) ? EXIT.done : EXIT.failedItems;
}

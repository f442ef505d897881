import { EXIT } from '../../core/errors.ts';
import { initRoot } from '../../store/new-shift.ts';
import type { Io } from '../io.ts';
import type { Options } from '../program.ts';

export async function run(io: Io, _args: readonly string[], { json }: Options): Promise<number> {
  const { folder, changed } = await initRoot(io.cwd);
  if (json) io.print(JSON.stringify({ folder, changed }));
  else if (changed) io.print(`${folder} is ready. \`nightshift create NAME --from FILE.csv\` makes a shift.`);
  else io.print(`${folder} is already there; nothing was changed.`);
  return EXIT.done;
}

import type { ShiftPaths } from '../app/find-shift.ts';
import { dryRun } from '../app/run/dry-run.ts';
import type { RunSettings } from '../app/run/plan-run.ts';
import { EXIT } from '../core/model/errors.ts';
import type { RunRequest } from '../core/schedule/run-request.ts';
import { oneLine } from '../core/text/printable.ts';
import { dryRunLines } from '../views/dry-run.ts';
import type { Io } from './io.ts';
import type { Options } from './program.ts';

/** Shows what a run would cover. Returns the exit code. */
export async function printDryRun(
  io: Io,
  paths: ShiftPaths,
  settings: RunSettings & { readonly request: RunRequest },
  { json }: Options,
): Promise<number> {
  const dry = await dryRun(paths, settings, io);
  for (const warning of dry.warnings) io.warn(`warning: ${oneLine(warning)}`);
  if (json) io.print(JSON.stringify(dry.plan));
  else for (const line of dryRunLines(dry, EXIT.stopped)) io.print(line);
  return EXIT.done;
}

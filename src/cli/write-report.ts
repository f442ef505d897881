import { relative } from 'node:path';
import type { ShiftPaths } from '../app/find-shift.ts';
import { writeReportAtEnd } from '../app/report/report-at-end.ts';
import { reportHtml } from '../views/report/report-html.ts';
import type { Io } from './io.ts';
import { readVersion } from './version.ts';

/** Writes the report of the run that has just ended. Returns the line that names it, if there is one. */
export async function writeReport(io: Io, paths: ShiftPaths): Promise<string | undefined> {
  const written = await writeReportAtEnd(io, paths, { version: readVersion(), render: reportHtml });
  if (written === undefined) return undefined;
  if ('file' in written) return `report: ${relative(io.cwd, written.file) || written.file}`;
  io.warn(`warning: no report was written: ${written.problem}`);
  return undefined;
}

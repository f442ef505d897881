import { NightshiftError } from '../../core/model/errors.ts';
import { systemError } from '../../core/model/system-errors.ts';
import { replaceInside } from '../../store/folder/files/inside.ts';
import type { ShiftPaths } from '../../store/folder/layout.ts';
import { openAndCheck } from '../open-shift.ts';
import type { World } from '../world.ts';
import { collectReport } from './collect-report.ts';
import type { Report } from './report.ts';

/** The file that was written, or why there is none. */
export type WrittenReport = { readonly file: string } | { readonly problem: string };

/** How a report is made: the version of Nightshift that stands in it, and its text. */
export interface ReportForm {
  readonly version: string;
  render(report: Report): string;
}

/**
 * Writes the report of the run that has just ended. Undefined if the shift wants none. A report that can't be written
 * does not change how the run ended.
 */
export async function writeReportAtEnd(
  world: World,
  paths: ShiftPaths,
  { version, render }: ReportForm,
): Promise<WrittenReport | undefined> {
  try {
    const { shift } = await openAndCheck(paths);
    if (!shift.settings.hasReport) return undefined;
    const text = render(await collectReport(world, paths, version));
    await replaceInside({ base: paths.folder }, paths.report, Buffer.from(text));
    return { file: paths.report };
  } catch (error) {
    const known = error instanceof NightshiftError ? error : systemError(error);
    if (!known) throw error;
    return { problem: known.message };
  }
}

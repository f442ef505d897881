import { exportTarget, writeExport } from '../../app/export-results.ts';
import { collectReport } from '../../app/report/collect-report.ts';
import { EXIT } from '../../core/model/errors.ts';
import { markdownReport } from '../../views/report/markdown.ts';
import { reportHtml } from '../../views/report/report-html.ts';
import { chooseShift } from '../choose-shift.ts';
import type { Io } from '../io.ts';
import type { Options } from '../program.ts';
import { readVersion } from '../version.ts';

/** Writes a report of the shift as it is now. */
export async function run(io: Io, [name]: readonly string[], { output, md, json }: Options): Promise<number> {
  const paths = await chooseShift(io, name);
  const file = output ?? (md ? '-' : `${paths.name}-report.html`);
  const target = file === '-' ? undefined : exportTarget(io, file);
  const report = await collectReport(io, paths, readVersion());
  const text = md ? `${markdownReport(report).join('\n')}\n` : reportHtml(report);
  if (target === undefined) {
    io.send(Buffer.from(text));
    return EXIT.done;
  }
  await writeExport(target, [Buffer.from(text)]);
  if (json) io.print(JSON.stringify({ shift: paths.name, file: target }));
  else io.print(`report of ${paths.name} in ${target}`);
  return EXIT.done;
}

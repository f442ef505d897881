import { diagnose } from '../../app/doctor/doctor.ts';
import { EXIT } from '../../core/model/errors.ts';
import { diagnosisLine, findingLines } from '../../views/findings.ts';
import type { Io } from '../io.ts';
import type { Options } from '../program.ts';

export async function run(io: Io, _args: readonly string[], { fix, json }: Options): Promise<number> {
  const diagnosis = await diagnose(io, fix === true);
  const { fixed, findings, problems } = diagnosis;
  if (json) io.print(JSON.stringify(diagnosis));
  else {
    for (const line of fixed) io.print(`fixed    ${line}`);
    for (const line of findings.flatMap(findingLines)) io.print(line);
    io.print('');
    io.print(diagnosisLine(findings));
  }
  return problems > 0 ? EXIT.badInput : EXIT.done;
}

import { readFileSync } from 'node:fs';
import { answerHook } from '../app/hook.ts';

export function runHook([program]: readonly string[], environment: NodeJS.ProcessEnv): number {
  const { exitCode, output, complaint } = answerHook(program, () => readFileSync(0, 'utf8'), environment);
  if (output !== undefined) process.stdout.write(`${output}\n`);
  if (complaint !== undefined) process.stderr.write(`nightshift hook: ${complaint}\n`);
  return exitCode;
}

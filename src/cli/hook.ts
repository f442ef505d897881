import { readFileSync } from 'node:fs';
import { answerHook, type HookInput } from '../kit/claude-guard.ts';

/** Claude Code refuses the call of a tool whose hook ends with this. */
const REFUSED = 2;

/**
 * `nightshift hook claude`: what Claude Code asks before its agents do something, as JSON on standard input. Whatever goes
 * wrong here is a refusal: without an answer, nobody has looked.
 */
export function runHook([program]: readonly string[], environment: NodeJS.ProcessEnv): number {
  try {
    if (program !== 'claude')
      throw new Error('write `nightshift hook claude`, with the input of a hook on standard input');
    const answer = answerHook(JSON.parse(readFileSync(0, 'utf8')) as HookInput, environment);
    if (answer !== undefined) process.stdout.write(`${JSON.stringify(answer)}\n`);
    return 0;
  } catch (error) {
    process.stderr.write(`nightshift hook: ${(error as Error).message}\n`);
    return REFUSED;
  }
}

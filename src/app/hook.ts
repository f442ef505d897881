import { answerHook as answerClaude, type HookInput } from '../kit/claude-guard.ts';
import type { World } from './world.ts';

/** Claude Code refuses the call of a tool whose hook ends with this. */
const REFUSED = 2;

export interface HookAnswer {
  readonly exitCode: number;
  readonly output?: string;
  readonly complaint?: string;
}

/**
 * `nightshift hook claude`: Claude Code asks this before an agent uses a tool; `input` is JSON. Every error is a
 * refusal: without an answer, nothing was checked.
 */
export function answerHook(program: string | undefined, input: () => string, env: World['env']): HookAnswer {
  try {
    if (program !== 'claude') {
      throw new Error('write `nightshift hook claude`, with the input of a hook on standard input');
    }
    const answer = answerClaude(JSON.parse(input()) as HookInput, env);
    return { exitCode: 0, ...(answer === undefined ? {} : { output: JSON.stringify(answer) }) };
  } catch (error) {
    return { exitCode: REFUSED, complaint: (error as Error).message };
  }
}

import { constants } from 'node:fs';
import { access } from 'node:fs/promises';
import type { AgentProgram, Answer, Opening, Question } from './agent.ts';
import { lastLines, type StreamName } from './process/output.ts';
import { asksToTryLater, howItEnded, runProcess, SHELL, shellOf } from './process/process.ts';

/** The scripts give no answer: only the end of their output is useful. */
const KEEP_BYTES = 16 * 1024;

/** Rule X3: runs the fenced `sh` and `bash` blocks of the Steps, in order, without a model. */
export const shellAgent: AgentProgram = {
  async missing() {
    const there = await access(SHELL, constants.X_OK).then(
      () => true,
      () => false,
    );
    return there ? undefined : `there is no ${SHELL} on this machine: the shell agent needs one (on Windows, use WSL)`;
  },
  async open(opening) {
    return { remembers: false, ask: (question) => runSteps(opening, question), async [Symbol.asyncDispose]() {} };
  },
};

interface StepOutcome {
  readonly step: number;
  readonly status: 'SUCCESS' | 'FAILED';
  readonly output: string;
}

async function runSteps(opening: Opening, question: Question): Promise<Answer> {
  if (opening.role !== 'dev') {
    const reason = `the shell agent can't be ${opening.role}: it runs the scripts of the Steps and judges nothing`;
    return { kind: 'failed', reason };
  }
  const outcomes: StepOutcome[] = [];
  for (const { number, scripts } of question.steps) {
    opening.transcript({ kind: 'note', text: `step ${number}` });
    let output = '';
    for (const script of scripts) {
      const ended = await runProcess({
        file: shellOf(script),
        args: ['-e', '-c', script.source],
        cwd: opening.folder,
        env: { ...question.environment, ...script.values },
        signal: opening.signal,
        onOutput: toTranscript(opening),
        keepBytes: KEEP_BYTES,
        mask: opening.mask,
        sandbox: opening.sandbox,
      });
      if (ended.kind === 'aborted') return { kind: 'aborted' };
      if (ended.kind === 'not-started' && ended.fault === 'system')
        return { kind: 'trouble', trouble: { reason: ended.reason } };
      if (asksToTryLater(ended)) {
        const reason = `step ${number}: ${howItEnded(ended)}`;
        return { kind: 'trouble', trouble: { reason, isRequested: true } };
      }
      output = lastLines(output + ended.recent.both);
      if (ended.kind === 'exited' && ended.code === 0) continue;
      outcomes.push({ step: number, status: 'FAILED', output });
      return report(`FAILED (step ${number})`, outcomes, howItEnded(ended));
    }
    outcomes.push({ step: number, status: 'SUCCESS', output });
  }
  return report('SUCCESS', outcomes);
}

/** A report like any other dev's. Captured values come through NIGHTSHIFT_OUTPUT. */
function report(overall_status: string, steps: readonly StepOutcome[], error?: string): Answer {
  const failure = error === undefined ? {} : { error };
  const answer = {
    overall_status,
    steps,
    captured_values: {},
    self_validation: [],
    recommendations: 'None',
    ...failure,
  };
  return { kind: 'report', report: answer };
}

/** Writes both streams of a program to the transcript. */
export function toTranscript({ transcript }: Pick<Opening, 'transcript'>): (stream: StreamName, text: string) => void {
  return (stream, text) => transcript({ kind: stream === 'stdout' ? 'output' : 'error', text });
}

import type { Usage } from '../core/model/model.ts';
import { PrintedUsage, reportedUsage } from '../core/model/reported-usage.ts';
import type { AgentProgram, Answer, Opening, Question } from './agent.ts';
import { jsonObjects, lastJsonObject } from './last-json.ts';
import { asksToTryLater, howItEnded, type ProcessResult, runProcess, SHELL } from './process/process.ts';
import { missingProgram } from './program.ts';
import { toTranscript } from './shell.ts';

/** A report is a few kilobytes. Anything larger is no report. */
const KEEP_BYTES = 1024 * 1024;
const NOT_EXECUTABLE = 126;
const NOT_FOUND = 127;

/** Rule X4: any program; the prompt on standard input, the report on standard output. */
export const commandAgent: AgentProgram = {
  async missing({ command = '' }, context) {
    const missing = await missingProgram(command, context);
    return missing === undefined ? undefined : `${missing}: install it, or correct \`command: ${command}\``;
  },
  async open(opening) {
    return { remembers: false, ask: (question) => runCommand(opening, question), async [Symbol.asyncDispose]() {} };
  },
};

async function runCommand(opening: Opening, question: Question): Promise<Answer> {
  opening.transcript({ kind: 'prompt', text: question.prompt });
  const tell = toTranscript(opening);
  const printed = new PrintedUsage();
  const ended = await runProcess({
    file: SHELL,
    args: ['-c', opening.settings.command ?? ''],
    cwd: opening.folder,
    env: question.environment,
    input: question.prompt,
    signal: opening.signal,
    onOutput: (stream, text) => {
      if (stream === 'stdout') printed.add(text);
      tell(stream, text);
    },
    keepBytes: KEEP_BYTES,
    mask: opening.mask,
    sandbox: opening.sandbox,
  });
  const { text, cut } = ended.stdout;
  const report = lastJsonObject(text, { cut });
  const usage = lastUsage(text) ?? (report === undefined ? printed.usage : undefined);
  return { ...readAnswer(ended, report), ...(usage === undefined ? {} : { usage }) };
}

/** The last printed object with a usage: programs print a running total. */
function lastUsage(text: string): Usage | undefined {
  let last: Usage | undefined;
  for (const object of jsonObjects(text, /cost|tokens/i)) last = reportedUsage(object) ?? last;
  return last;
}

/** Never asks again: that would repeat the program's effects. */
function readAnswer(ended: ProcessResult, report: unknown): Answer {
  if (ended.kind === 'aborted') return { kind: 'aborted' };
  if (ended.kind === 'not-started' && ended.fault === 'system')
    return { kind: 'trouble', trouble: { reason: ended.reason } };
  const end = howItEnded(ended, ended.stderr.text.trim() === '' ? 'stdout' : 'stderr');
  if (ended.kind !== 'exited') return failed(end);
  if (asksToTryLater(ended)) return { kind: 'trouble', trouble: { reason: end, isRequested: true } };
  if (ended.code === NOT_FOUND) return failed(`the command, or a program that it runs, was not found: ${end}`);
  if (ended.code === NOT_EXECUTABLE) return failed(`the command can't be executed (is it chmod +x?): ${end}`);
  if (ended.code !== 0) return failed(end);
  if (report !== undefined) return { kind: 'report', report };
  const where = ended.stdout.cut ? 'the last megabyte of its standard output' : 'its standard output';
  return failed(`no report: ${where} has no complete JSON object (${end})`);
}

function failed(reason: string): Answer {
  return { kind: 'failed', reason };
}

import { isAbsolute, resolve } from 'node:path';
import type { Agent, Answer, Opening, Place, Question } from './agent.ts';
import { lastJsonObject } from './last-json.ts';
import { type Ended, howItEnded, runProcess, SHELL } from './process.ts';
import { isExecutable } from './program.ts';
import { toTranscript } from './shell.ts';

/** A report is a few kilobytes; one that is larger than this is none. */
const KEEP_BYTES = 1024 * 1024;
/** EX_TEMPFAIL of sysexits.h: not the item's fault (rule X5). */
const TRY_LATER = 75;
const NOT_EXECUTABLE = 126;
const NOT_FOUND = 127;

/** Rule X4: any program; the prompt on standard input, the report on standard output. */
export const commandAgent: Agent = {
  name: 'command',
  hasModel: false,
  hasEnvironment: true,
  credentials: [],
  async missing({ command }, place) {
    if (command === undefined) return 'agent: command needs a line `- command: ...` that says what to run';
    const program = firstWord(command);
    if (program === undefined || (await isThere(program, place))) return undefined;
    const where = program.includes('/') ? `in ${place.folder ?? '/'}` : 'on PATH';
    return `there is no program ${program} ${where}: install it, or correct \`command: ${command}\``;
  },
  async open(opening) {
    return { remembers: false, ask: (question) => runCommand(opening, question), async [Symbol.asyncDispose]() {} };
  },
};

async function runCommand(opening: Opening, question: Question): Promise<Answer> {
  opening.transcript({ kind: 'prompt', text: question.prompt });
  const ended = await runProcess({
    file: SHELL,
    args: ['-c', opening.settings.command ?? ''],
    cwd: opening.folder,
    env: question.environment,
    input: question.prompt,
    signal: opening.signal,
    onOutput: toTranscript(opening),
    keepBytes: KEEP_BYTES,
  });
  return readAnswer(ended);
}

/** Asking again would repeat the effects of the program: never. */
function readAnswer(ended: Ended): Answer {
  if (ended.kind === 'aborted') return { kind: 'aborted' };
  if (ended.kind === 'not-started' && ended.fault === 'system')
    return { kind: 'trouble', trouble: { reason: ended.reason } };
  const end = howItEnded(ended, ended.stderr.text.trim() === '' ? ended.stdout.text : ended.stderr.text);
  if (ended.kind !== 'exited') return failed(end);
  if (ended.code === TRY_LATER) return { kind: 'trouble', trouble: { reason: end } };
  if (ended.code === NOT_FOUND) return failed(`the command, or a program that it runs, was not found: ${end}`);
  if (ended.code === NOT_EXECUTABLE) return failed(`the command can't be executed (is it chmod +x?): ${end}`);
  if (ended.code !== 0) return failed(end);
  const report = lastJsonObject(ended.stdout.text, { cut: ended.stdout.cut });
  if (report !== undefined) return { kind: 'report', report };
  const where = ended.stdout.cut ? 'the last megabyte of its standard output' : 'its standard output';
  return failed(`no report: ${where} holds no complete JSON object (${end})`);
}

function failed(reason: string): Answer {
  return { kind: 'failed', reason };
}

/**
 * The program that a line begins with, after assignments; undefined where only the shell could say: quotes, expansions,
 * a PATH of its own. A missing program that is overlooked here still fails at run time, a wrong alarm would
 * refuse a shift that works.
 */
function firstWord(line: string): string | undefined {
  const words = line.trim().split(/\s+/);
  const plain = /^[\w./+@%:,-]+$/;
  const assignment = /^([A-Za-z_]\w*)=[\w./+@%:,=-]*$/;
  for (const word of words) {
    const name = assignment.exec(word)?.[1];
    if (name === 'PATH') return undefined;
    if (name !== undefined) continue;
    const program = word.replace(/[;&|]+$/, '');
    return plain.test(program) && !program.startsWith('-') ? program : undefined;
  }
  return undefined;
}

async function isThere(program: string, { folder, environment }: Place): Promise<boolean> {
  if (program.includes('/')) {
    if (isAbsolute(program)) return isExecutable(program);
    return folder === undefined || isExecutable(resolve(folder, program));
  }
  const ended = await runProcess({
    file: SHELL,
    args: ['-c', 'command -v "$1"', 'sh', program],
    cwd: folder ?? '/',
    env: environment,
    signal: new AbortController().signal,
    keepBytes: 1024,
  });
  return ended.kind !== 'exited' || ended.code === 0;
}

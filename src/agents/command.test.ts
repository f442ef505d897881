import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { TranscriptEntry } from '../core/model/events.ts';
import { NO_MASK } from '../core/text/mask.ts';
import type { Answer } from './agent.ts';
import { AgentSet, agentNames } from './registry.ts';

const agent = new AgentSet().find('command')!;
const environment = { PATH: process.env.PATH! };
let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'nightshift-command-'));
  writeFileSync(join(folder, 'agent.sh'), '#!/bin/sh\ncat\n');
  chmodSync(join(folder, 'agent.sh'), 0o755);
  writeFileSync(join(folder, 'plain.txt'), '');
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function ask(command: string, prompt = 'the prompt', transcript: TranscriptEntry[] = []): Promise<Answer> {
  const signal = new AbortController().signal;
  const opening = {
    role: 'dev' as const,
    settings: { tools: [], command },
    folder,
    signal,
    mask: NO_MASK,
    scratch: folder,
    shiftFolder: folder,
  };
  await using session = await agent.open({ ...opening, transcript: (entry) => transcript.push(entry) });
  return await session.ask({ prompt, schema: {}, steps: [], environment });
}

test('X4 the prompt on standard input, the last JSON object of standard output, both streams in the transcript', async () => {
  const transcript: TranscriptEntry[] = [];
  const answer = await ask('echo "{old}"; echo thinking >&2; ./agent.sh', '{"overall_status":"SUCCESS"}', transcript);
  expect(answer).toEqual({ kind: 'report', report: { overall_status: 'SUCCESS' } });
  const texts = (kind: string) =>
    transcript
      .filter((entry) => entry.kind === kind)
      .map((entry) => ('text' in entry ? entry.text : ''))
      .join('');
  expect(texts('output')).toBe('{old}\n{"overall_status":"SUCCESS"}');
  expect(texts('error')).toBe('thinking\n');
});

const SUCCESS = `echo '{"overall_status":"SUCCESS"}'`;

test.each([
  ['R9 a non-zero exit, whatever the report says', `${SUCCESS}; echo no luck >&2; exit 1`, /^exit code 1: no luck$/],
  ['R9 with standard output when standard error is empty', 'echo only this; exit 9', /^exit code 9: only this$/],
  ['R9 exit 0 and nothing said', 'true', /^no report: .*standard output.*printed nothing/],
  ['R9 exit 0 and garbage', 'echo all done, boss', /^no report: .*all done, boss/],
  ['R9 a report that is cut', `printf '{"overall_status":"SUCCESS","steps":[{"step":1}'`, /^no report/],
  ['R9 a signal', `${SUCCESS}; kill -9 $$`, /^ended by SIGKILL/],
  ['R9 a program that is gone', 'no-such-program-here', /not found: exit code 127.*no-such-program-here/],
  ['R9 a file that is no program', './plain.txt', /chmod \+x.*exit code 126/],
])('%s: the attempt failed, and is not asked again', async (_, command, reason) => {
  expect(await ask(command)).toEqual({ kind: 'failed', reason: expect.stringMatching(reason) });
});

test('X5 exit 75 is not the fault of the item, whatever was printed', async () => {
  const answer = await ask(`${SUCCESS}; echo rate limited >&2; exit 75`);
  expect(answer).toEqual({ kind: 'trouble', trouble: { reason: 'exit code 75: rate limited', isRequested: true } });
});

test('S13 a report after a flood is found; one that is larger than what is kept is none', async () => {
  expect(await ask(`yes '{"a":1}' | head -c 5000000; echo; ${SUCCESS}`)).toMatchObject({ kind: 'report' });
  const large = `printf '{"overall_status":"SUCCESS","x":[{"a":1}'; yes ',{"a":1}' | head -c 3000000 | tr -d '\\n'; echo ']}'`;
  expect(await ask(large)).toMatchObject({ kind: 'failed', reason: expect.stringMatching(/last megabyte/) });
});

test.each([
  ['no-such-program-here --flag', /no program no-such-program-here on PATH/],
  ['A=1 B=x/y no-such-program-here', /no-such-program-here/],
  ['./gone.sh', /no program \.\/gone\.sh in /],
  ['./plain.txt', /plain\.txt/],
  ['/nowhere/agent', /nowhere/],
])('X4 says before anything is claimed that it is not there: %s', async (command, reason) => {
  expect(await agent.missing({ tools: [], command }, { folder, environment })).toMatch(reason);
});

test.each([
  ...[
    'cat',
    './agent.sh --x',
    'A=1 sh -c x',
    'cd sub && ./agent',
    'if true; then x; fi',
    'cd; x',
    '"quoted program" x',
  ],
  ...['$AGENT x', '(no-such)', 'PATH=/opt no-such-program-here', '! no-such', '~/no-such', 'exec no-such'],
])('X4 raises no alarm where it is there, or only the shell could say: %s', async (command) => {
  expect(await agent.missing({ tools: [], command }, { folder, environment })).toBeUndefined();
});

test('X4 a relative path is not judged where each item has its own folder', async () => {
  expect(await agent.missing({ tools: [], command: './gone.sh' }, { environment })).toBeUndefined();
});

test('the agents have names, for messages', () => {
  expect(agentNames).toEqual(['opencode', 'claude', 'codex', 'acp', 'shell', 'command']);
  expect(new AgentSet().find('nobody')).toBeUndefined();
  expect(new AgentSet().find('toString')).toBeUndefined();
});

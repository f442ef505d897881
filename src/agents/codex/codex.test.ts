import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Opening } from '../agent.ts';
import { codexAgent } from './codex.ts';

const THREAD = '019a8a3c-0000-7000-8000-000000000000';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'nightshift-codex-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** A program that begins a session, keeps its file, and then does what `end` says. */
function install(end: string): Record<string, string> {
  const day = new Date(Number.parseInt(THREAD.replaceAll('-', '').slice(0, 12), 16)).toISOString().slice(0, 10);
  const sessions = join(folder, 'home', 'sessions', ...day.split('-'));
  mkdirSync(sessions, { recursive: true });
  const script = `#!/bin/sh
[ "$1" = mcp ] && { echo '[]'; exit; }
[ "$1" = exec ] || exit 1
cat > ${sessions}/rollout-x-${THREAD}.jsonl
echo '{"type":"thread.started","thread_id":"${THREAD}"}'
${end}
`;
  writeFileSync(join(folder, 'codex'), script, { mode: 0o755 });
  return { PATH: `${folder}:${process.env.PATH}`, CODEX_HOME: join(folder, 'home') };
}

function open(signal = new AbortController().signal, onOutput = () => {}, tools: string[] = []) {
  return codexAgent.open({
    role: 'dev',
    settings: { tools },
    folder,
    scratch: folder,
    shiftFolder: join(folder, '.nightshift', 's'),
    transcript: (entry: { kind: string }) => entry.kind === 'note' && onOutput(),
    signal,
  } as unknown as Opening);
}

const question = (environment: Record<string, string>) => ({ prompt: 'do it', schema: {}, steps: [], environment });

test('D3 after a crash the next attempt is not made in the session that crashed', async () => {
  const environment = install('exit 3');
  await using session = await open();
  expect(await session.ask(question(environment))).toMatchObject({ kind: 'failed' });
  expect(session.remembers).toBe(false);
});

test('X5 an item that no program can be started with fails, and does not end the run', async () => {
  const environment = { ...install('exit 0'), NIGHTSHIFT_ITEM: 'x'.repeat(200_000) };
  await using session = await open();
  const answer = await session.ask(question(environment));
  expect(answer).toMatchObject({ kind: 'failed', reason: expect.stringContaining('NIGHTSHIFT_ITEM is too large') });
});

test('X6 tokens count as the session file has them, also where the last line of it tells only of limits', async () => {
  const used = (input: number) => JSON.stringify({ total_token_usage: { input_tokens: input, output_tokens: 3 } });
  const lines = [used(40), used(50), 'null'].map(
    (info) => `{"timestamp":"t","type":"event_msg","payload":{"type":"token_count","info":${info}}}`,
  );
  const environment = install(
    `tee "$CODEX_HOME"/sessions/*/*/*/*.jsonl > /dev/null <<'END'\n${lines.join('\n')}\nEND\nexit 3`,
  );
  await using session = await open();
  expect(await session.ask(question(environment))).toMatchObject({
    kind: 'failed',
    usage: { inputTokens: 50, outputTokens: 3 },
  });
});

test('S4 what Codex kept of a session that was stopped does not rest', async () => {
  const line = '{"type":"item.completed","item":{"id":"1","type":"reasoning","text":"hm"}}';
  const environment = install(`echo '${line}'; sleep 300`);
  const stop = new AbortController();
  const session = await open(stop.signal, () => stop.abort());
  expect(await session.ask(question(environment))).toMatchObject({ kind: 'aborted' });
  await session[Symbol.asyncDispose]();
  const home = join(folder, 'home');
  expect(existsSync(home)).toBe(true);
  expect(readdirSync(home, { recursive: true }).filter((name) => String(name).endsWith('.jsonl'))).toEqual([]);
});

test('S4 the variables and headers of a server of .mcp.json are in no argument, and get there', async () => {
  const mcpServers = {
    near: { command: 'sh', args: ['-c', 'echo "$KEY" > key'], env: { KEY: `it's \${TOKEN}` } },
    far: { url: 'https://example.com/mcp', headers: { Authorization: `Bearer \${TOKEN}` } },
  };
  writeFileSync(join(folder, '.mcp.json'), JSON.stringify({ mcpServers }));
  const environment = { ...install('echo "$@" > arguments; env > variables; sh ./mcp-*.sh'), TOKEN: 'hunter22' };
  await using session = await open(undefined, undefined, ['near', 'far']);
  await session.ask(question(environment));
  const written = (name: string) => readFileSync(join(folder, name), 'utf8');
  expect(written('arguments')).toContain('env_http_headers');
  expect(written('arguments')).not.toContain('hunter22');
  expect(written('variables')).toContain('NIGHTSHIFT_HEADER_0=Bearer hunter22');
  expect(written('key')).toBe("it's hunter22\n");
});

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readMcpJson } from './mcp-json.ts';

/** A variable as the file has it. */
const v = (name: string) => `\${${name}}`;

test('D2 .mcp.json of the folder and those above it, the nearest first, with variables filled in', async () => {
  const root = mkdtempSync(join(tmpdir(), 'nightshift-mcp-'));
  const inner = join(root, 'a', 'b');
  mkdirSync(inner, { recursive: true });
  const write = (folder: string, mcpServers: object) =>
    writeFileSync(join(folder, '.mcp.json'), JSON.stringify({ mcpServers }));
  write(root, { far: { command: 'far' }, both: { command: 'far' }, odd: { nothing: true } });
  write(inner, {
    both: { command: `${v('BIN')}/near`, args: [v('NONE:-x'), v('NONE')], env: { KEY: v('SECRET') } },
    web: { type: 'http', url: `https://${v('HOST')}/mcp`, headers: { Authorization: `Bearer ${v('SECRET')}` } },
  });
  writeFileSync(join(root, 'a', '.mcp.json'), '{');
  const { servers, problems } = await readMcpJson([inner], { BIN: '/bin', SECRET: 's3', HOST: 'h' });
  rmSync(root, { recursive: true });
  expect(Object.fromEntries(servers)).toEqual({
    far: { kind: 'stdio', command: 'far', args: [], env: {} },
    both: { kind: 'stdio', command: '/bin/near', args: ['x', v('NONE')], env: { KEY: 's3' } },
    web: { kind: 'http', url: 'https://h/mcp', headers: { Authorization: 'Bearer s3' } },
  });
  expect(problems).toEqual([expect.stringMatching(/a\/\.mcp\.json can't be read: /)]);
});

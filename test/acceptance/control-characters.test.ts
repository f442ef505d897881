import { mkdtempSync, realpathSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { agentTask, Project } from '../harness.ts';

describe('S9 control characters of others', () => {
  const EVIL = '\u001b[31m\u001b]52;c;eA==\u0007\u009b2J\u0090x\u009c\u202e\u2066\u007f\b';
  // biome-ignore lint/suspicious/noControlCharactersInRegex: all that may not get to a terminal
  const UNSAFE = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/;

  const commands: [string, string[], number][] = [
    ['start', ['start', 'pages'], 3],
    ['start --json', ['start', 'pages', '--json'], 3],
    ['status', ['status', 'pages'], 0],
    ['status --json', ['status', 'pages', '--json'], 0],
    ['show', ['show', 'pages', '1'], 0],
    ['show --json', ['show', 'pages', '1', '--json'], 0],
    ['preview', ['preview', 'pages', 'make_page', '--row', '1'], 0],
    ['table show', ['table', 'pages', 'show'], 0],
    ['table show --json', ['table', 'pages', 'show', '--json'], 0],
    ['table headers', ['table', 'pages', 'headers'], 0],
    ['a column', ['table', 'pages', 'edit', `x${EVIL}`, '0', 'x'], 2],
    ['a command', [`x${EVIL}`], 2],
    ['a flag', ['start', `--x${EVIL}`], 2],
    ['a file', ['create', 'other', '--from', `${EVIL}.csv`], 2],
    ['a task', ['start', 'pages', '--task', EVIL], 2],
  ];
  test('in cells, headers, agent output and file names', { timeout: 120_000 }, async () => {
    const project = new Project(realpathSync(mkdtempSync(join(tmpdir(), `nightshift-test-${EVIL}`))));
    project.shift('pages', {
      settings: { [`key${EVIL}`]: EVIL },
      table: `name,n${EVIL},make_page\na${EVIL},${EVIL},todo\n`,
      tasks: { make_page: agentTask() },
    });
    const recommendations = [EVIL];
    project.behave({
      dev: { stderr: EVIL, stdout: EVIL, report: { overall_status: 'FAILED (step 1)', error: EVIL, recommendations } },
    });
    for (const [name, args, code] of commands) {
      if (args[0] === 'start' && code === 3) await project.run(['table', 'pages', 'reset', '--failed']);
      const ended = await project.run(args);
      expect(ended.code, `${name}\n${ended.stderr}`).toBe(code);
      expect(ended.stdout, name).not.toMatch(UNSAFE);
      expect(ended.stderr, name).not.toMatch(UNSAFE);
      if (args.includes('--json')) for (const line of ended.stdout.trimEnd().split('\n')) JSON.parse(line);
      if (name === 'table show --json') expect(ended.events[0].rows[0].name).toBe(`a${EVIL}`);
    }
  });
});

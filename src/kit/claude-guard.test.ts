import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import {
  ALLOWED_IN_SHELL,
  DEV_WRITES,
  FORBIDDEN_FILES,
  FORBIDDEN_IN_SHELL,
  FORBIDDEN_LINES,
  layTraps,
  MANAGER_LINES,
  READABLE,
} from '../../test/guard-actions.ts';
import { answerHook } from './claude-guard.ts';
import type { Action } from './nightshift-guard/rules.ts';

const DEV = '.nightshift/site/.engine/prompts/row-1-dev.md';
const QA = DEV.replace('dev', 'qa');
const STATUS = (status: string) => `nightshift table site edit draft 0 ${status} --token abc`;

interface Place {
  readonly root: string;
  /** What the hook answers about a call of this agent: `allow`, or the sentence that refuses it. */
  ask(agent: string, tool: string, input: Record<string, unknown>): string;
  asked(
    agent: string,
    tool: string,
    input: Record<string, unknown>,
  ): { permissionDecision?: string; updatedInput?: object };
}

/** A project with an open batch whose task has these tools. Each agent was told of its own prompt. */
function place(tools: readonly string[] = [], lines: readonly object[] = []): Place {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'nightshift-hook-')));
  onTestFinished(() => rmSync(root, { recursive: true }));
  const write = (path: string, text: string) => {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  };
  write('.nightshift/site/.engine/batch.json', JSON.stringify({ tools, items: [{ index: 0 }] }));
  write('.nightshift/site/manager.md', '# site\n\n## Task Order\n\n1. draft\n');
  write('.mcp.json', JSON.stringify({ mcpServers: { alpha: {}, alpha__two: {}, 'be ta': {} } }));
  write('keep.txt', 'kept\n');
  symlinkSync('/etc', join(root, 'away'));
  for (const [role, told] of [
    ['dev', DEV],
    ['qa', QA],
    ['manager', 'Run the shift site.'],
  ]) {
    const first = { type: 'user', message: { content: `Read ${told} and do what it says.` } };
    const noise = { type: 'user', message: { content: [{ type: 'tool_result', content: `see ${QA} and ${DEV}` }] } };
    const text = [first, noise, ...lines].map((line) => `${JSON.stringify(line)}\n`).join('');
    write(`home/session/subagents/agent-${role}.jsonl`, `${text}{"type":"user","mess`);
  }
  const asked = (agent: string, tool_name: string, tool_input: Record<string, unknown>) => {
    const role = agent.replace(/^nightshift./, '');
    const transcript_path = join(root, 'home/session.jsonl');
    const call = { cwd: root, agent_type: agent, agent_id: role, transcript_path, tool_name, tool_input };
    const answer = answerHook({ hook_event_name: 'PreToolUse', ...call }, { CLAUDE_PROJECT_DIR: root, HOME: root });
    return (answer as { hookSpecificOutput: object } | undefined)?.hookSpecificOutput ?? {};
  };
  const ask: Place['ask'] = (agent, tool, input) => {
    const { permissionDecision = 'nothing', permissionDecisionReason = '' } = asked(agent, tool, input) as {
      permissionDecision?: string;
      permissionDecisionReason?: string;
    };
    return permissionDecision === 'deny' ? permissionDecisionReason : permissionDecision;
  };
  return { root, ask, asked };
}

test("O2 hook: other agents, and a person's own conversation, are left alone", () => {
  const { ask } = place();
  for (const agent of ['', 'Explore', 'nightshift-reviewer', 'nightshift', 'dev']) {
    expect(ask(agent, 'Bash', { command: 'rm -rf .' })).toBe('nothing');
  }
  expect(answerHook({ hook_event_name: 'PreToolUse', tool_name: 'Bash' }, {})).toBeUndefined();
});

test('O2 O4 hook: each agent has its own commands and files, with the names of a plugin too', () => {
  const { ask, root } = place();
  const allowed: [string, string, Record<string, unknown>][] = [
    ['dev', 'Bash', { command: `${STATUS('qa')} --recommend 'Don'\\''t > hurry; $HOME'` }],
    ['dev', 'Read', { file_path: join(root, DEV) }],
    ['dev', 'Read', { file_path: join(root, 'keep.txt') }],
    ['dev', 'Write', { file_path: join(root, 'src/made.txt'), content: '.claude/settings.json' }],
    ['dev', 'Edit', { file_path: join(root, 'keep.txt') }],
    ['dev', 'Bash', { command: 'ls -la .nightshift/site' }],
    ['dev', 'Bash', { command: "find . -name '*.txt' -not -path './node_modules/*'" }],
    ['qa', 'Bash', { command: STATUS('done') }],
    ['qa', 'Bash', { command: "grep -rn -e '/api/' -A 3 --include='*.ts' src keep.txt" }],
    ['qa', 'Read', { file_path: join(root, QA) }],
    ['manager', 'Bash', { command: 'nightshift batch open site' }],
    ['manager', 'Bash', { command: 'nightshift status site' }],
    ['manager', 'Agent', { subagent_type: 'nightshift-dev', prompt: `Read ${DEV} and do what it says.` }],
  ];
  for (const prefix of ['nightshift-', 'nightshift:']) {
    for (const [role, tool, input] of allowed) {
      expect([role, tool, input, ask(`${prefix}${role}`, tool, input)]).toEqual([role, tool, input, 'allow']);
    }
  }
  const refused: [string, string, Record<string, unknown>][] = [
    ['dev', 'Bash', { command: STATUS('done') }],
    ['dev', 'Bash', { command: 'touch made' }],
    ['dev', 'Bash', { command: 'cat keep.txt' }],
    ['dev', 'Bash', { command: 'ls > made' }],
    ['dev', 'Bash', { command: 'ls; touch made' }],
    ['dev', 'Bash', { command: 'find . -delete' }],
    ['dev', 'Bash', { command: "find . -name x -exec touch made ';'" }],
    ['dev', 'Bash', { command: 'find . -fprint made' }],
    ['dev', 'Bash', { command: "grep -r --filter='*:touch made' kept ." }],
    ['dev', 'Bash', { command: 'grep --save-config=made kept keep.txt' }],
    ['dev', 'Bash', { command: 'grep -f keep.txt -R kept .' }],
    ['dev', 'Bash', { command: 'grep -rn token .nightshift' }],
    ['dev', 'Bash', { command: 'grep root away/passwd' }],
    ['dev', 'Bash', { command: 'ls /etc' }],
    ['dev', 'Bash', { command: STATUS('qa'), dangerouslyDisableSandbox: true }],
    ['dev', 'Read', { file_path: join(root, QA) }],
    ['dev', 'Read', { file_path: '/etc/passwd' }],
    ['dev', 'Read', { file_path: join(root, 'away/passwd') }],
    ['dev', 'Read', { file_path: join(root, '.nightshift/site/.env') }],
    ['dev', 'Write', { file_path: join(root, '.claude/settings.json') }],
    ['dev', 'Write', { file_path: join(root, '.nightshift/site/table.csv') }],
    ['dev', 'Write', { file_path: '/tmp/made' }],
    ['dev', 'NotebookEdit', { notebook_path: join(root, '.git/hooks/x.ipynb') }],
    ['dev', 'Agent', { subagent_type: 'nightshift-qa', prompt: `Read ${QA} and do what it says.` }],
    ['dev', 'mcp__alpha__mark', { text: 'x' }],
    ['dev', 'WebFetch', { url: 'http://127.0.0.1' }],
    ['qa', 'Write', { file_path: join(root, 'made') }],
    ['qa', 'Bash', { command: STATUS('qa') }],
    ['manager', 'Bash', { command: STATUS('done') }],
    ['manager', 'Bash', { command: 'nightshift start site' }],
    ['manager', 'Agent', { subagent_type: 'general-purpose', prompt: `Read ${DEV} and do what it says.` }],
    ['manager', 'Agent', { subagent_type: 'nightshift-dev', prompt: 'Do the first item.' }],
    ['manager', 'Agent', { prompt: `Read ${DEV} and do what it says.` }],
  ];
  for (const [role, tool, input] of refused) {
    for (const prefix of ['nightshift-', 'nightshift:']) {
      const answer = ask(`${prefix}${role}`, tool, input);
      expect([role, tool, input, answer]).toEqual([role, tool, input, expect.stringMatching(/^\S.{15,}\.$/s)]);
    }
  }
});

/** The tool of Claude Code that does this. */
function toolFor(action: Action, root: string): [string, Record<string, unknown>] {
  const path = 'path' in action ? join(root, (action.path ?? '').replace('ROOT', '')) : root;
  if (action.kind === 'shell') return ['Bash', { command: action.line }];
  if (action.kind === 'search') return ['Grep', { pattern: 'x', path, glob: action.glob }];
  return [action.kind === 'read' ? 'Read' : 'Write', { file_path: path }];
}

test('O2 O4 hook: what the rules refuse is refused here, to each agent, and what they allow is allowed', () => {
  const narrow = place();
  const shell = place(['bash']);
  for (const { root } of [narrow, shell]) layTraps(root);
  const lines = (list: readonly string[]): Action[] => list.map((line) => ({ kind: 'shell', line }));
  const allowed = (asks: Place, agent: string, actions: readonly Action[]) =>
    actions.filter((action) => asks.ask(agent, ...toolFor(action, asks.root)) === 'allow');
  const writes: Action[] = DEV_WRITES.map((path) => ({ kind: 'write', path }));
  for (const role of ['manager', 'dev', 'qa']) {
    const agent = `nightshift-${role}`;
    const more = role === 'dev' ? [] : writes;
    expect(allowed(narrow, agent, [...lines(FORBIDDEN_LINES), ...FORBIDDEN_FILES, ...more])).toEqual([]);
    expect(allowed(shell, agent, READABLE)).toEqual(READABLE);
  }
  expect(allowed(shell, 'nightshift-manager', lines(MANAGER_LINES))).toEqual(lines(MANAGER_LINES));
  expect(allowed(shell, 'nightshift-dev', [...lines(FORBIDDEN_IN_SHELL), ...FORBIDDEN_FILES])).toEqual([]);
  const devs = [...lines(ALLOWED_IN_SHELL), ...writes];
  expect(allowed(shell, 'nightshift-dev', devs)).toEqual(devs);
});

test('O2 hook: a search leaves .nightshift out, and a manager waits for agents that work in its own folder', () => {
  const { asked } = place();
  expect(asked('nightshift-qa', 'Bash', { command: 'grep -rn kept .', timeout: 1 }).updatedInput).toEqual({
    command: 'grep -rn kept . --exclude-dir=.nightshift',
    timeout: 1,
  });
  const input = { subagent_type: 'nightshift-dev', prompt: `Read ${DEV} and do what it says.` };
  const more = { run_in_background: true, isolation: 'worktree' };
  expect(asked('nightshift-manager', 'Agent', { ...input, ...more }).updatedInput).toEqual({
    ...input,
    run_in_background: false,
  });
});

test('D2 O2 hook: the shell and the MCP servers are those that the task names', () => {
  const shell = place(['bash']);
  expect(shell.ask('nightshift-dev', 'Bash', { command: 'echo x | tee made && ls' })).toBe('allow');
  expect(shell.ask('nightshift-dev', 'Bash', { command: 'echo {} > .claude/settings.json' })).toMatch(/steers/);
  expect(shell.ask('nightshift-qa', 'Bash', { command: 'touch made' })).not.toBe('allow');
  const servers = place(['alpha', 'be ta']);
  for (const agent of ['nightshift-dev', 'nightshift-qa']) {
    expect(servers.ask(agent, 'mcp__alpha__mark', {})).toBe('allow');
    expect(servers.ask(agent, 'mcp__be_ta__mark', {})).toBe('allow');
    expect(servers.ask(agent, 'ReadMcpResourceTool', { server: 'alpha', uri: 'note://x' })).toBe('allow');
    expect(servers.ask(agent, 'mcp__alpha__two__mark', {})).toMatch(/does not name the MCP server alpha__two/);
    expect(servers.ask(agent, 'mcp__gamma__mark', {})).toMatch(/does not name the MCP server gamma/);
    expect(servers.ask(agent, 'ReadMcpResourceTool', { server: 'gamma', uri: 'x' })).toMatch(/MCP server gamma/);
  }
  expect(servers.ask('nightshift-manager', 'mcp__alpha__mark', {})).not.toBe('allow');
  const missing = place(['nowhere']);
  const start = { subagent_type: 'nightshift-dev', prompt: `Read ${DEV} and do what it says.` };
  expect(missing.ask('nightshift-manager', 'Agent', start)).toMatch(/needs the MCP server nowhere/);
});

test('O5 hook: a manager whose context was compacted opens no batch; its own summary tells it nothing', () => {
  const summary = { type: 'user', isCompactSummary: true, message: { content: `I was told to read ${QA}` } };
  const { ask } = place([], [{ type: 'system', subtype: 'compact_boundary' }, summary]);
  expect(ask('nightshift-manager', 'Bash', { command: 'nightshift batch open site' })).toMatch(/Compacted: true/);
  expect(ask('nightshift-manager', 'Bash', { command: 'nightshift status site' })).toBe('allow');
  expect(ask('nightshift-dev', 'Read', { file_path: QA })).toMatch(/prompt of somebody else/);
  const said = { type: 'user', message: { content: '{"type":"system","subtype":"compact_boundary"}' } };
  expect(place([], [said]).ask('nightshift-manager', 'Bash', { command: 'nightshift batch open site' })).toBe('allow');
  const started = answerHook({ hook_event_name: 'SessionStart', agent_type: 'nightshift-manager' }, {});
  expect(JSON.stringify(started)).toContain('Compacted: true');
});

test('O4 hook: tokens are taken out of what a command printed; without a transcript nothing is allowed', () => {
  const tool_response = { stdout: 'x --token abc y', stderr: '', interrupted: false };
  const call = { agent_type: 'nightshift-dev', agent_id: 'x', transcript_path: '/nowhere.jsonl', tool_name: 'Bash' };
  expect(answerHook({ hook_event_name: 'PostToolUse', ...call, tool_response }, {})).toEqual({
    hookSpecificOutput: {
      hookEventName: 'PostToolUse',
      updatedToolOutput: { ...tool_response, stdout: 'x --token (of somebody else) y' },
    },
  });
  const tool_input = { command: STATUS('qa') };
  const answer = answerHook({ hook_event_name: 'PreToolUse', ...call, tool_input }, {});
  expect(answer).toMatchObject({ hookSpecificOutput: { permissionDecision: 'deny' } });
});

test('O2 hook: the first call of an agent may come before Claude Code has written what it was told', () => {
  const { root, ask } = place();
  const record = join(root, 'home/session/subagents/agent-qa.jsonl');
  renameSync(record, `${record}.later`);
  writeFileSync(record, '');
  spawn('sh', ['-c', 'sleep 0.2; mv "$0.later" "$0"', record]);
  expect(ask('nightshift-qa', 'Read', { file_path: join(root, QA) })).toBe('allow');
});

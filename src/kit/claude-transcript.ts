import { readFileSync } from 'node:fs';

/** What Claude Code has recorded about an agent, as far as the rules need it. */
export interface AgentRecord {
  /** Everything that the agent was told by its starter. */
  readonly told: string;
  /** Its context was replaced by a summary. */
  readonly isCompacted: boolean;
}

/** How long Claude Code may take to write what an agent was told. It does that in the background. */
const WRITTEN_WITHIN_MS = 2000;
const LOOK_EVERY_MS = 20;

interface Line {
  readonly type?: string;
  readonly subtype?: string;
  readonly isCompactSummary?: boolean;
  readonly message?: { readonly content?: string | readonly { readonly type?: string; readonly text?: string }[] };
}

/**
 * A file of JSON lines that only grows. Nothing if it can't be read. Results of tools, and the agent's own summary of
 * its context, are not instructions to it.
 */
function readRecord(file: string): AgentRecord | undefined {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
  // Parses only a few lines, because a transcript may have megabytes. Quotes inside a text are escaped and don't
  // match.
  const lines = text
    .split('\n')
    .filter((line) => line.includes('"type":"user"') || line.includes('"subtype":"compact_boundary"'))
    .flatMap(parse);
  return {
    told: lines.map(toldBy).join('\n'),
    isCompacted: lines.some(({ type, subtype }) => type === 'system' && subtype === 'compact_boundary'),
  };
}

/** The same, but waits: the first call of an agent may come before its transcript says what it was told. */
export function readWrittenRecord(file: string): AgentRecord | undefined {
  for (const since = performance.now(); ; ) {
    const record = readRecord(file);
    if ((record && record.told !== '') || performance.now() - since > WRITTEN_WITHIN_MS) return record;
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, LOOK_EVERY_MS);
  }
}

/** The last line may be incomplete. */
function parse(line: string): Line[] {
  try {
    return [JSON.parse(line) as Line];
  } catch {
    return [];
  }
}

function toldBy({ type, isCompactSummary, message }: Line): string {
  const content = message?.content;
  if (type !== 'user' || isCompactSummary === true || content === undefined) return '';
  if (typeof content === 'string') return content;
  return content.map(({ type: kind, text = '' }) => (kind === 'text' ? text : '')).join('\n');
}

/** `transcript`: of the conversation. Agents that it started have their own files. */
export function recordFile(transcript: string, agentId: string | undefined): string {
  return agentId === undefined ? transcript : transcript.replace(/\.jsonl$/, `/subagents/agent-${agentId}.jsonl`);
}

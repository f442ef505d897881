import { isAbsolute, relative, resolve } from 'node:path';
import type { ToolKind } from '@agentclientprotocol/sdk';
import type { Opening } from '../agent.ts';

/** A tool call, as far as it is known. */
export interface Call {
  readonly title: string;
  readonly kind: ToolKind;
  readonly input?: unknown;
  readonly paths: readonly string[];
}

const READING: readonly ToolKind[] = ['read', 'search', 'think'];
const EDITING: readonly ToolKind[] = ['edit', 'delete', 'move'];
/** Kinds that prove that something was done; `other` proves nothing. */
const DOING: readonly ToolKind[] = [...EDITING, 'execute', 'fetch'];

/** The answer to a permission request (rules D2, D5, Q2). */
export function mayUse(call: Call, opening: Opening): boolean {
  const { role, settings } = opening;
  if (role === 'manager') return false;
  if (READING.includes(call.kind)) return true;
  if (isOfServer(call, settings.tools)) return true;
  if (role === 'qa') return false;
  if (EDITING.includes(call.kind)) return !touchesShift(call, opening);
  return call.kind === 'execute' && settings.tools.includes('bash');
}

/** Whether it used a tool that its role does not have, without asking or despite a refusal. */
export function isBreach(call: Call, opening: Opening): boolean {
  return DOING.includes(call.kind) && !mayUse(call, opening);
}

/**
 * The protocol does not name the server of a tool. Programs put the server's name in front: `alpha_mark`,
 * `mcp__alpha__mark`.
 */
function isOfServer({ title, kind }: Call, tools: readonly string[]): boolean {
  if (kind !== 'other') return false;
  const words = title.toLowerCase();
  return tools.some((tool) => {
    if (tool === 'bash') return false;
    const at = words.indexOf(tool.toLowerCase());
    const isWord = (char: string | undefined) => char !== undefined && /[a-z0-9]/.test(char);
    return at !== -1 && !isWord(words[at - 1]) && !isWord(words[at + tool.length]);
  });
}

function touchesShift({ paths, input }: Call, { folder, shiftFolder }: Opening): boolean {
  return [...paths, ...textsIn(input)].some((path) => {
    const from = relative(shiftFolder, resolve(folder, path));
    return from === '' || (!from.startsWith('..') && !isAbsolute(from));
  });
}

/** Longer than any path. */
const LONGEST_PATH = 4096;

function textsIn(value: unknown): string[] {
  if (typeof value === 'string') return value.length <= LONGEST_PATH && !value.includes('\n') ? [value] : [];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : [];
}

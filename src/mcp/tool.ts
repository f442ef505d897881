import type { CallToolResult, McpServer, ToolAnnotations } from '@modelcontextprotocol/server';
import type { z } from 'zod';
import { refuseInside } from '../app/access.ts';
import type { World } from '../app/world.ts';
import { NightshiftError } from '../core/model/errors.ts';
import { systemError } from '../core/model/system-errors.ts';
import { ABOUT_DATA, markData } from './marked-data.ts';

/** What the server gets from its surroundings. */
export interface Host extends World {
  /** A line on standard error. */
  warn(line: string): void;
}

/** What a tool returns. Some clients show a model the text, others the facts: each must be complete on its own. */
export interface Answer {
  /** Only numbers, checked names and paths. */
  readonly facts: Readonly<Record<string, unknown>>;
  /** The same for people, in Nightshift's own words. */
  readonly lines: readonly string[];
  /** Text from cells, files and agents. */
  readonly data?: readonly string[];
}

interface ToolDefinition<Input extends z.ZodObject> {
  readonly name: string;
  readonly description: string;
  readonly input: Input;
  /** Agents that work on an item can't call a tool that changes anything. */
  readonly changes: boolean;
  readonly annotations?: ToolAnnotations;
  answer(host: Host, input: z.output<Input>): Promise<Answer>;
}

/** Adds a tool to a server. */
export type Tool = (server: McpServer, host: Host) => void;

export function defineTool<Input extends z.ZodObject>(tool: ToolDefinition<Input>): Tool {
  const { name, description, input, changes, annotations } = tool;
  return (server, host) => {
    const config = {
      description: `${description}\n${ABOUT_DATA}`,
      inputSchema: input as z.ZodObject,
      annotations: { readOnlyHint: !changes, openWorldHint: false, ...annotations },
    };
    server.registerTool(name, config, async (given) => {
      try {
        if (changes) refuseInside(host, name);
        return toResult(await tool.answer(host, given as z.output<Input>));
      } catch (error) {
        return toError(host, error);
      }
    });
  };
}

function toResult({ facts, lines, data }: Answer): CallToolResult {
  const block = data === undefined || data.length === 0 ? undefined : markData(data);
  const text = [...lines, ...(block === undefined ? [] : [block])].join('\n');
  return {
    content: [{ type: 'text', text }],
    structuredContent: { ...facts, ...(block === undefined ? {} : { data: block }) },
  };
}

/** Handles errors as the CLI does for a command. Messages and hints quote files, so they are data too. */
function toError(host: Host, thrown: unknown): CallToolResult {
  const error = systemError(thrown) ?? thrown;
  if (!(error instanceof NightshiftError)) {
    host.warn(`This is a bug in Nightshift. Nothing that was recorded is lost.\n${(error as Error)?.stack ?? error}`);
    const block = markData([String(error)]);
    return { isError: true, content: [{ type: 'text', text: `error: this is a bug in Nightshift\n${block}` }] };
  }
  const { code, message, hint, file, line } = error;
  const place = file === undefined ? [] : [`  at ${file}${line === undefined ? '' : `:${line}`}`];
  const block = markData([message, ...place, ...(hint === undefined ? [] : [`  ${hint}`])]);
  return {
    isError: true,
    content: [{ type: 'text', text: `error: ${code}\n${block}` }],
    structuredContent: { error: code, data: block },
  };
}

import type { CallToolResult, McpServer, ToolAnnotations } from '@modelcontextprotocol/server';
import type { z } from 'zod';
import { refuseInside } from '../app/access.ts';
import type { Io } from '../cli/io.ts';
import { NightshiftError } from '../core/model/errors.ts';
import { systemError } from '../core/model/system-errors.ts';
import { ABOUT_DATA, markData } from './marked-data.ts';

/** What a tool answers. Clients show a model the text or the facts, so that each must do without the other. */
export interface Answer {
  /** Nothing but numbers, names that were checked, and paths. */
  readonly facts: Readonly<Record<string, unknown>>;
  /** The same for people: Nightshift's own words. */
  readonly lines: readonly string[];
  /** What others wrote. */
  readonly data?: readonly string[];
}

interface ToolDefinition<Input extends z.ZodObject> {
  readonly name: string;
  readonly description: string;
  readonly input: Input;
  /** Whether it changes anything; then agents at work on an item are refused. */
  readonly changes: boolean;
  readonly annotations?: ToolAnnotations;
  answer(io: Io, input: z.output<Input>): Promise<Answer>;
}

/** Adds a tool to a server. */
export type Tool = (server: McpServer, io: Io) => void;

export function defineTool<Input extends z.ZodObject>(tool: ToolDefinition<Input>): Tool {
  const { name, description, input, changes, annotations } = tool;
  return (server, io) => {
    const config = {
      description: `${description}\n${ABOUT_DATA}`,
      inputSchema: input as z.ZodObject,
      annotations: { readOnlyHint: !changes, openWorldHint: false, ...annotations },
    };
    server.registerTool(name, config, async (given) => {
      try {
        if (changes) refuseInside(io, name);
        return toResult(await tool.answer(io, given as z.output<Input>));
      } catch (error) {
        return toError(io, error);
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

/** As `main` does for a command. Messages and hints quote files, so they are data too. */
function toError(io: Io, thrown: unknown): CallToolResult {
  const error = systemError(thrown) ?? thrown;
  if (!(error instanceof NightshiftError)) {
    io.warn(`This is a bug in Nightshift. Nothing that was recorded is lost.\n${(error as Error)?.stack ?? error}`);
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

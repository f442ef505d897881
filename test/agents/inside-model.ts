import { setTimeout as delay } from 'node:timers/promises';
import { type ChatCompletionRequest, type ChatMessage, type FixtureResponse, LLMock } from '@copilotkit/aimock';

/** One answer of the model: calls of tools, all in one message, or the text that ends its turn. */
export type Move =
  | { readonly calls: readonly Call[] }
  | { readonly text: string }
  | { readonly hang: true }
  /** The context is too long for the model. */
  | { readonly tooLong: true };
export interface Call {
  readonly tool: string;
  readonly input: object;
}

type Player = 'manager' | 'dev' | 'qa' | 'person';

/** A conversation as the model sees it, from the last message of the user on. */
export interface Talk {
  readonly player: Player;
  /** What the user said last. */
  readonly prompt: string;
  /** What the tools of each answer since then said. */
  readonly answers: readonly (readonly string[])[];
  readonly tools: readonly string[];
}

/** Says what comes next; it sees nothing but the conversation. */
export type Play = (talk: Talk) => Move | Promise<Move>;

/** Prompts that hold their own script: the calls of each answer. */
export function scripted(moves: readonly Move[]): string {
  return `SCRIPT ${Buffer.from(JSON.stringify(moves)).toString('base64')}`;
}

/** A model on loopback for agents that `nightshift init` wrote; each plays by what the tools answered it. */
export class InsideModel {
  readonly #mock = new LLMock({ port: 0, host: '127.0.0.1' });
  readonly #end = new AbortController();
  readonly talks: Talk[] = [];
  play: Play = () => ({ text: 'Nothing to say.' });

  static async start(): Promise<InsideModel> {
    const model = new InsideModel();
    model.#mock.on({}, (request) => model.#answer(request));
    await model.#mock.start();
    return model;
  }

  get url(): string {
    return this.#mock.url;
  }

  async stop(): Promise<void> {
    this.#end.abort();
    await this.#mock.stop();
  }

  async #answer(request: ChatCompletionRequest): Promise<FixtureResponse> {
    const talk = talkOf(request);
    // A title.
    if (talk.tools.length === 0) return { content: 'A title' };
    this.talks.push(talk);
    const move = scriptOf(talk)?.[talk.answers.length] ?? (await this.play(talk));
    if ('hang' in move) await delay(3_600_000, undefined, { signal: this.#end.signal }).catch(() => {});
    if ('tooLong' in move) {
      const message = 'prompt is too long: 210000 tokens > 200000 maximum';
      return { error: { message, type: 'invalid_request_error' }, status: 400 };
    }
    if ('calls' in move) {
      return { toolCalls: move.calls.map(({ tool, input }) => ({ name: tool, arguments: JSON.stringify(input) })) };
    }
    return { content: 'text' in move ? move.text : '' };
  }
}

function scriptOf({ prompt }: Talk): Move[] | undefined {
  const found = /SCRIPT ([A-Za-z0-9+/=]+)/.exec(prompt)?.[1];
  return found === undefined
    ? undefined
    : [...(JSON.parse(Buffer.from(found, 'base64').toString('utf8')) as Move[]), { text: 'That was all.' }];
}

const OPENINGS: readonly [Player, RegExp][] = [
  ['manager', /You are the manager of one Nightshift shift/],
  ['dev', /You do one task for one item of a table/],
  ['qa', /You judge what somebody else did for one item/],
];

function talkOf({ messages, tools = [] }: ChatCompletionRequest): Talk {
  const system = messages
    .filter(({ role }) => role === 'system')
    .map(textOf)
    .join('\n');
  const last = messages.findLastIndex(({ role }) => role === 'user');
  const answers: string[][] = [];
  for (const message of messages.slice(last + 1)) {
    if (message.role === 'assistant') answers.push([]);
    if (message.role === 'tool') answers.at(-1)?.push(textOf(message));
  }
  return {
    player: OPENINGS.find(([, opening]) => opening.test(system))?.[0] ?? 'person',
    prompt: last === -1 ? '' : textOf(messages[last]!),
    answers,
    tools: tools.map((tool) => tool.function.name),
  };
}

function textOf({ content }: ChatMessage): string {
  if (typeof content === 'string') return content;
  return (content ?? []).map((part) => part.text ?? '').join('\n');
}

export function bash(command: string): Call {
  return { tool: 'bash', input: { command, description: 'Runs it' } };
}

export function taskCall(agent: string, prompt: string): Call {
  return { tool: 'task', input: { description: 'One item', prompt, subagent_type: agent } };
}

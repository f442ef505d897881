import { setTimeout as delay } from 'node:timers/promises';
import { type ChatCompletionRequest, type ChatMessage, type FixtureResponse, LLMock } from '@copilotkit/aimock';

/**
 * A model on loopback that does what the prompt says: the cell `script` of the item's row holds what it answers, turn by
 * turn, for the dev and for the qa. So it keeps no state, and any number of items can run at once.
 * It speaks OpenAI chat completions and Responses (`/v1`) and Anthropic Messages.
 */

export type Step = Answer & {
  /** Before it answers. */
  readonly delay?: number;
  readonly usage?: { readonly input: number; readonly output: number };
  /** The first requests for this step are refused. */
  readonly refuse?: { readonly status: number; readonly times: number; readonly message?: string };
};

type Answer =
  | { readonly tool: string; readonly input: object }
  /** The end of a turn. */
  | { readonly text: string }
  /** The end of a turn: structured output where the program asks for it, else as text. */
  | { readonly report: object }
  /** Never answers. */
  | { readonly hang: true };

export interface Script {
  /** For the journal; give each item its own. */
  readonly name: string;
  readonly dev?: readonly Step[];
  readonly qa?: readonly Step[];
}

/** What a program asked. */
export interface Asked {
  readonly role: 'dev' | 'qa' | 'manager' | 'none';
  /** Of the script; absent for the manager. */
  readonly name?: string;
  /** Which step was the answer. */
  readonly step?: number;
  readonly tools: readonly string[];
  /** What the program said last as the user. */
  readonly prompt: string;
  /** Everything that was sent, instructions of the program included. */
  readonly text: string;
  readonly model: string;
  /** The status it was refused with. */
  readonly refused?: number;
}

export const SUCCESS = { overall_status: 'SUCCESS', recommendations: 'None' };
const usageOfOneAnswer = { input: 1000, output: 100 };

/** The cell for the column `script`. */
export function cell(script: Script): string {
  return Buffer.from(JSON.stringify(script)).toString('base64');
}

/** A qa that says the same of each of these criteria. */
export function verdict(criteria: readonly string[], status: 'PASS' | 'FAIL' = 'PASS', reason = 'seen'): Step {
  return {
    report: { overall_status: status, criteria: criteria.map((criterion) => ({ criterion, status, reason })) },
  };
}

export class Model {
  readonly #mock = new LLMock({ port: 0, host: '127.0.0.1' });
  readonly #refused = new Map<string, number>();
  readonly #end = new AbortController();
  /** In the order in which they came. */
  readonly asked: Asked[] = [];
  /** What the manager answers to recommendations. */
  group: (recommendations: readonly Wish[]) => Step = groupByWords;

  static async start(): Promise<Model> {
    const model = new Model();
    model.#mock.on({}, (request) => model.#answer(request));
    await model.#mock.start();
    return model;
  }

  /** `http://127.0.0.1:PORT`; OpenAI's dialects are below `/v1`. */
  get url(): string {
    return this.#mock.url;
  }

  of(name: string, role: 'dev' | 'qa' = 'dev'): Asked[] {
    return this.asked.filter((each) => each.name === name && each.role === role);
  }

  async stop(): Promise<void> {
    this.#end.abort();
    await this.#mock.stop();
  }

  async #answer(request: ChatCompletionRequest): Promise<FixtureResponse> {
    const role = roleOf(request);
    const common = {
      role,
      tools: (request.tools ?? []).map((tool) => tool.function.name),
      prompt: lastOf(request, 'user'),
      text: request.messages.map(textOf).join('\n'),
      model: request.model,
    };
    const place = findScript(request, role);
    // Titles, summaries; what they hold of the script goes on from where it was.
    if (common.tools.length === 0 && role !== 'manager') {
      this.asked.push({ ...common, role: 'none' });
      const summary = () => `You are the ${role} of Nightshift: ${place!.holder} from step ${place!.at}.`;
      return text(place === undefined ? 'A title' : summary());
    }
    if (role === 'manager') {
      this.asked.push(common);
      return this.#say(this.group(wishesIn(common.text)), request);
    }
    const step = place?.steps[place.at];
    if (place === undefined || step === undefined) {
      this.asked.push(common);
      return text('The script has nothing to say here.');
    }
    const asked = { ...common, name: place.name, step: place.at };
    const refusal = this.#refuse(step, `${place.holder} ${role} ${place.at}`);
    this.asked.push(refusal === undefined ? asked : { ...asked, refused: refusal.status! });
    return refusal ?? this.#say(step, request);
  }

  #refuse({ refuse }: Step, place: string): { error: { message: string; type: string }; status?: number } | undefined {
    const times = this.#refused.get(place) ?? 0;
    if (refuse === undefined || times >= refuse.times) return undefined;
    this.#refused.set(place, times + 1);
    const type =
      refuse.status === 429 ? 'rate_limit_error' : refuse.status === 401 ? 'authentication_error' : 'api_error';
    return { status: refuse.status, error: { message: refuse.message ?? `refused with ${refuse.status}`, type } };
  }

  async #say(step: Step, request: ChatCompletionRequest): Promise<FixtureResponse> {
    if ('hang' in step) await delay(3_600_000, undefined, { signal: this.#end.signal }).catch(() => {});
    if (step.delay !== undefined) await delay(step.delay, undefined, { signal: this.#end.signal }).catch(() => {});
    const { input, output } = step.usage ?? usageOfOneAnswer;
    const usage = { prompt_tokens: input, completion_tokens: output, input_tokens: input, output_tokens: output };
    if ('tool' in step) return { toolCalls: [{ name: step.tool, arguments: JSON.stringify(step.input) }], usage };
    if ('text' in step) return { content: step.text, usage };
    const report = 'report' in step ? step.report : {};
    const structured = request.tools?.find((tool) => tool.function.name === 'StructuredOutput')?.function;
    if (structured === undefined) return { content: JSON.stringify(report), usage };
    const key = /\\?"key\\?":\s*\\?"([0-9a-f]{32})/.exec(request.messages.map(textOf).join('\n'))?.[1] ?? '';
    const whole = inForm(structured.parameters as Form, { ...report, key });
    return { toolCalls: [{ name: structured.name, arguments: JSON.stringify(whole) }], usage };
  }
}

function text(content: string): FixtureResponse {
  return { content };
}

function roleOf({ messages }: ChatCompletionRequest): Asked['role'] {
  const found = /You are the (dev|qa|manager) of Nightshift/.exec(messages.map(textOf).join('\n'))?.[1];
  return (found as Asked['role'] | undefined) ?? 'none';
}

interface Place {
  readonly name: string;
  readonly steps: readonly Step[];
  readonly at: number;
  /** The text that holds the script. */
  readonly holder: string;
}

const HOLDER = /\\?"script\\?":\s*\\?"([A-Za-z0-9+/=]+)\\?"/;

/** Where the conversation is: as many steps on as there are answers after the message that holds the script. */
function findScript({ messages }: ChatCompletionRequest, role: Asked['role']): Place | undefined {
  const index = messages.findLastIndex((message) => HOLDER.test(textOf(message)));
  if (index === -1) return undefined;
  const holding = textOf(messages[index]!);
  const [holder, base64] = HOLDER.exec(holding)!;
  const script = JSON.parse(Buffer.from(base64!, 'base64').toString('utf8')) as Script;
  const steps = (role === 'qa' ? script.qa : script.dev) ?? [];
  const after = messages.slice(index + 1);
  const answers = after.filter(isAnswer).length;
  return {
    name: script.name,
    steps,
    at: startOf(holding, steps) + answers + droppedIn(after) + toldIn(holding),
    holder,
  };
}

/** Claude Code puts words into the model's mouth where it goes on after a report. */
function isAnswer(message: ChatMessage): boolean {
  return message.role === 'assistant' && textOf(message) !== 'No response requested.';
}

interface Form {
  readonly type: string | readonly string[];
  readonly properties?: Readonly<Record<string, Form>>;
  readonly items?: Form;
}

/** A short report in the whole form that a program may insist on. What is wrong in it stays wrong. */
function inForm({ type, properties = {}, items }: Form, value: unknown): unknown {
  const types = [type].flat();
  if (types.includes('object')) {
    const given = (value ?? {}) as Readonly<Record<string, unknown>>;
    return Object.fromEntries(Object.entries(properties).map(([name, form]) => [name, inForm(form, given[name])]));
  }
  if (types.includes('array'))
    return Array.isArray(value) ? value.map((each) => (items ? inForm(items, each) : each)) : [];
  return value ?? (types.includes('null') ? null : types.includes('integer') ? 0 : '');
}

/** In a summary it stands; a fresh session that is told of attempt N begins after the ends of N - 1 turns. */
function startOf(holding: string, steps: readonly Step[]): number {
  const from = / from step (\d+)\./.exec(holding)?.[1];
  if (from !== undefined) return Number(from);
  const attempt = Number(/This is attempt (\d)/.exec(holding)?.[1] ?? 1);
  let start = 0;
  for (let ended = 1; ended < attempt && start < steps.length; start++) if (!('tool' in steps[start]!)) ended++;
  return start;
}

/** A program may leave out an answer that it could not use: then a prompt of Nightshift follows what came before that answer. */
function droppedIn(messages: readonly ChatMessage[]): number {
  const isFollowUp = (message: ChatMessage) => /could not be used|Your last attempt failed/.test(textOf(message));
  const isReport = (message: ChatMessage | undefined) =>
    message?.tool_calls?.some((call) => call.function.name === 'StructuredOutput') === true;
  return messages.filter((message, i) => {
    if (message.role !== 'user' || !isFollowUp(message)) return false;
    const before = messages[i - 1];
    return before?.role !== 'assistant' && !(before?.role === 'tool' && isReport(messages[i - 2]));
  }).length;
}

/** Answers in a conversation that is told in one message, to be summed up. */
function toldIn(holding: string): number {
  return [...holding.matchAll(/^\[Assistant tool call\]/gm)].length;
}

/** A recommendation as the manager is shown it. */
export interface Wish {
  readonly number: number;
  readonly row: number;
  readonly text: string;
}

function wishesIn(prompt: string): Wish[] {
  const lines = /<recommendations-[^>]*>\n([\s\S]*?)\n<\/recommendations-/.exec(prompt)?.[1]?.split('\n') ?? [];
  return lines.map((line) => JSON.parse(line) as Wish);
}

/** A group for each wording. */
function groupByWords(wishes: readonly Wish[]): Step {
  const from = new Map<string, number[]>();
  for (const { number, text } of wishes) from.set(text, [...(from.get(text) ?? []), number]);
  const lessons = [...from].map(([text, numbers]) => ({ text, from: numbers, same_as: null, after: null }));
  return { report: { lessons, summary: 'grouped what was recommended' } };
}

function lastOf({ messages }: ChatCompletionRequest, role: ChatMessage['role']): string {
  const message = messages.findLast((each) => each.role === role);
  return message === undefined ? '' : textOf(message);
}

function textOf({ content }: ChatMessage): string {
  if (typeof content === 'string') return content;
  return (content ?? []).map((part) => part.text ?? '').join('\n');
}

import { createServer, request as httpRequest, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/**
 * Codex speaks more of the Responses dialect than the scripted model: tools in namespaces, and tools whose input is no JSON.
 * This stands between them and translates: a tool is `NAMESPACE.NAME` for the script, and the input of `apply_patch` and `exec`
 * is `{"input": TEXT}`.
 */
export class CodexDialect {
  readonly #server: Server;
  /** The bodies of requests as Codex sent them. */
  readonly bodies: Body[] = [];

  private constructor() {
    this.#server = createServer(async (incoming, answer) => {
      const body = JSON.parse((await textOf(incoming)) || '{}') as Body;
      this.bodies.push(body);
      const { 'content-length': _, 'content-encoding': __, ...headers } = incoming.headers;
      const [, port, path] = /^\/(\d+)(\/.*)$/.exec(incoming.url!)!;
      const asked = httpRequest(
        `http://127.0.0.1:${port}${path}`,
        { method: incoming.method, headers },
        async (response) => {
          const text = await textOf(response);
          answer.writeHead(response.statusCode!, { 'content-type': response.headers['content-type'] ?? 'text/plain' });
          answer.end(
            text.replace(/^data: (\{.*)$/gm, (_all, data) => `data: ${JSON.stringify(toCodex(JSON.parse(data)))}`),
          );
        },
      );
      asked.on('error', () => answer.destroy());
      answer.on('close', () => asked.destroy());
      asked.end(JSON.stringify(toMock(body)));
    });
  }

  static async start(): Promise<CodexDialect> {
    const dialect = new CodexDialect();
    await new Promise<void>((resolve) => dialect.#server.listen(0, '127.0.0.1', resolve));
    return dialect;
  }

  /** Where Codex finds the model of that address. */
  urlOf(model: string): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/${new URL(model).port}`;
  }

  stop(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }
}

export interface Body {
  readonly tools?: readonly Tool[];
  readonly input?: readonly Item[];
  readonly text?: { readonly format?: unknown };
}

interface Tool {
  readonly type: string;
  readonly name?: string;
  readonly tools?: readonly Tool[];
}

interface Item {
  readonly type?: string;
  readonly name?: string;
  readonly namespace?: string;
  readonly input?: string;
  readonly arguments?: string;
  readonly tools?: readonly Tool[];
}

function toMock(body: Body): object {
  const more = (body.input ?? []).flatMap((item) => (item.type === 'additional_tools' ? item.tools! : []));
  const tools = [...(body.tools ?? []), ...more].flatMap((tool) =>
    tool.type === 'namespace' && tool.name !== 'functions'
      ? tool.tools!.map((each) => ({ ...each, name: `${tool.name}.${each.name}` }))
      : (tool.tools ?? [tool]),
  );
  const asFunctions = tools
    .filter(({ name }) => name !== undefined)
    .map((tool) => ({ ...tool, type: 'function', parameters: { type: 'object' } }));
  const said = (body.input ?? []).filter(({ type }) => type !== 'additional_tools');
  const input = said.map((item) => {
    if (item.type === 'custom_tool_call')
      return { ...item, type: 'function_call', arguments: JSON.stringify({ input: item.input }) };
    if (item.type === 'custom_tool_call_output') return { ...item, type: 'function_call_output' };
    return item;
  });
  return { ...body, tools: asFunctions, input };
}

type Event = { readonly item?: Item; readonly response?: { readonly output?: readonly Item[] } };

function toCodex(event: Event): object {
  const { item, response } = event;
  return {
    ...event,
    ...(item ? { item: callOf(item) } : {}),
    ...(response?.output ? { response: { ...response, output: response.output.map(callOf) } } : {}),
  };
}

function callOf(item: Item): Item {
  if (item.type !== 'function_call') return item;
  if (item.name === 'apply_patch' || item.name === 'exec') {
    const { arguments: input, ...rest } = item;
    return { ...rest, type: 'custom_tool_call', input: input ? (JSON.parse(input) as { input: string }).input : '' };
  }
  const [namespace, name] = item.name!.split('.') as [string, string | undefined];
  return name === undefined ? item : { ...item, namespace, name };
}

async function textOf(message: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of message) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
}

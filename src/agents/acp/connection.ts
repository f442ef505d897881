import { PassThrough } from 'node:stream';
import type { AnyMessage, ClientContext, RequestPermissionRequest, SessionUpdate } from '@agentclientprotocol/sdk';
import type { Mask } from '../../core/text/mask.ts';
import type { Sandbox } from '../../core/workspace/sandbox.ts';
import { JsonLines } from '../json-lines.ts';
import { type ProcessResult, runProcess, SHELL } from '../process/process.ts';

export interface AcpHandlers {
  readonly onUpdate: (update: SessionUpdate) => void;
  /** The id of the chosen option; undefined: none. */
  readonly onPermission: (request: RequestPermissionRequest) => string | undefined;
  /** Output outside of the protocol. */
  readonly onPrint: (text: string) => void;
}

interface Start {
  readonly command: string;
  readonly folder: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly mask: Mask;
  readonly signal: AbortSignal;
  readonly sandbox?: Sandbox | undefined;
}

const KEEP_BYTES = 16 * 1024;

/** A program that speaks ACP on standard input and output, and the connection to it. */
export interface AcpConnection {
  readonly agent: ClientContext;
  readonly ended: Promise<ProcessResult>;
  /** Ends the program and everything it started. */
  close(): Promise<ProcessResult>;
}

export async function connect(start: Start, handlers: AcpHandlers): Promise<AcpConnection> {
  const { client, methods } = await import('@agentclientprotocol/sdk');
  const own = new AbortController();
  const input = new PassThrough();
  let receive: ReadableStreamDefaultController<AnyMessage>;
  const readable = new ReadableStream<AnyMessage>({
    start(controller) {
      receive = controller;
    },
  });
  const writable = new WritableStream<AnyMessage>({
    write(message) {
      input.write(`${JSON.stringify(message)}\n`);
    },
  });
  const lines = new JsonLines(
    (object) => quietly(() => receive.enqueue(object as unknown as AnyMessage)),
    (line) => handlers.onPrint(`${line}\n`),
  );
  const ended = runProcess({
    file: SHELL,
    args: ['-c', start.command],
    cwd: start.folder,
    env: start.environment,
    input,
    signal: AbortSignal.any([start.signal, own.signal]),
    onOutput: (stream, text) => (stream === 'stdout' ? lines.add(text) : handlers.onPrint(text)),
    keepBytes: KEEP_BYTES,
    mask: start.mask,
    sandbox: start.sandbox,
  }).finally(() => quietly(() => receive.close()));

  const connection = client({ name: 'nightshift' })
    .onNotification(methods.client.session.update, ({ params }) => handlers.onUpdate(params.update))
    .onRequest(methods.client.session.requestPermission, ({ params }) => {
      const optionId = handlers.onPermission(params);
      return { outcome: optionId === undefined ? { outcome: 'cancelled' } : { outcome: 'selected', optionId } };
    })
    .connect({ readable, writable });
  return {
    agent: connection.agent,
    ended,
    close() {
      own.abort();
      return ended;
    },
  };
}

/** The other side may have closed it already. */
function quietly(act: () => void): void {
  try {
    act();
  } catch {
    // It is closed.
  }
}

import { connect, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';

/** Reads server-sent events as they come, until it is destroyed or the test ends. */
export class StreamClient {
  readonly socket: Socket;
  text = '';
  isClosed = false;

  constructor(port: number, target: string, headers: Readonly<Record<string, string>>) {
    const all = { Host: `127.0.0.1:${port}`, ...headers };
    const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
    const request = `GET ${target} HTTP/1.1\r\n${lines.join('')}\r\n`;
    this.socket = connect(port, '127.0.0.1', () => this.socket.write(request));
    this.socket.setEncoding('utf8').on('data', (piece: string) => {
      this.text += piece;
    });
    this.socket.on('error', () => {});
    this.socket.on('close', () => {
      this.isClosed = true;
    });
    onTestFinished(() => void this.socket.destroy());
  }

  get isOpen(): boolean {
    return this.text.includes('retry: ');
  }

  /** The messages with an id. Each is one chunk, so none is torn by the encoding of the transfer. */
  // biome-ignore lint/suspicious/noExplicitAny: messages of every kind
  get received(): { id: string; message: any }[] {
    return [...this.text.matchAll(/^id: (.+)\ndata: (.+)\n\n/gm)].map(([, id, data]) => ({
      id: id!,
      message: JSON.parse(data!),
    }));
  }
}

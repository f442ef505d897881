import { requireRoot } from '../../app/find-shift.ts';
import { findShiftPlace } from '../../app/page/shift-place.ts';
import { EXIT, NightshiftError } from '../../core/model/errors.ts';
import type { Io } from '../io.ts';
import { openBrowser } from '../open-browser.ts';
import type { Options } from '../program.ts';
import { servePage } from '../serve-page.ts';
import { StopSignals } from '../stop-signals.ts';

/** Serves the page until Ctrl-C. Runs go on. */
export async function run(io: Io, [name]: readonly string[], options: Options): Promise<number> {
  const port = readPort(options.port);
  refuseOtherHosts(options.host, port);
  if (name !== undefined) findShiftPlace(requireRoot(io), name);
  const settings = { port, isReadOnly: options.readOnly === true, needsNewAddress: options.newToken === true };
  using signals = new StopSignals();
  await servePage(io, settings, signals.drain, (server) => {
    const url = server.address(name);
    if (options.json) io.print(JSON.stringify({ url, port: server.port, pid: process.pid }));
    else tell(io, url, server.port);
    if (options.open) openBrowser(io, server.addressForBrowser(name));
  });
  return EXIT.done;
}

function tell(io: Io, url: string, port: number): void {
  io.print(url);
  const remote = io.env.SSH_CONNECTION ? ` From your own machine: \`${tunnel(port)}\`.` : '';
  io.print(`Ctrl-C ends the page; runs continue. Keep the address to yourself: it holds the key.${remote}`);
}

function readPort(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const port = /^\d{1,5}$/.test(text) ? Number(text) : 2 ** 16;
  if (port < 2 ** 16) return port;
  throw new NightshiftError('usage', `--port ${JSON.stringify(text)} is not a port`, 'write a number: --port 8080');
}

const LOOPBACK = ['127.0.0.1', 'localhost'];

/** Whoever can reach the page can run programs as this user. */
function refuseOtherHosts(host: string | undefined, port: number | undefined): void {
  if (host === undefined || LOOPBACK.includes(host)) return;
  const hint = `from another machine: \`${tunnel(port ?? 'PORT')}\`, then open the address there`;
  throw new NightshiftError('usage', `the page is served on 127.0.0.1 only, not on ${host}`, hint);
}

function tunnel(port: number | string): string {
  return `ssh -L ${port}:127.0.0.1:${port} HOST`;
}

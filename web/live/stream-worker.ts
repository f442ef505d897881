import { StreamHub, type Viewer, type Wish } from './stream-hub.ts';

/** Shared by all windows of a browser: together they have one connection of the few that a browser opens to a server. */
const hub = new StreamHub((address) => new EventSource(address));

addEventListener('connect', (event) => {
  const port = (event as MessageEvent).ports[0]!;
  const viewer: Viewer = (message) => port.postMessage(message);
  port.onmessage = ({ data }: MessageEvent<Wish | null>) => hub.update(viewer, data ?? undefined);
});

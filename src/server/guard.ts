/** Why a request gets no answer: what the client is told. */
export interface Refusal {
  readonly status: number;
  readonly code: RefusalCode;
  readonly message: string;
  readonly hint?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

type RefusalCode =
  | 'bad-request'
  | 'bad-host'
  | 'bad-origin'
  | 'bad-site'
  | 'no-session'
  | 'bad-token'
  | 'too-many-tries'
  | 'read-only'
  | 'not-found'
  | 'bad-method'
  | 'not-json'
  | 'no-header'
  | 'too-large'
  | 'too-many-streams'
  | 'closing';

/** `headers`: every value that was sent, in the order of the request. */
export interface RequestHead {
  readonly target: string;
  readonly headers: Readonly<Record<string, readonly string[] | undefined>>;
}

/**
 * Rule S8: what every request has to pass before anything else looks at it, for files, reads and streams alike. A page
 * of another origin can make a browser send requests here, and with a name that it lets point to this machine, also
 * without an Origin. So the name counts first.
 */
export function refuse({ target, headers }: RequestHead, port: number): Refusal | undefined {
  const [host, ...moreHosts] = headers.host ?? [];
  if (host === undefined || moreHosts.length > 0 || !hostsOf(port).includes(host.toLowerCase())) return BAD_HOST;
  if (!target.startsWith('/')) return badRequest('the target of a request is a path');
  if (headers.upgrade !== undefined) return { ...badRequest('no upgrade'), headers: { Connection: 'close' } };
  const origins = headers.origin ?? [];
  if (origins.some((origin) => origin !== `http://${host}`)) return BAD_ORIGIN;
  const sites = headers['sec-fetch-site'] ?? [];
  if (sites.some((site) => site !== 'same-origin' && site !== 'none')) return BAD_SITE;
  return undefined;
}

/** Browsers leave out the port of http. */
function hostsOf(port: number): string[] {
  const names = ['127.0.0.1', 'localhost'];
  return names.flatMap((name) => [`${name}:${port}`, ...(port === 80 ? [name] : [])]);
}

const BAD_HOST: Refusal = {
  status: 403,
  code: 'bad-host',
  message: 'this page has another address',
  hint: 'open the address that `nightshift view` printed; over SSH, forward the same port',
};

const BAD_ORIGIN: Refusal = {
  status: 403,
  code: 'bad-origin',
  message: 'requests from other pages are refused',
};

const BAD_SITE: Refusal = {
  status: 403,
  code: 'bad-site',
  message: 'links from other pages are refused',
  hint: 'paste the address into the address bar',
};

export function badRequest(message: string): Refusal {
  return { status: 400, code: 'bad-request', message };
}

/** What a form or a script of another origin can't send without asking first, and asking is refused. */
export function refuseWrite({ headers }: RequestHead): Refusal | undefined {
  const [type = '', ...more] = headers['content-type'] ?? [];
  if (more.length > 0 || !/^application\/json(?:; ?charset=utf-8)?$/i.test(type)) {
    return { status: 415, code: 'not-json', message: 'send application/json' };
  }
  if (headers['x-nightshift']?.join() !== 'page') {
    return { status: 403, code: 'no-header', message: 'send the header X-Nightshift: page' };
  }
  return undefined;
}

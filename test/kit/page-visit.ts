import { type RawAnswer, send, WRITE_HEADERS } from './served-page.ts';

interface PageAnswer {
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: answers of every kind
  readonly answer: any;
}

function answerIn({ status, body }: RawAnswer): PageAnswer {
  return { status, answer: JSON.parse(body) };
}

/** What a browser does with the address of a page. */
export class PageVisit {
  readonly port: number;
  readonly token: string;
  #cookie = '';

  constructor(address: URL) {
    this.port = Number(address.port);
    this.token = address.hash.replace('#token=', '');
  }

  get cookie(): string {
    return this.#cookie;
  }

  /** With the token of the address, or another one. */
  async open(token = this.token): Promise<RawAnswer> {
    const body = JSON.stringify({ token });
    const answer = await send(this.port, 'POST', '/api/session', { headers: WRITE_HEADERS, body });
    this.#cookie = answer.headers['set-cookie']?.split(';')[0] ?? this.#cookie;
    return answer;
  }

  async get(path: string): Promise<PageAnswer> {
    return answerIn(await send(this.port, 'GET', path, { headers: { Cookie: this.#cookie } }));
  }

  async act(shift: string, action: object): Promise<PageAnswer> {
    const headers = { ...WRITE_HEADERS, Cookie: this.#cookie };
    return answerIn(await send(this.port, 'POST', '/api/act', { headers, body: JSON.stringify({ shift, action }) }));
  }
}

/** The reason of an aborted stop signal: who asked, such as `SIGINT`. */
export class StopRequest extends Error {
  override readonly name = 'AbortError';
  readonly by: string;

  constructor(by: string) {
    super(`stopped by ${by}`);
    this.by = by;
  }
}

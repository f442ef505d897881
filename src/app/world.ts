/** What the application has of the world; given to it, so that it asks for nothing else. */
export interface World {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  now(): number;
}

/** The environment of the application, as an argument. */
export interface World {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  now(): number;
}

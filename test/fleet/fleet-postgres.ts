import { beforeAll } from 'vitest';
import { FleetDatabase } from '../../src/fleet/database.ts';
import { describeServer, startTestPostgres, type TestPostgres } from '../kit/postgres.ts';

/** Tests that share a server with the schema of a fleet. */
export function describeFleet(name: string, tests: (postgres: TestPostgres) => void): void {
  describeServer(name, (postgres) => {
    beforeAll(() => install(postgres));
    tests(postgres);
  });
}

/** A server with the schema of a fleet: workers can join before a coordinator has started. */
export async function startFleetPostgres(): Promise<TestPostgres> {
  const postgres = await startTestPostgres();
  await install(postgres);
  return postgres;
}

async function install({ url }: TestPostgres): Promise<void> {
  await using database = new FleetDatabase({ url, isInsecure: false });
  await database.install();
}

import { test } from 'vitest';
import { findConfiner } from '../../src/agents/process/sandbox.ts';

/** Left out where bubblewrap is missing or may not be used. CI installs it and asks for these tests. */
const isRun = process.env.NIGHTSHIFT_TEST_SANDBOX === 'yes' || 'file' in (await findConfiner());

export const sandboxTest = test.runIf(isRun);

#!/usr/bin/env node
import './no-node-warnings.ts';

// A hook runs before every tool call of an agent: it loads nothing that it does not need.
if (process.argv[2] === 'hook') {
  const { runHook } = await import('./hook.ts');
  process.exitCode = runHook(process.argv.slice(3), process.env);
} else {
  await import('./run-program.ts');
}

#!/usr/bin/env node
import './no-node-warnings.ts';

// A hook runs before every tool call of an agent: it loads nothing that it does not need.
if (process.argv[2] === 'hook') {
  const { runHook } = await import('./hook.ts');
  process.exitCode = runHook(process.argv.slice(3), process.env);
} else {
  const { letGoOfLostTerminal, processIo } = await import('./io.ts');
  const { runProgram, tellOf } = await import('./run-program.ts');
  const io = processIo();
  // For what is thrown where nothing waits for it. The guard ends what runs.
  process.on('uncaughtException', (error) => process.exit(tellOf(io, error, process.argv)));
  const code = await runProgram(io, process.argv);
  letGoOfLostTerminal();
  process.exit(code);
}

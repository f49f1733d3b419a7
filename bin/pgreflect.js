#!/usr/bin/env node
/**
 * The command `pgreflect` of the installed package: runs dist/main.js with a Node that is recent enough.
 *
 * That is this very process where possible, else the pinned Node as a child that gets our signals and gives us its exit
 * code, so that a supervisor sees one well-behaved process either way.
 */
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { missingRuntimeMessage, pinnedRuntime, runtimeIsEnough } from './runtime.js';
import './stop-with-parent.js';

const main = new URL('../dist/main.js', import.meta.url);

if (runtimeIsEnough()) {
  await import(main.href);
} else {
  const binary = pinnedRuntime();
  if (binary === null) {
    process.stderr.write(missingRuntimeMessage);
    process.exitCode = 1;
  } else {
    runWith(binary);
  }
}

function runWith(binary) {
  const child = spawn(binary, [fileURLToPath(main), ...process.argv.slice(2)], { stdio: 'inherit' });
  // Ctrl-C reaches the child from the terminal itself; sent once more it would cut the orderly stop short.
  process.on('SIGINT', () => {});
  for (const signal of ['SIGTERM', 'SIGHUP', 'SIGUSR2']) process.on(signal, () => child.kill(signal));
  child.on('error', (problem) => {
    process.stderr.write(`Cannot run ${binary}: ${problem.message}\n`);
    process.exitCode = 1;
  });
  child.on('exit', (code, signal) => {
    if (signal === null) process.exit(code ?? 1);
    process.removeAllListeners(signal);
    process.kill(process.pid, signal);
  });
}

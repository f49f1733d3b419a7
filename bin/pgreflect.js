#!/usr/bin/env node
/**
 * The command `pgreflect`: runs dist/main.js of the installed package, in a checkout src/main.ts without a build, with a Node that is
 * recent enough.
 *
 * That is this very process where possible, else the pinned Node as a child that gets our signals and gives us its exit
 * code, so that a supervisor sees one well-behaved process either way.
 */
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import {
  missingPackagesMessage,
  missingRuntimeMessage,
  pinnedRuntime,
  runtimeIsEnough,
  sourceProgram,
} from './runtime.js';
import './stop-with-parent.js';

const main = sourceProgram ?? new URL('../dist/main.js', import.meta.url);
const missingPackages = missingPackagesMessage();
const binary = pinnedRuntime();

if (missingPackages !== null) refuse(missingPackages);
else if (runtimeIsEnough()) await import(main.href);
else if (binary === null) refuse(missingRuntimeMessage());
else runWith(binary);

function refuse(message) {
  process.stderr.write(message);
  process.exitCode = 1;
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

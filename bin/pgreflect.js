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

/**
 * For gateways: V8 would let short-lived objects fill up to 128 MiB before it collects them. It takes the limit only when it starts. An
 * operator's own limit wins.
 */
const isGateway = process.argv[2] === 'serve' || process.argv[2] === 'start';
const hasLimit = /--max[-_]semi[-_]space[-_]size/.test(`${process.execArgv.join(' ')} ${process.env.NODE_OPTIONS}`);
const flags = isGateway && !hasLimit ? ['--max-semi-space-size=16'] : [];

const main = sourceProgram ?? new URL('../dist/main.js', import.meta.url);
const missingPackages = missingPackagesMessage();
const binary = pinnedRuntime();

if (missingPackages !== null) refuse(missingPackages);
else if (runtimeIsEnough()) await runHere();
else if (binary === null) refuse(missingRuntimeMessage());
else runWith(binary);

function refuse(message) {
  process.stderr.write(message);
  process.exitCode = 1;
}

/** With flags in this process started anew, which keeps its ID; without where the platform or its permissions do not allow that. */
async function runHere() {
  if (flags.length > 0 && process.execve !== undefined && process.platform !== 'win32') {
    const args = [...flags, ...process.execArgv, fileURLToPath(import.meta.url), ...process.argv.slice(2)];
    try {
      process.execve(process.execPath, [process.execPath, ...args], process.env);
    } catch {}
  }
  await import(main.href);
}

function runWith(binary) {
  const child = spawn(binary, [...flags, fileURLToPath(main), ...process.argv.slice(2)], { stdio: 'inherit' });
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

#!/usr/bin/env node
/**
 * The command `pgreflect`: runs dist/main.js of the installed package, in a checkout src/main.ts without a build, with a Node that is
 * recent enough.
 *
 * That is this very process where possible: it becomes the pinned Node if its own is too old. A Node before 22.15 cannot become
 * another program. There the pinned Node is a child that gets our signals, gives us its end, and ends when we are gone.
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

const missingPackages = missingPackagesMessage();
const binary = runtimeIsEnough() ? process.execPath : pinnedRuntime();

if (missingPackages !== null) refuse(missingPackages);
else if (binary === null) refuse(missingRuntimeMessage());
else if (binary !== process.execPath) become(binary, flags) || runAsChild(binary);
else if (flags.length === 0 || !become(binary, [...flags, ...process.execArgv])) await runHere();

function refuse(message) {
  process.stderr.write(message);
  process.exitCode = 1;
}

async function runHere() {
  const main = sourceProgram ?? new URL('../dist/main.js', import.meta.url);
  await import(main.href);
}

/** This command again, in this process, which keeps its ID. Returns false where the platform or its permissions do not allow that. */
function become(binary, options) {
  if (process.execve === undefined || process.platform === 'win32') return false;
  try {
    process.execve(binary, [binary, ...options, ...ownArguments()], process.env);
  } catch {}
  return false;
}

function ownArguments() {
  return [fileURLToPath(import.meta.url), ...process.argv.slice(2)];
}

function runAsChild(binary) {
  const env = { ...process.env, PGREFLECT_LAUNCHER: String(process.pid) };
  const child = spawn(binary, [...flags, ...ownArguments()], { stdio: 'inherit', env });
  // A terminal sends some of them to the child, too, which takes the two for one.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGQUIT', 'SIGHUP', 'SIGUSR2']) {
    process.on(signal, () => child.kill(signal));
  }
  child.on('error', (problem) => refuse(`Cannot run ${binary}: ${problem.message}\n`));
  child.on('exit', (code, signal) => {
    if (signal === null) process.exit(code ?? 1);
    process.removeAllListeners(signal);
    process.kill(process.pid, signal);
  });
}

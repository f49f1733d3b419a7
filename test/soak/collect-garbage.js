/**
 * Loaded into the gateway: collects all garbage now and then, and writes what is left, in bytes, to the file of SOAK_MEMORY_FILE:
 * what the program holds, and what the engine has compiled of the program. What a process has otherwise is mostly garbage that nobody
 * needed to collect yet.
 */
import { writeFileSync } from 'node:fs';
import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { isMainThread } from 'node:worker_threads';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc');

function note() {
  collect();
  const { heapUsed, external } = process.memoryUsage();
  const compiled = getHeapSpaceStatistics()
    .filter(({ space_name: name }) => /code|trusted/.test(name))
    .reduce((sum, { space_used_size: size }) => sum + size, 0);
  writeFileSync(process.env.SOAK_MEMORY_FILE, `${heapUsed + external - compiled} ${compiled}\n`);
}

if (isMainThread) {
  note();
  setInterval(note, Number(process.env.SOAK_MEMORY_EVERY_MS)).unref();
}

/**
 * What the bench sees of a server from outside: the pauses of its garbage collector.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, test } from 'vitest';
import { pausesEnvironment, takePauses } from '../../bench/src/pauses-of.ts';

test('a process tells its pauses, each once', async () => {
  const program = `let kept = []; for (let n = 0; n < 3e6; n += 1) kept.push({ n }); gc(); console.log('ready'); setInterval(() => {}, 1e5);`;
  const child = spawn(process.execPath, ['--expose-gc', '-e', program], {
    env: { ...process.env, ...pausesEnvironment() },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  try {
    await once(child.stdout!, 'data');
    const first = await takePauses([child.pid!]);
    expect(first.count).toBeGreaterThan(3);
    expect(first.longestMs).toBeGreaterThan(0);
    expect(first.totalMs).toBeGreaterThanOrEqual(first.longestMs);
    // One more may come while it idles, but not those again.
    expect((await takePauses([child.pid!])).count).toBeLessThan(first.count);
  } finally {
    child.kill();
  }
});

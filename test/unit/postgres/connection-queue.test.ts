/**
 * Who gets the next connection, and who is refused on arrival. Time is given, so that nothing depends on how fast the machine is.
 */
import { beforeEach, describe, expect, test } from 'vitest';
import { DatabaseError } from '../../../src/postgres/database-error.ts';
import { ConnectionQueue, type Turn } from '../../../src/postgres/pool/connection-queue.ts';

let now = 0;
/** Share of the time in which the process is idle. */
let idle = 1;
let log: string[];
beforeEach(() => {
  now = 0;
  idle = 1;
  log = [];
});

const open = (size: number, waitMs = 1000) =>
  new ConnectionQueue({ size, waitMs, now: () => now, idleNow: () => now * idle });
const slow = (role: string, caller = 'one'): Turn => ({ role, caller, isQuick: false, startedAt: 0 });
const quick = (role: string, caller = 'one'): Turn => ({ role, caller, isQuick: true, startedAt: 0 });

/** Holds so many connections. */
function hold(queue: ConnectionQueue, turn: Turn, count: number): readonly Turn[] {
  const turns = Array.from({ length: count }, () => ({ ...turn }));
  expect(turns.map((each) => queue.take(each))).toEqual(turns.map(() => true));
  return turns;
}

/** Waits under a name, which is logged when it has its turn or is refused. */
function wait(queue: ConnectionQueue, turn: Turn, name: string): Turn {
  const own = { ...turn };
  queue.wait(own).then(
    () => log.push(name),
    (problem) => log.push(`${name}: ${problem.kind}`),
  );
  return own;
}

const settled = () => new Promise((resolve) => setImmediate(resolve));

describe('whose turn it is', () => {
  test('a free connection is taken without waiting', () => {
    const queue = open(3);
    hold(queue, slow('anon'), 3);
    expect(queue.take(slow('anon'))).toBe(false);
    expect(queue.waiting).toBe(0);
  });

  test('within a role the first that came is the first served', async () => {
    const queue = open(1);
    let [held] = hold(queue, slow('anon'), 1) as [Turn];
    const waiting = ['a', 'b', 'c'].map((name) => wait(queue, slow('anon'), name));
    for (const next of waiting) {
      queue.leave(held);
      held = next;
    }
    await settled();
    expect(log).toEqual(['a', 'b', 'c']);
  });

  test('roles that hold the same number take turns, however many wait in one of them', async () => {
    const queue = open(1);
    let [held] = hold(queue, slow('crowd'), 1) as [Turn];
    const turns = new Map(
      ['crowd 1', 'crowd 2', 'crowd 3', 'other 1', 'other 2'].map((name) => {
        return [name, wait(queue, slow(name.split(' ')[0]!), name)];
      }),
    );
    for (let round = 0; round < 5; round += 1) {
      queue.leave(held);
      await settled();
      held = turns.get(log.at(-1)!)!;
    }
    expect(log).toEqual(['crowd 1', 'other 1', 'crowd 2', 'other 2', 'crowd 3']);
  });

  test('a request that leaves the queue costs its role no turn', async () => {
    const queue = open(1);
    const [held] = hold(queue, slow('third'), 1) as [Turn];
    const left = wait(queue, slow('first'), 'first left');
    wait(queue, slow('first'), 'first');
    wait(queue, slow('second'), 'second');
    queue.withdraw(left, new DatabaseError({ kind: 'cancelled', primary: 'Gone.' }));
    queue.leave(held);
    await settled();
    expect(log).toEqual(['first left: cancelled', 'first']);
  });

  test('the role that holds fewer connections is next, until both hold the same', async () => {
    const queue = open(6);
    const held = hold(queue, quick('crowd'), 6);
    wait(queue, quick('crowd'), 'crowd');
    for (const name of ['other 1', 'other 2', 'other 3', 'other 4']) wait(queue, quick('other'), name);
    for (const turn of held.slice(0, 4)) queue.leave(turn);
    await settled();
    expect(log).toEqual(['other 1', 'other 2', 'other 3', 'crowd']);
  });

  test('one connection is kept from the slow statements of a role that holds all others', async () => {
    const queue = open(5);
    const held = [...hold(queue, slow('crowd'), 3), ...hold(queue, slow('crowd', 'two'), 1)];
    expect(queue.take(slow('crowd', 'two'))).toBe(false);
    wait(queue, slow('crowd'), 'slow one');
    expect(queue.take(slow('other'))).toBe(true);
    queue.leave(slow('other'));
    // Quick ones of the role itself may have it, past the slow ones that wait.
    expect(queue.take(quick('crowd'))).toBe(true);
    queue.leave(quick('crowd'));
    await settled();
    expect(log).toEqual([]);
    queue.leave(held[0]!);
    await settled();
    expect(log).toEqual(['slow one']);
  });

  test('one more is kept from the slow statements of a single caller', async () => {
    const queue = open(5);
    const held = hold(queue, slow('anon', 'greedy'), 3);
    expect(queue.take(slow('anon', 'greedy'))).toBe(false);
    for (const name of ['greedy 1', 'greedy 2']) wait(queue, slow('anon', 'greedy'), name);
    // Another caller of the same role is served at once, and again.
    const [other] = hold(queue, slow('anon', 'other'), 1) as [Turn];
    queue.leave(other);
    expect(queue.take(slow('anon', 'other'))).toBe(true);
    await settled();
    expect(log).toEqual([]);
    queue.leave(held[0]!);
    await settled();
    expect(log).toEqual(['greedy 1']);
  });

  test('callers of a role take turns, however many requests of one of them wait', async () => {
    const queue = open(1);
    let [held] = hold(queue, quick('anon', 'crowd'), 1) as [Turn];
    const turns = new Map(
      ['crowd 1', 'crowd 2', 'crowd 3', 'other 1', 'other 2'].map((name) => [
        name,
        wait(queue, quick('anon', name.split(' ')[0]!), name),
      ]),
    );
    for (let round = 0; round < 5; round += 1) {
      queue.leave(held);
      await settled();
      held = turns.get(log.at(-1)!)!;
    }
    expect(log).toEqual(['other 1', 'crowd 1', 'other 2', 'crowd 2', 'crowd 3']);
  });

  test('nobody waits longer than allowed', async () => {
    const queue = open(1, 10);
    hold(queue, slow('anon'), 1);
    await expect(queue.wait(slow('anon'))).rejects.toMatchObject({ kind: 'overloaded' });
    expect(queue.waiting).toBe(0);
  });

  test('one that has left the queue is not served, and is in nobody’s way', async () => {
    const queue = open(1);
    const [held] = hold(queue, slow('anon'), 1) as [Turn];
    const leaving = wait(queue, slow('anon'), 'leaving');
    wait(queue, slow('anon'), 'staying');
    queue.withdraw(leaving, Object.assign(new Error(), { kind: 'left' }) as never);
    queue.leave(held);
    await settled();
    expect(log).toEqual(['leaving: left', 'staying']);
  });
});

describe('who is refused on arrival', () => {
  /** A queue of one connection, held, in which turns take so long, with so many of `crowd` waiting. */
  function busy({ turnMs, waiting, waitMs = 1000 }: { turnMs: number; waiting: number; waitMs?: number }) {
    const queue = open(1, waitMs);
    let [held] = hold(queue, slow('crowd'), 1) as [Turn];
    const first = wait(queue, slow('crowd'), 'first');
    const others = Array.from({ length: waiting }, (_, index) => wait(queue, slow('crowd'), `crowd ${index}`));
    now += turnMs;
    queue.leave(held);
    held = first;
    return { queue, held, others };
  }

  test('nobody for the requests of another caller of the same role', () => {
    const { queue } = busy({ turnMs: 100, waiting: 30 });
    expect(queue.admits('crowd', 'one')).toBe(false);
    expect(queue.admits('crowd', 'another')).toBe(true);
  });

  test('nobody as long as nothing is known of how long a turn takes', () => {
    const queue = open(1);
    hold(queue, slow('anon'), 1);
    for (let count = 0; count < 100; count += 1) wait(queue, slow('anon'), '');
    expect(queue.waiting).toBe(100);
  });

  test('who could not be served in time', async () => {
    // Behind 9 others it is the tenth turn of 100 ms each; behind 10 it would be the eleventh.
    const { queue } = busy({ turnMs: 100, waiting: 9 });
    expect(queue.admits('crowd', 'one')).toBe(true);
    wait(queue, slow('crowd'), 'last');
    expect(queue.admits('crowd', 'one')).toBe(false);
    wait(queue, slow('crowd'), 'too late');
    await settled();
    expect(log).toContain('too late: overloaded');
    expect(log).not.toContain('last: overloaded');
  });

  test('not the first of a role, nor those whom turns of their own role let in', () => {
    const { queue } = busy({ turnMs: 200, waiting: 5 });
    expect(queue.admits('crowd', 'one')).toBe(false);
    expect(queue.admits('other', 'one')).toBe(true);
    wait(queue, slow('other'), '');
    expect(queue.admits('other', 'one')).toBe(true);
    wait(queue, slow('other'), '');
    // The third of one role comes sixth: three turns of the other, two of its own.
    expect(queue.admits('other', 'one')).toBe(false);
  });

  test('everybody but the first of a role, while no turn ends for longer than the longest wait', () => {
    const { queue } = busy({ turnMs: 1, waiting: 1 });
    now += 900;
    expect(queue.admits('crowd', 'one')).toBe(true);
    now += 200;
    expect(queue.admits('crowd', 'one')).toBe(false);
    expect(queue.admits('other', 'one')).toBe(true);
  });

  describe('in a queue that stays long', () => {
    /** Turns take 10 ms each; of those that come in each 10 ms, returns how many were let in. */
    function serve(queue: ConnectionQueue, turns: number, arrivals: number): number {
      let admitted = 0;
      // Its length is what matters, not which of them it was.
      const served = () => ({ ...slow('crowd'), startedAt: now - 10 });
      for (let turn = 0; turn < turns; turn += 1) {
        now += 10;
        queue.leave(served());
        admitted += arrive(queue, arrivals);
      }
      return admitted;
    }

    function arrive(queue: ConnectionQueue, count: number): number {
      const before = queue.waiting;
      for (let arrival = 0; arrival < count; arrival += 1) wait(queue, slow('crowd'), '');
      return queue.waiting - before;
    }

    function start(waiting: number, size = 1): ConnectionQueue {
      const queue = open(size);
      hold(queue, size === 1 ? slow('crowd') : quick('crowd'), size);
      arrive(queue, waiting);
      return queue;
    }

    test('who would wait for longer than a sixth of the longest wait', () => {
      const queue = start(1);
      serve(queue, 100, 2);
      expect(queue.waiting).toBe(16);
      // No connection is idle for it.
      expect(serve(queue, 100, 2)).toBe(100);
      expect(serve(queue, 12, 0)).toBe(0);
      expect(serve(queue, 100, 1)).toBe(100);
    });

    test('also where it grows slowly', () => {
      const queue = start(12);
      for (let round = 0; round < 20; round += 1) {
        serve(queue, 4, 1);
        serve(queue, 1, 2);
      }
      expect(queue.waiting).toBe(16);
    });

    test('nobody in a burst that is over before a ninth of the longest wait', () => {
      const queue = start(1);
      expect(serve(queue, 11, 9)).toBe(99);
      expect(serve(queue, 60, 0)).toBe(0);
      expect(queue.waiting).toBe(29);
      expect(arrive(queue, 1)).toBe(0);
    });

    test('nobody before the longest wait where the process itself is too busy', () => {
      idle = 0.05;
      const queue = start(1);
      serve(queue, 200, 2);
      expect(queue.waiting).toBe(100);
    });

    test('nobody for whom each connection has a turn only', () => {
      const queue = start(5, 5);
      now += 300;
      queue.leave({ ...quick('crowd'), startedAt: 0 });
      expect(queue.waiting).toBe(4);
      expect(arrive(queue, 10)).toBe(1);
    });

    test('nobody while clients come and no turn has ended', () => {
      const queue = start(1);
      for (let arrival = 0; arrival < 90; arrival += 1) {
        now += 10;
        expect(arrive(queue, 1)).toBe(1);
      }
    });
  });

  test('nobody where there is no limit', () => {
    const { queue } = busy({ turnMs: 1e9, waiting: 50, waitMs: 0 });
    now += 1e9;
    expect(queue.admits('crowd', 'one')).toBe(true);
  });

  test('nobody any more once the queue was empty', () => {
    const { queue, held, others } = busy({ turnMs: 600, waiting: 1 });
    expect(queue.admits('crowd', 'one')).toBe(false);
    queue.leave(held);
    queue.leave(others[0]!);
    hold(queue, slow('crowd'), 1);
    for (let count = 0; count < 20; count += 1) wait(queue, slow('crowd'), '');
    expect(queue.waiting).toBe(20);
  });
});

describe('a pause of the whole process', () => {
  /** Nothing of this process runs for so long, as when it is stopped. Events that come meanwhile are late. */
  async function pause(ms: number): Promise<void> {
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
    // What was to happen meanwhile happens first.
    await new Promise((resolve) => setTimeout(resolve, 1));
  }

  test('is no reason to refuse one who waits', async () => {
    const queue = new ConnectionQueue({ size: 1, waitMs: 500 });
    const [held] = hold(queue, slow('anon'), 1) as [Turn];
    wait(queue, slow('anon'), 'patient');
    await pause(600);
    queue.leave(held);
    await settled();
    expect(log).toEqual(['patient']);
  });

  test('makes nobody expect longer turns', async () => {
    // Turns of two seconds would be too long, those of a busy machine are not.
    const queue = new ConnectionQueue({ size: 8, waitMs: 5000 });
    const held = hold(queue, quick('anon'), 8);
    for (let count = 0; count < 47; count += 1) wait(queue, quick('anon'), 'served');
    await pause(2000);
    for (const turn of held) queue.leave(turn);
    expect(queue.admits('anon', 'one')).toBe(true);
  });
});

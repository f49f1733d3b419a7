/**
 * Who gets the next connection, and who is refused.
 */
import { beforeEach, describe, expect, test } from 'vitest';
import { DatabaseError } from '../../../src/postgres/database-error.ts';
import { ConnectionQueue, type Turn } from '../../../src/postgres/pool/connection-queue.ts';

let log: string[];
beforeEach(() => {
  log = [];
});

const open = (size: number, waitMs = 60_000) => new ConnectionQueue({ size, waitMs });
const turn = (role: string, caller = 'one'): Turn => ({ role, caller });

/** Holds so many connections. */
function hold(queue: ConnectionQueue, of: Turn, count: number): readonly Turn[] {
  const turns = Array.from({ length: count }, () => ({ ...of }));
  expect(turns.map((each) => queue.take(each))).toEqual(turns.map(() => true));
  return turns;
}

/** Waits under a name, which is logged when it has its turn or is refused. */
function wait(queue: ConnectionQueue, of: Turn, name: string): Turn {
  const own = { ...of };
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
    hold(queue, turn('anon'), 3);
    expect(queue.take(turn('anon'))).toBe(false);
    expect(queue.waiting).toBe(0);
  });

  test('within a role the first that came is the first served', async () => {
    const queue = open(1);
    let [held] = hold(queue, turn('anon'), 1) as [Turn];
    const waiting = ['a', 'b', 'c'].map((name) => wait(queue, turn('anon'), name));
    for (const next of waiting) {
      queue.leave(held);
      held = next;
    }
    await settled();
    expect(log).toEqual(['a', 'b', 'c']);
  });

  test('roles that hold the same number take turns, however many wait in one of them', async () => {
    const queue = open(1);
    let [held] = hold(queue, turn('crowd'), 1) as [Turn];
    const turns = new Map(
      ['crowd 1', 'crowd 2', 'crowd 3', 'other 1', 'other 2'].map((name) => {
        return [name, wait(queue, turn(name.split(' ')[0]!), name)];
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
    const [held] = hold(queue, turn('third'), 1) as [Turn];
    const left = wait(queue, turn('first'), 'first left');
    wait(queue, turn('first'), 'first');
    wait(queue, turn('second'), 'second');
    queue.withdraw(left, new DatabaseError({ kind: 'cancelled', primary: 'Gone.' }));
    queue.leave(held);
    await settled();
    expect(log).toEqual(['first left: cancelled', 'first']);
  });

  test('the role that holds fewer connections is next, until both hold the same', async () => {
    const queue = open(4);
    const held = hold(queue, turn('crowd'), 4);
    wait(queue, turn('crowd'), 'crowd');
    for (const name of ['other 1', 'other 2', 'other 3']) wait(queue, turn('other'), name);
    for (const each of held.slice(0, 3)) queue.leave(each);
    await settled();
    expect(log).toEqual(['other 1', 'other 2', 'crowd']);
  });

  test('one connection is kept from a role that holds all others', async () => {
    const queue = open(5);
    const held = [...hold(queue, turn('crowd'), 3), ...hold(queue, turn('crowd', 'two'), 1)];
    expect(queue.take(turn('crowd', 'three'))).toBe(false);
    wait(queue, turn('crowd'), 'waiting');
    expect(queue.take(turn('other'))).toBe(true);
    queue.leave(turn('other'));
    await settled();
    expect(log).toEqual([]);
    queue.leave(held[0]!);
    await settled();
    expect(log).toEqual(['waiting']);
  });

  test('one more is kept from a single caller', async () => {
    const queue = open(5);
    const held = hold(queue, turn('anon', 'greedy'), 3);
    expect(queue.take(turn('anon', 'greedy'))).toBe(false);
    for (const name of ['greedy 1', 'greedy 2']) wait(queue, turn('anon', 'greedy'), name);
    // Another caller of the same role is served at once, and again.
    const [other] = hold(queue, turn('anon', 'other'), 1) as [Turn];
    queue.leave(other);
    expect(queue.take(turn('anon', 'other'))).toBe(true);
    await settled();
    expect(log).toEqual([]);
    queue.leave(held[0]!);
    await settled();
    expect(log).toEqual(['greedy 1']);
  });

  test('callers of a role take turns, however many requests of one of them wait', async () => {
    const queue = open(1);
    let [held] = hold(queue, turn('anon', 'crowd'), 1) as [Turn];
    const turns = new Map(
      ['crowd 1', 'crowd 2', 'crowd 3', 'other 1', 'other 2'].map((name) => [
        name,
        wait(queue, turn('anon', name.split(' ')[0]!), name),
      ]),
    );
    for (let round = 0; round < 5; round += 1) {
      queue.leave(held);
      await settled();
      held = turns.get(log.at(-1)!)!;
    }
    expect(log).toEqual(['other 1', 'crowd 1', 'other 2', 'crowd 2', 'crowd 3']);
  });

  test('who has two requests waits with the second for nobody who keeps coming after it', async () => {
    const queue = open(1);
    let [held] = hold(queue, turn('anon', 'first'), 1) as [Turn];
    const turns = new Map([1, 2].map((at) => [`two ${at}`, wait(queue, turn('anon', 'two'), `two ${at}`)]));
    for (let round = 1; round <= 4; round += 1) {
      turns.set(`new ${round}`, wait(queue, turn('anon', `new ${round}`), `new ${round}`));
      queue.leave(held);
      await settled();
      held = turns.get(log.at(-1)!)!;
    }
    expect(log).toEqual(['two 1', 'new 1', 'new 2', 'two 2']);
  });

  test('nobody waits longer than allowed', async () => {
    const queue = open(1, 10);
    hold(queue, turn('anon'), 1);
    await expect(queue.wait(turn('anon'))).rejects.toMatchObject({ kind: 'overloaded' });
    expect(queue.waiting).toBe(0);
  });

  test('one that has left the queue is not served, and is in nobody’s way', async () => {
    const queue = open(1);
    const [held] = hold(queue, turn('anon'), 1) as [Turn];
    const leaving = wait(queue, turn('anon'), 'leaving');
    wait(queue, turn('anon'), 'staying');
    queue.withdraw(leaving, Object.assign(new Error(), { kind: 'left' }) as never);
    queue.leave(held);
    await settled();
    expect(log).toEqual(['leaving: left', 'staying']);
  });
});

describe('a full queue', () => {
  /** A queue of one connection, held, in which so many of `crowd` wait. */
  function busy(waiting: number, waitMs?: number): { readonly queue: ConnectionQueue; readonly held: Turn } {
    const queue = open(1, waitMs);
    const [held] = hold(queue, turn('crowd'), 1) as [Turn];
    for (let count = 0; count < waiting; count += 1) wait(queue, turn('crowd'), `crowd ${count}`);
    return { queue, held };
  }

  test('a full queue refuses those who have a request in it, until one is served', async () => {
    const { queue, held } = busy(99);
    expect(queue.admits('crowd', 'one')).toBe(true);
    wait(queue, turn('crowd'), 'last');
    expect(queue.admits('crowd', 'one')).toBe(false);
    wait(queue, turn('crowd'), 'too late');
    await settled();
    expect(log).toEqual(['too late: overloaded']);
    queue.leave(held);
    expect(queue.admits('crowd', 'one')).toBe(true);
  });

  test('a full queue lets in the first request of another caller, and those of other roles', () => {
    const { queue } = busy(100);
    expect(queue.admits('crowd', 'another')).toBe(true);
    wait(queue, turn('crowd', 'another'), 'first');
    expect(queue.admits('crowd', 'another')).toBe(false);
    wait(queue, turn('other'), 'first');
    expect(queue.admits('other', 'one')).toBe(true);
  });

  test('a full queue refuses also where a wait has no limit', () => {
    expect(busy(100, 0).queue.admits('crowd', 'one')).toBe(false);
  });
});

describe('a pause of the whole process', () => {
  /** Nothing of this process runs for so long, as when it is stopped. Events that come meanwhile are late. */
  async function pause(ms: number): Promise<void> {
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
    // What was to happen meanwhile happens first.
    await new Promise((resolve) => setTimeout(resolve, 1));
  }

  test('a pause of the whole process is no reason to refuse one who waits', async () => {
    const queue = new ConnectionQueue({ size: 1, waitMs: 500 });
    const [held] = hold(queue, turn('anon'), 1) as [Turn];
    wait(queue, turn('anon'), 'patient');
    await pause(600);
    queue.leave(held);
    await settled();
    expect(log).toEqual(['patient']);
  });
});

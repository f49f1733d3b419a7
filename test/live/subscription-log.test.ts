/** What is observed, and so logged, of a subscription that has ended: one line, without any value. */
import { expect, test } from 'vitest';
import type { SubscriptionObservation } from '../../src/shared/observation.ts';
import { testGateway } from '../support/gateway.ts';
import { anonKey, token } from '../support/http.ts';
import { overEvents, overSocket } from '../support/live.ts';
import { createDatabase } from '../support/postgres.ts';

const database = await createDatabase(`
  comment on schema public is '@graphql({"inflect_names": true})';
  create table note (id int primary key, body text); grant select on note to anon, authenticated`);
const notes = 'subscription Notes($body: String) { noteCollection(filter: { body: { neq: $body } }) { nodes { id } } }';

test.each([
  ['Server-Sent Events', overEvents],
  ['a WebSocket', overSocket],
] as const)(
  'a subscription over %s is observed at its end, with its name, role, runs, events and reason',
  async (_name, subscribe) => {
    const gateway = await testGateway(database, { liveIntervalMs: 100, drainTimeoutMs: 1000 });
    const ended = () => gateway.observations.filter((one) => one.kind === 'subscription') as SubscriptionObservation[];
    const reasons = () => ended().map(({ ended }) => ended);
    const open = (query: string, headers: Readonly<Record<string, string>> = { apikey: anonKey }) =>
      subscribe(gateway.url, { query, variables: query === notes ? { body: 'a secret' } : {}, headers });

    const left = open(notes);
    await left.next();
    await database.query(`insert into note select coalesce(max(id), 0) + 1, 'new' from note`);
    await left.next();
    expect(ended()).toEqual([]);
    left.stop();
    await expect.poll(ended).toMatchObject([{ role: 'anon', operationName: 'Notes', events: 2, ended: 'client' }]);
    const [first] = ended();
    expect(first!.runs).toBeGreaterThanOrEqual(2);
    expect(first!.totalMs).toBeGreaterThan(0);
    expect(first!.documentHash).toMatch(/^\w+/);
    expect(JSON.stringify(first)).not.toContain('secret');

    // A token is good for 30 seconds more.
    const soon = { sub: 'ada', role: 'authenticated', exp: Math.floor(Date.now() / 1000) - 20 };
    const expired = open(notes, { apikey: anonKey, authorization: `Bearer ${await token(soon)}` });
    await expired.next();
    await expired.end;
    await expect.poll(reasons).toEqual(['client', 'UNAUTHENTICATED']);
    expect(ended()[1]).toMatchObject({ role: 'authenticated', events: 1 });

    const refused = open('subscription { nothing { id } }');
    await Promise.race([refused.next(), refused.end]);
    await expect.poll(reasons).toEqual(['client', 'UNAUTHENTICATED', 'GRAPHQL_VALIDATION_FAILED']);
    expect(ended()[2]).toMatchObject({ operationName: null, events: 0 });

    await open(notes).next();
    await gateway.stop();
    await expect.poll(reasons).toEqual(['client', 'UNAUTHENTICATED', 'GRAPHQL_VALIDATION_FAILED', 'stopping']);
  },
);

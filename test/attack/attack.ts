/**
 * Raw requests for attacks, and the look at the damage: the process lives, the table is there, the rows are as they were.
 */
import { expect } from 'vitest';
import type { TestGateway } from '../support/gateway.ts';
import { anonKey } from '../support/http.ts';
import type { TestDatabase } from '../support/postgres.ts';

/** What came back. */
export interface RawReply {
  readonly status: number;
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: a test reads what it expects
  readonly body: any;
  readonly headers: Headers;
}

/** Posts a body as it is. */
export async function post(
  gateway: TestGateway,
  body: string | Uint8Array<ArrayBuffer>,
  headers: Record<string, string> = {},
): Promise<RawReply> {
  const response = await fetch(`${gateway.url}/graphql/v1`, {
    method: 'POST',
    headers: { apikey: anonKey, 'content-type': 'application/json', ...headers },
    body,
  });
  const text = await response.text();
  return { status: response.status, text, body: JSON.parse(text), headers: response.headers };
}

/** `text` so many times, with something in the middle and the end as often. */
export function nest(times: number, open: string, close: string, middle = ''): string {
  return open.repeat(times) + middle + close.repeat(times);
}

/** What must never be in an answer: SQL, stacks, paths, our own names. */
const forbidden = [
  /\bselect\b.*\bfrom\b/i,
  /node_modules/,
  /\bat .*\.ts:\d/,
  /\/src\//,
  /set_config/,
  /pgreflect[_:]/,
  /json_build|row_to_json/,
];

/** Asserts that an answer shows nothing of the inside. */
export function expectNothingLeaked(text: string): void {
  for (const pattern of forbidden) expect(text).not.toMatch(pattern);
}

/** Asserts that the gateway lives and the rows of `test/fixtures/attack-victim.sql` are as they were. */
export async function expectNoDamage(gateway: TestGateway, database: TestDatabase): Promise<void> {
  expect((await fetch(`${gateway.url}/health`)).status).toBe(200);
  expect(await database.query('select id, owner, body from victim order by id')).toEqual(victims);
  const { body } = await gateway.ask('{ victimCollection { totalCount edges { node { id } } } }');
  expect(body).toEqual({ data: { victimCollection: { totalCount: 1, edges: [{ node: { id: 1 } }] } } });
}

const victims = [
  { id: 1, owner: 'anon', body: 'seen by all' },
  { id: 2, owner: 'ann', body: 'seen by ann' },
];

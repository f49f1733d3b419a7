/**
 * Migrations without pause while clients ask: every answer fits the state of what was asked for before or after a migration that
 * was under way. `npm run test:race` takes ten minutes of it.
 */
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { type Json, startExecution } from '../support/execution.ts';
import { createDatabase } from '../support/postgres.ts';
import { type Migration, migrations, refused, schema } from './migrations.ts';

/** For both tests together. */
const seconds = Number(process.env.RACE_SECONDS ?? 2);
const clients = 8;
/** A test goes on until so many requests have been answered. */
const fewest = 60;

/** A migration that goes to and fro: how often it has begun, and been committed. */
interface Course {
  readonly migration: Migration;
  begun: number;
  committed: number;
}

test.each([
  ['with the schema-change trigger, by a schema that is not older than the request', true],
  ['without it, by a schema that is true or was', false],
])(
  'requests that race with migrations are answered %s',
  async (_, watched) => {
    const database = await createDatabase(schema);
    if (watched) {
      await database.query(readFileSync(new URL('../../sql/watch.sql', import.meta.url), 'utf8'));
      await database.query(
        'grant usage on schema pgreflect to authenticator; grant select on pgreflect.catalog_change to authenticator',
      );
    }
    const execution = await startExecution(database, { pollMs: 1000 });
    expect((await execution.role('anon')).catalog.hasChangeTrigger).toBe(watched);
    const courses = migrations.map((migration): Course => ({ migration, begun: 0, committed: 0 }));
    const until = performance.now() + (seconds / 2) * 1000;
    let answered = 0;
    let refusals = 0;
    const isOver = () =>
      performance.now() > until && answered + refusals >= fewest && courses.every(({ committed }) => committed > 0);

    async function migrate(): Promise<void> {
      for (let at = 0; !isOver(); at += 1) {
        const course = courses[at % courses.length]!;
        course.begun += 1;
        await database.query(`begin; ${course.migration.to[course.begun % 2]}; commit`);
        course.committed += 1;
        await sleep(Math.random() * 15);
      }
    }

    const wrong: string[] = [];
    async function ask(seed: number): Promise<void> {
      for (let at = seed; !isOver(); at += 1) {
        const course = courses[at % courses.length]!;
        const probe = course.migration.probes[Math.floor(at / courses.length) % course.migration.probes.length]!;
        const oldest = watched ? course.committed : course.begun - 1;
        const body = await execution.run('anon', probe.query);
        // Honest where every single run of a request meets a change.
        if (body.errors?.[0].message === tooFast) {
          refusals += 1;
          continue;
        }
        answered += 1;
        const newest = course.begun;
        const possible = newest > oldest ? probe.answers : [probe.answers[newest % 2]!];
        const answer = JSON.stringify(answerOf(body));
        if (possible.some((each) => JSON.stringify(each) === answer)) continue;
        wrong.push(`${course.migration.name}, ${oldest} to ${newest}, ${probe.query}: ${JSON.stringify(body)}`);
      }
    }

    await Promise.all([migrate(), ...Array.from({ length: clients }, (_, seed) => ask(seed))]);
    const masked = execution.observations.flatMap((each) => (each.kind === 'masked_error' ? [String(each.error)] : []));
    expect([wrong.slice(0, 10), masked.slice(0, 10)]).toEqual([[], []]);
    // Who is always told to try again is never answered wrongly. About one of a hundred is; on a busy machine more.
    expect(refusals, `of ${answered + refusals} requests, as many were told to try again`).toBeLessThan(answered);
  },
  (seconds + 120) * 1000,
);

const tooFast = 'The schema is changing faster than it can be read. Try again.';

function answerOf(body: Json): Json {
  const isRefused = body.errors?.every((error: Json) => error.extensions.code === 'GRAPHQL_VALIDATION_FAILED');
  return body.errors === undefined ? body.data : isRefused ? refused : body;
}

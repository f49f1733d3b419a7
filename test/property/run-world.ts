/**
 * Runs random operations against one random world and reports those whose answers do not fit.
 */
import type { TestDatabase } from '../support/postgres.ts';
import { type Checked, checkMutation, checkQuery, type Mismatch } from './check-operation.ts';
import { generateMutation } from './generate-mutation.ts';
import { generateQuery, type Operation } from './generate-query.ts';
import type { Random } from './random.ts';
import { shrink } from './shrink.ts';
import { claims, createStage, type Stage } from './stage.ts';
import { generateWalk, type Ran, walkPages } from './walk-pages.ts';
import { type Role, roles } from './world.ts';

/** A world to try. */
export interface WorldRun {
  readonly random: Random;
  readonly prefix: string;
  readonly operations: number;
}

/** How a world went. */
export interface WorldResult {
  /** Report of the first operation that failed; null: none did. */
  readonly failure: string | null;
  /** Operations whose answer held at least one row: a run of empty answers proves nothing. */
  readonly withRows: number;
}

/** Part of the operations that are mutations. */
const mutationShare = 0.2;

/** Runs operations until one fails. */
export async function runWorld(database: TestDatabase, { random, prefix, operations }: WorldRun): Promise<WorldResult> {
  const stage = await createStage(database, random.fork(), prefix);
  let withRows = 0;
  let role = random.pick(roles);
  for (let count = 0; count < operations; count++) {
    const { material } = await stage.scene(role);
    const mutation = random.chance(mutationShare) ? generateMutation(random.fork(), stage.world, material) : null;
    const page = mutation === null && random.chance(walkShare) ? generateWalk(random.fork(), material) : null;
    const { operation, mismatch, hasRows } = await (page === null
      ? run(stage, role, mutation ?? generateQuery(random.fork(), material))
      : walkPages(material, page, (query) => run(stage, role, query)));
    if (hasRows) withRows += 1;
    if (mismatch) return { failure: await report(stage, role, operation, mismatch), withRows };
    // Only now, because the rows of a role have to be read again after a change anyway.
    if (mutation !== null) role = random.pick(roles);
  }
  await stage.close();
  return { failure: null, withRows };
}

/** Part of the queries that are asked for one page after the other, until every row was seen. */
const walkShare = 0.04;

async function run(stage: Stage, role: Role, operation: Operation): Promise<Ran> {
  return { operation, ...(await check(stage, role, operation)) };
}

const evaluatorFailed = 'the evaluator failed';

async function check(stage: Stage, role: Role, operation: Operation): Promise<Checked> {
  try {
    return await (isMutation(operation) ? checkMutation : checkQuery)(stage, role, operation);
  } catch (error) {
    // An operation made smaller may lack what a function needs: the transaction that reads the rows ends with it.
    await stage.changed();
    const actual = error instanceof Error ? String(error.stack) : String(error);
    return { mismatch: { where: evaluatorFailed, expected: 'an answer', actual }, hasRows: false, answer: null };
  }
}

async function report(stage: Stage, role: Role, original: Operation, first: Mismatch): Promise<string> {
  // A mutation has changed the rows: it cannot be tried again.
  const operation = isMutation(original)
    ? original
    : await shrink(original, (smaller) => failsAlike(stage, role, smaller, first));
  const mismatch = isMutation(original) ? first : ((await check(stage, role, operation)).mismatch ?? first);
  return [
    `${stage.script.join(';\n')};`,
    `-- ${mismatch.where}, as role ${role}`,
    operation.query,
    `variables ${showJson(operation.variables)}`,
    `expected  ${mismatch.expected}`,
    `actual    ${mismatch.actual}`,
    ...(await statementTexts(stage, role, operation)),
  ].join('\n');
}

/** A request that is refused as a whole is another failure than a wrong answer, or than one that is refused for something else. */
async function failsAlike(stage: Stage, role: Role, operation: Operation, first: Mismatch): Promise<boolean> {
  const { mismatch } = await check(stage, role, operation);
  const kindOf = ({ where, actual }: Mismatch) => {
    if (where === 'a request error') return `${where} ${JSON.parse(actual).errors?.[0]?.message}`;
    return where === evaluatorFailed ? `${where} ${actual.split('\n')[0]}` : 'an answer';
  };
  return mismatch !== null && kindOf(mismatch) === kindOf(first);
}

async function statementTexts(stage: Stage, role: Role, operation: Operation): Promise<string[]> {
  try {
    const statements = await stage.execution.statements(role, operation.query, {
      variables: operation.variables,
      claims,
    });
    return statements.map(({ text }) => `sql       ${text}`);
  } catch (error) {
    return [`sql       none: ${String(error)}`];
  }
}

function isMutation({ query }: Operation): boolean {
  return query.startsWith('mutation');
}

function showJson(value: unknown): string {
  return JSON.stringify(value, (_, item) => (typeof item === 'bigint' ? String(item) : item));
}

/**
 * Runs one operation through the product and compares its answer with the evaluator's.
 */
import type { Answer } from '../../src/graphql/execute/executor.ts';
import { findDifference, parseJson, showValue, type Value } from './canonical.ts';
import { readDocument } from './document.ts';
import { evaluateMutation } from './evaluate-mutation.ts';
import { cursorOf, hasDigest } from './evaluate-page.ts';
import { type Expected, evaluateQuery } from './evaluate-query.ts';
import type { Operation } from './generate-query.ts';
import type { KnownCursor } from './generate-values.ts';
import { readTables } from './reader.ts';
import { claims, type Stage } from './stage.ts';
import type { Role } from './world.ts';

/** What did not fit. */
export interface Mismatch {
  readonly where: string;
  readonly expected: string;
  readonly actual: string;
}

/** What came of comparing one operation. */
export interface Checked {
  /** Null: as expected. */
  readonly mismatch: Mismatch | null;
  /** Whether some row was in the answer or written: comparing nothing with nothing proves little. */
  readonly hasRows: boolean;
  /** What the product answered; null: it was not asked. */
  readonly answer: Answer | null;
}

/** Compares one query. */
export async function checkQuery(stage: Stage, role: Role, operation: Operation): Promise<Checked> {
  const { model, snapshot } = await stage.scene(role);
  const document = readDocument(operation.query, operation.variables);
  const known = stage.cursors.get(role);
  let hasRows = false;
  const expected = await evaluateQuery({
    document,
    model,
    snapshot,
    oracle: stage.oracle,
    onPage(entity, { order }, page) {
      const row = page.rows[page.rows.length >> 1];
      hasRows ||= row !== undefined;
      if (row && known && !hasDigest(order)) remember(known, { entity, order, text: cursorOf(order, row) });
    },
  });
  const answer = await stage.execution.answer(role, operation.query, { variables: operation.variables, claims });
  return { mismatch: compareAnswer(expected, answer), hasRows, answer };
}

/** Compares an answer; null: as expected. */
function compareAnswer(expected: Expected, answer: Answer): Mismatch | null {
  const body = parseJson(String(answer.body)) as ReadonlyMap<string, Value>;
  const errors = (body.get('errors') ?? []) as readonly ReadonlyMap<string, Value>[];
  const wanted = `${showValue(expected.data)}\n${JSON.stringify(expected.errors)}`;
  const mismatch = (where: string): Mismatch => ({ where, expected: wanted, actual: String(answer.body) });
  if (!body.has('data')) return mismatch('a request error');
  const difference = findDifference(expected.data, body.get('data') as Value);
  if (difference !== null) return mismatch(`data${difference}`);
  if (errors.length !== expected.errors.length) return mismatch('the number of errors');
  if (expected.errors.length === 0 && body.has('errors')) return mismatch('an empty list of errors');
  for (const [index, { message, path, sqlstate }] of expected.errors.entries()) {
    const error = errors[index] as ReadonlyMap<string, Value>;
    if (message !== null && error.get('message') !== message) return mismatch(`errors[${index}].message`);
    const state = (error.get('extensions') as ReadonlyMap<string, Value>).get('sqlstate');
    // Which of several rows fails first is PostgreSQL's choice, so only the class of the error is known.
    if (sqlstate !== undefined && state !== undefined && String(state).slice(0, 2) !== sqlstate.slice(0, 2)) {
      return mismatch(`errors[${index}].extensions.sqlstate`);
    }
    if (path !== null && (error.get('path') as readonly Value[])?.[0] !== path)
      return mismatch(`errors[${index}].path`);
  }
  return null;
}

/** Compares one mutation: its answer, and what all tables hold afterwards. */
export async function checkMutation(stage: Stage, role: Role, operation: Operation): Promise<Checked> {
  const { client, world, oracle } = stage;
  const { model } = await stage.scene(role);
  await stage.changed();
  const before = await readTables(client, world.relations);
  const document = readDocument(operation.query, operation.variables);
  const expected = await evaluateMutation({ client, world, role, model, oracle, claims }, document);
  const answer = await stage.execution.answer(role, operation.query, { variables: operation.variables, claims });
  const after = await readTables(client, world.relations);
  const wrong = compareAnswer(expected.answer, answer);
  const hasRows = expected.tables !== null;
  if (wrong) return { mismatch: wrong, hasRows, answer };
  for (const [name, rows] of expected.tables ?? before) {
    const [wanted, actual] = [rows.join('\n'), (after.get(name) ?? []).join('\n')];
    if (wanted !== actual)
      return { mismatch: { where: `the rows of ${name}`, expected: wanted, actual }, hasRows, answer };
  }
  return { mismatch: null, hasRows, answer };
}

/** Keeps the latest cursors, so that later operations go on from pages of many kinds. */
function remember(known: KnownCursor[], cursor: KnownCursor): void {
  known.push(cursor);
  if (known.length > 60) known.shift();
}

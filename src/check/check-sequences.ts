/**
 * Finds sequences of `serial` and identity columns that will generate keys which rows already have, as after an import with keys
 * of its own. Each maximum is one look-up in an index, as the service role; hundreds stand in one statement.
 *
 * Only with a login such as the gateway's: who owns a table may put a view in its place after it was found.
 */
import { loadSqlFile } from '../postgres/system/sql-file.ts';
import { asStatement, type Check, type Finding } from './finding.ts';
import { whyNotGatewayLogin } from './gateway-login.ts';
import { tooLong, tryRead } from './try-read.ts';

const atOnce = 100;
const maxTotalMs = 10_000;

/** One row of sql/check/sequences.sql. */
interface SequenceRow {
  readonly name: string;
  readonly sequence: string;
  readonly state: string;
  readonly most: string;
  readonly fix: string;
}

/** Sequences behind their column. */
export const findSequencesBehind: Check = async ({ tx, schemas, roles, serviceRole }) => {
  const found = await tx.query(loadSqlFile('check/sequences.sql'), [schemas, serviceRole]);
  const rows = found as readonly unknown[] as readonly SequenceRow[];
  if (rows.length === 0) return [];
  const reason = await whyNotGatewayLogin(tx, 'Sequences compared with their columns', [...roles, serviceRole]);
  if (reason !== null) return [note(reason)];
  tx.noteUserCode?.();
  const findings: Finding[] = [];
  const until = performance.now() + maxTotalMs;
  for (let from = 0; from < rows.length; from += atOnce) {
    const some = rows.slice(from, from + atOnce);
    const statement = some.map(({ state }) => state).join(' union all ');
    const read = performance.now() > until ? tooLong : await tryRead(tx, serviceRole, statement);
    if (!('rows' in read)) return [...findings, notCompared('denied' in read ? read.denied : read.unknown)];
    const states = read.rows as readonly { position: string; highest: string | null; next: string }[];
    findings.push(...states.flatMap((state) => describe(rows[Number(state.position) - 1]!, state)));
  }
  return findings;
};

function describe(
  { name, sequence, most, fix }: SequenceRow,
  { highest, next }: { readonly highest: string | null; readonly next: string },
): readonly Finding[] {
  if (highest === null || BigInt(highest) < BigInt(next) || BigInt(highest) > BigInt(most)) return [];
  const message = `The sequence ${sequence} generates ${next} next, but ${name} has values up to ${highest}: inserts without a value fail where they meet one.`;
  return [{ check: 'sequence_behind', severity: 'warning', object: name, message, fix: asStatement(fix) }];
}

function notCompared(reason: string): Finding {
  return note(`Not all sequences were compared with their columns: ${reason}.`);
}

function note(message: string): Finding {
  return { check: 'sequence_behind', severity: 'note', object: null, message, fix: null };
}

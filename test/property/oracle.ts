/**
 * Asks PostgreSQL one question at a time about values alone: does each of these values of a type stand in this relation to
 * that one, and what is the sum of these. What `<`, `like` or a sum mean is PostgreSQL's; what is compared is decided here.
 */
import type pg from 'pg';
import { Num, parseJson, type Value } from './canonical.ts';
import type { Cell } from './reader.ts';
import type { AggregateFunction, Type } from './types.ts';

/** Truth of SQL: null is unknown. */
export type Truth = boolean | null;

/** An operand: a text, a list of texts, or null. */
export type Operand = string | null | readonly (string | null)[];

/** Operators over the value `v` and the operand `$2`; T stands for the column's type. */
const operators: Readonly<Record<string, string>> = {
  eq: 'v::T = $2::text::T',
  neq: 'v::T <> $2::text::T',
  lt: 'v::T < $2::text::T',
  lte: 'v::T <= $2::text::T',
  gt: 'v::T > $2::text::T',
  gte: 'v::T >= $2::text::T',
  in: 'v::T = any($2::text[]::T[])',
  startsWith: `starts_with(v::T::text, case when 'T' in ('character(3)', 'bpchar') then rtrim($2::text, ' ') else $2::text end)`,
  like: 'v::T like $2::text',
  ilike: 'v::T ilike $2::text',
  regex: 'v::T ~ $2::text',
  iregex: 'v::T ~* $2::text',
  contains: 'v::T @> $2::text[]::T',
  containedBy: 'v::T <@ $2::text[]::T',
  overlaps: 'v::T && $2::text[]::T',
  'eq list': 'v::T = $2::text[]::T',
  // A path that cannot be applied to a value is false.
  'finds path': `case when v is not null then coalesce(jsonb_path_exists(v::jsonb, $2::text::jsonpath, '{}', true), false) end`,
  'meets path': `case when v is not null then coalesce(jsonb_path_match(v::jsonb, $2::text::jsonpath, '{}', true), false) end`,
};

/** Answers questions, and remembers the answers. */
export interface Oracle {
  /** Truth for each distinct text of a column's values. Null is asked as well: it is not in an empty list, which is known. */
  compare(
    type: Type,
    operator: string,
    texts: readonly (string | null)[],
    operand: Operand,
  ): Promise<ReadonlyMap<string | null, Truth>>;
  /** Cells of values of a type, in their order. */
  cells(type: Type, texts: readonly (string | null)[]): Promise<readonly Cell[]>;
  aggregate(type: Type, name: AggregateFunction, texts: readonly (string | null)[]): Promise<Value>;
  /** What is made of each distinct text, and its place among them. @param expression Over the value `v`. */
  rank(expression: string, texts: readonly (string | null)[]): Promise<ReadonlyMap<string | null, Ranked>>;
}

/** A value that was made: equal ones have equal ranks, greater ones greater; null has none. */
export interface Ranked {
  readonly rank: number | null;
  readonly output: Value;
}

/** An oracle on a connection of its own. */
export function createOracle(client: pg.ClientBase): Oracle {
  const known = new Map<string, Truth>();
  const aggregates = new Map<string, Value>();
  return {
    async compare(type, operator, texts, operand) {
      const questionOf = (text: string | null) => JSON.stringify([type.sql, operator, operand, text]);
      const distinct = [...new Set(texts)];
      const open = distinct.filter((text) => !known.has(questionOf(text)));
      if (open.length > 0) {
        const condition = operators[type.isList && operator === 'eq' ? 'eq list' : operator];
        if (condition === undefined) throw new Error(`There is no operator ${operator}.`);
        const text = `select (${condition.replaceAll('T', () => type.comparedAs ?? type.sql)}) from unnest($1::text[]) with ordinality as u (v, n) order by n`;
        const { rows } = await client.query<[Truth]>({ text, values: [open, operand], rowMode: 'array' });
        for (const [index, value] of open.entries()) known.set(questionOf(value), rows[index]?.[0] ?? null);
      }
      return new Map(distinct.map((text) => [text, known.get(questionOf(text)) ?? null]));
    },
    async cells({ sql }, texts) {
      const rank = `case when v is not null then dense_rank() over (order by v::${sql}) end::text`;
      const text = `select v, to_jsonb(v::${sql})::text, ${rank} from unnest($1::text[]) with ordinality as u (v, n) order by n`;
      const { rows } = await client.query<(string | null)[]>({ text, values: [texts], rowMode: 'array' });
      return rows.map(([value = null, jsonb, rank]) => {
        return { text: value, jsonb: jsonb ?? 'null', output: null, rank: Number(rank ?? 0) };
      });
    },
    async aggregate(type, name, texts) {
      const question = JSON.stringify([type.sql, name, texts]);
      const answer = aggregates.get(question);
      if (answer !== undefined) return answer;
      const { rows } = await client.query<[string | null]>({
        text: `select to_jsonb(${aggregateOf(type, name)})::text from unnest($1::text[]) as u (v)`,
        values: [texts],
        rowMode: 'array',
      });
      const value = parseJson(rows[0]?.[0] ?? 'null');
      const shown = value instanceof Num && !/^-?\d+$/.test(value.text) ? new Num(value.text, true) : value;
      aggregates.set(question, shown);
      return shown;
    },
    async rank(expression, texts) {
      const distinct = [...new Set(texts)];
      const made = `select n, (${expression}) as made from unnest($1::text[]) with ordinality as u (v, n)`;
      const { rows } = await client.query<[string | null, string | null]>({
        text: `select case when made is not null then dense_rank() over (order by made) end::text, to_jsonb(made)::text from (${made}) as m order by n`,
        values: [distinct],
        rowMode: 'array',
      });
      return new Map(
        distinct.map((text, index) => {
          const [rank = null, output = null] = rows[index] ?? [];
          return [text, { rank: rank === null ? null : Number(rank), output: parseJson(output ?? 'null') }];
        }),
      );
    },
  };
}

const ofNumbers: Partial<Record<AggregateFunction, string>> = {
  avg: 'avg',
  stddev: 'stddev_samp',
  variance: 'var_samp',
};

function aggregateOf(type: Type, name: AggregateFunction): string {
  if (name in ofNumbers) return `${ofNumbers[name]}(v::${type.sql}::numeric)`;
  if (name === 'boolAnd' || name === 'boolOr') return `bool_${name.slice(4).toLowerCase()}(v::${type.sql})`;
  if (type.sql === 'boolean' && name !== 'sum') return name === 'min' ? 'bool_and(v::boolean)' : 'bool_or(v::boolean)';
  return `${name}(v::${type.sql})`;
}

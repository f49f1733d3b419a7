/**
 * What is measured: for each case the operation in our dialect and in PostGraphile's, the values that change from request
 * to request, and the best SQL that gives our answer, written by hand. Reads are in read-cases.ts, writes in write-cases.ts, reads
 * over related rows, measured apart, in related-cases.ts.
 */
import { readCases } from './read-cases.ts';
import { relatedCases } from './related-cases.ts';
import { writeCases } from './write-cases.ts';

/** What a client sends beside the operation: the same to pgreflect and to the hand-written servers. */
export type Variables = Readonly<Record<string, unknown>>;

/** One operation, the same for every server. */
export interface Operation {
  /** The operation as pgreflect understands it, and its variables for the n-th value. */
  readonly ours: string;
  readonly variables: (n: number) => Variables;
  /** Null where it has no such thing. */
  readonly postgraphile: string | null;
  /** Where PostGraphile's variables differ from ours. */
  readonly postgraphileVariables?: (n: number) => Variables;
  /** The whole `data` as one JSON text; the fastest of the variants that were tried. */
  readonly handwritten: string;
  /** Values of `$1`, `$2`, … in it, which the hand-written servers make of the variables for each request. */
  readonly parameters: (variables: Variables) => readonly string[];
  /** The same without any JSON: the limit of what PostgreSQL can give. Null for writes. */
  readonly bare: string | null;
}

/** One line of the table. */
export interface BenchCase {
  readonly name: string;
  readonly title: string;
  /** Asked in turn; the same one several times where it shall be more frequent. */
  readonly operations: readonly Operation[];
  /** What `n` runs through, so that no request repeats the one before. */
  readonly values: readonly number[];
  /** Rows are used up: runs as their owner before each load, which then asks for each number up to `size` once. */
  readonly refill?: (size: number) => readonly string[];
  /** We send several statements for it, which pgbench does not measure. */
  readonly hasSeveralStatements?: boolean;
  /** A cursor behind this key is bound to `$c`; each server gets its own form of it. */
  readonly deepKey?: number;
}

/** In the order of the table. */
export const cases: readonly BenchCase[] = [...readCases, ...writeCases];

/** With those that are measured apart. */
export const everyCase: readonly BenchCase[] = [...cases, ...relatedCases];

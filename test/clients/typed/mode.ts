/** What the programs of this folder share. typed.nightly.test.ts writes scalars.ts, from the table of docs/clients.md. */
import { jsonIsText, type Scalars } from './scalars.ts';

export type { Scalars };

export const endpoint = `${process.env.API_URL}/graphql/v1`;
export const headers = { apikey: process.env.ANON_KEY ?? '' };

/** A value for a column of JSON, as it travels. */
export const encode = (value: object): Scalars['JSON'] => (jsonIsText ? JSON.stringify(value) : (value as never));

type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;

/** Prints what a value is when the program runs. The compiler accepts it if its static type is the wanted one, no wider and no narrower. */
export function check<Actual, Wanted>(
  name: string,
  value: unknown,
  ..._: Equal<Actual, Wanted> extends true ? [] : [never]
): void {
  console.log(`${name}: ${typeof value}`);
}

/** The order directions, shared by all inputs that order rows. */
import { StringEnumType } from './enum-types.ts';

/** The four directions, coerced to their names. */
export const orderByDirectionType = new StringEnumType({
  name: 'OrderByDirection',
  values: { AscNullsFirst: {}, AscNullsLast: {}, DescNullsFirst: {}, DescNullsLast: {} },
});

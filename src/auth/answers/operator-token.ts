/** The token with which an operator acts as a user, for the studio. */
import { about, integer, named, objectOf, text, type ValueOf } from '../../shared/schema.ts';

/** The answer. */
export const operatorToken = named(
  'OperatorToken',
  objectOf({ accessToken: text, expiresAt: about(integer, 'Seconds since the epoch.') }),
);

/** The answer. */
export type OperatorToken = ValueOf<typeof operatorToken>;

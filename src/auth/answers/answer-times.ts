/** Times in answers, in RFC 3339. */
import { about, type JsonPrinter, optional, text } from '../../shared/schema.ts';
import { type Time, toOptionalRfc3339, toRfc3339 } from '../../shared/times.ts';

const moment = about(text, { format: 'date-time' });

/** A time that is never null in our rows; rows written by hand may lack it. */
export const knownTime: JsonPrinter<Time | null> = {
  ...moment,
  print: (time) => (time === null ? '0001-01-01T00:00:00Z' : toRfc3339(time)),
};

/** A time, left out if null. */
export const optionalTime: JsonPrinter<Time | null> = optional({ ...moment, print: toOptionalRfc3339 });

/** A time, or null. */
export const timeOrNull: JsonPrinter<Time | null> = {
  ...about(moment, { type: ['string', 'null'] }),
  print: (time: Time | null) => toOptionalRfc3339(time) ?? null,
};

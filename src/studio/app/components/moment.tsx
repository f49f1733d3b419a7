/** Times, in one format for all pages: the reader's language and zone. */

const moment = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' });
const day = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium' });
const time = new Intl.DateTimeFormat(undefined, { timeStyle: 'medium' });
const minute = new Intl.DateTimeFormat(undefined, { timeStyle: 'short' });
const exact = new Intl.DateTimeFormat(undefined, { dateStyle: 'full', timeStyle: 'long' });

/** A time as text: day, hour, minute, second. @param at ISO 8601, or milliseconds since 1970. */
export function momentText(at: string | number): string {
  return moment.format(new Date(at));
}

/** The hour and the minute as text. @param at Milliseconds since 1970. */
export function minuteText(at: number): string {
  return minute.format(new Date(at));
}

interface MomentProps {
  /** ISO 8601; of a day without a time, that day everywhere. */
  readonly at: string;
  /** Shows the day alone. */
  readonly isDay?: boolean;
  /** Shows the time of the day alone. */
  readonly isTime?: boolean;
}

/** A time; whoever rests on it reads its zone, too. What a browser cannot read, such as `infinity`, stays as it is. */
export function Moment({ at, isDay = false, isTime = false }: MomentProps) {
  const shown = new Date(/^\d{4}-\d\d-\d\d$/.test(at) ? `${at}T00:00` : at);
  if (Number.isNaN(shown.getTime())) return at;
  return (
    <time dateTime={at} title={exact.format(shown)}>
      {(isDay ? day : isTime ? time : moment).format(shown)}
    </time>
  );
}

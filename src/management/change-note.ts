/**
 * What a client is told of a change of the configuration: a sentence, and its parts for clients that have names of their
 * own for fields.
 */
import { sayFinding, type TemplateFinding } from '../email/lint/finding.ts';
import {
  about,
  flag,
  integer,
  listOf,
  objectOf,
  oneOf,
  optional,
  orNull,
  text,
  type ValueOf,
} from '../shared/schema.ts';

const parts = {
  message: about(text, 'The whole sentence.'),
  field: about(orNull(text), 'The field that it is about; null for none.'),
  language: optional(about(text, 'Of the translation that it is about.')),
  part: optional(about(oneOf('subject', 'content', 'text'), 'Of the translation.')),
  partial: optional(about(text, 'Name of the partial that it is about.')),
  in_force: optional(about(flag, '`true`: it is about a text that the change leaves as it is.')),
  line: optional(about(integer, 'Line of the text, from 1.')),
  column: optional(about(integer, 'Column of the line, from 1.')),
  ended: optional(about(listOf(text), 'Languages whose built-in texts end with the change.')),
  reason: about(text, 'The sentence without field and place.'),
};

/** A warning. */
export const changeNote = objectOf(parts);

/** One of several things that are wrong with a change. */
export const changeProblem = objectOf({
  ...parts,
  allow_warnings: about(flag, 'It is stored without `?allow_warnings=false`.'),
});

/** A sentence and its parts. */
export type ChangeNote = ValueOf<typeof changeNote>;
/** A sentence and its parts. */
export type ChangeProblem = ValueOf<typeof changeProblem>;

/** Which text of a field it is about. */
export type TextPlace = Pick<ChangeNote, 'language' | 'part' | 'partial' | 'in_force'>;

/** About a field's value. @param reason The rest of a sentence: "must be an integer". */
export function noteOnValue(field: string, reason: string): ChangeNote {
  return { message: `${field} ${reason}`, field, reason };
}

/** About no field, or several. @param field The first of them that a client would look at. */
export function noteOnChange(message: string, field: string | null = null): ChangeNote {
  return { message, field, reason: message };
}

/** About a text of a field. */
export function noteOnText(field: string, finding: TemplateFinding, place: TextPlace = {}): ChangeNote {
  const { language, part, partial, in_force: isInForce = false } = place;
  const state = finding.name === 'deep-link' ? ', which is in force' : ', which is in force, would fail';
  const translation = language === undefined ? '' : `${language}, ${part}: `;
  const where = partial === undefined ? translation : `"${partial}", `;
  const { line, column } = finding;
  return {
    message: `${field}${isInForce ? state : ''}: ${where}${sayFinding(finding)}`,
    field,
    ...place,
    ...(line !== null && column !== null && { line, column }),
    reason: sayFinding({ ...finding, line: null }),
  };
}

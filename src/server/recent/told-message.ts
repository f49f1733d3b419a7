/**
 * What operators may read of an error of somebody's request: its message without anything that the client or a row has.
 *
 * Messages of ours quote no value, apart from those of a few codes. Those codes, and what graphql-js and PostgreSQL say,
 * pass only as one of the sentences below, where what is quoted is a name. A name is what GraphQL's grammar has as one:
 * no literal, no key of a variable's value.
 */
import { DatabaseError } from '../../postgres/database-error.ts';
import type { Code, PublicError } from '../../shared/errors.ts';

/** Longest message. */
const maxLength = 300;
/** Most messages of a request, which can have as many errors as root fields. */
export const maxMessages = 3;

/** The first different messages, three at most, with their places in the document. */
export function toldMessages(errors: readonly PublicError[]): readonly string[] {
  const told = new Set<string>();
  for (const error of errors.slice(0, maxRead)) {
    const message = toldMessage(error);
    if (message !== null && message.length <= maxLength) told.add(message + placeOf(error));
    if (told.size === maxMessages) break;
  }
  return [...told];
}

/** A hundred errors are rarely of more than three kinds, and each takes time to read. */
const maxRead = 10;

function placeOf({ details }: PublicError): string {
  const [place] = details.locations ?? [];
  return place === undefined ? '' : ` (line ${place.line}, column ${place.column})`;
}

function toldMessage({ code, message, details: { cause, isOfNames } }: PublicError): string | null {
  if (isOfNames === true) return message;
  // The author of a function decides what it says, often with values.
  if (code === 'RAISED' || (cause instanceof DatabaseError && cause.raised)) return null;
  if (code === 'GRAPHQL_PARSE_FAILED') return withoutToken(message);
  return quoting.has(code) ? asSentence(message) : message;
}

/** Codes whose messages may quote what was sent. */
const quoting: ReadonlySet<Code> = new Set<Code>(['GRAPHQL_VALIDATION_FAILED', 'BAD_USER_INPUT', 'ROLE_NOT_ALLOWED']);

/** A parser quotes what it expects, which is punctuation, then what it found. */
function withoutToken(message: string): string {
  return message.replace(/^((?:[^"]|"(?:[!$&()[\]{}:=@|]|\.{3})")*)".*$/s, '$1…');
}

/** The kinds of parts of a sentence. */
const parts: Readonly<Record<string, string>> = {
  NAME: '[_A-Za-z]\\w{0,99}',
  TYPE: '[\\w[\\]!]{1,120}',
  // A field or argument with what it belongs to, such as `Query.node(nodeId:)`.
  PLACE: '@?\\w{1,100}(?:\\.\\w{1,100})?(?:\\(\\w{1,100}:\\))?',
  // Below a variable or argument: fields and indices, as far as the type knows them.
  WITHIN: '(?: at (?:\\.[_A-Za-z]\\w{0,99}|\\[\\d{1,9}\\]){1,20})?',
  WORDS: '[a-z][a-z0-9 -]{0,60}',
  // A type of PostgreSQL.
  SQL: '[a-z][a-z0-9 _(),]{0,60}',
};

/** What graphql-js suggests: names of the schema. */
const suggestion = '(?: Did you mean (?:[a-z ]{1,40} )?"\\w{1,100}"(?:,? (?:or )?"\\w{1,100}"){0,5}\\?)?';

/** Of a literal, the field is a name in the document; of a variable, it is a key of its value. */
const unknownFields = [
  'Expected value of type "TYPE" not to include unknown field "NAME", found: …',
  'Expected value of type "TYPE" not to include unknown field "NAME". …',
];

/** Sentences; `…` stands for what is left out. Suggestions may follow. */
const sentences = [
  'Cannot query field "NAME" on type "TYPE".',
  'Unknown argument "NAME" on field "PLACE".',
  'Unknown argument "NAME" on directive "PLACE".',
  'Unknown type "NAME".',
  'Unknown fragment "NAME".',
  'Unknown directive "@NAME".',
  'Directive "@NAME" may not be used on NAME.',
  'Argument "PLACE" of type "TYPE" is required, but it was not provided.',
  'Argument "PLACE" of required type "TYPE" was not provided.',
  'Field "NAME" must not have a selection since type "TYPE" has no subfields.',
  'Field "NAME" of type "TYPE" must have a selection of subfields. Did you mean "NAME { ... }"?',
  'Fields "NAME" conflict because …',
  'Fragment "NAME" is never used.',
  'Fragment "NAME" cannot condition on non composite type "TYPE".',
  'Fragment "NAME" cannot be spread here as objects of type "TYPE" can never be of type "TYPE".',
  'Fragment cannot be spread here as objects of type "TYPE" can never be of type "TYPE".',
  'Cannot spread fragment "NAME" within itself…',
  'There can be only one NAME named "NAME".',
  'There can be only one variable named "$NAME".',
  'Subscriptions are not supported',
  'The NAME operation is not supported by the schema.',
  'This anonymous operation must be the only defined operation.',
  'Variable "$NAME" is not defined.',
  'Variable "$NAME" is not defined by operation "NAME".',
  'Variable "$NAME" is never used.',
  'Variable "$NAME" is never used in operation "NAME".',
  'Variable "$NAME" cannot be non-input type "TYPE".',
  'Variable "$NAME" of type "TYPE" used in position expecting type "TYPE".',
  'Variable "$NAME" of required type "TYPE" was not provided.',
  'Expected a value of non-null type "TYPE" to be provided.',
  'Expected value of non-null type "TYPE" not to be null.',
  'Expected value of type "TYPE" to be an object, found: …',
  'Expected value of type "TYPE" to include required field "NAME", found: …',
  ...unknownFields,
  'Expected value of type "TYPE" not to include unknown field …',
  'Expected value of type "TYPE", …',
  'NAME accepts WORDS, found: …',
  'NAME cannot represent WORDS: …',
  'Value … does not exist in "TYPE" enum.',
  'Enum "TYPE" cannot represent …',
  'The role of this token is not available.',
  "The token's role … is not allowed here.",
  'The token\'s claim "PLACE" does not contain a role name.',
  'The time zone … does not exist.',
  'update impacts too many records',
  'delete impacts too many records',
  'invalid input syntax for type SQL',
  'invalid input syntax for type SQL: …',
  'invalid input value for enum NAME: …',
  'value … is out of range for type SQL',
  'value too long for type SQL',
  'date/time field value out of range: …',
  'SQL out of range',
  'numeric field overflow',
  'division by zero',
];

const ofLiterals = sentences.map(toWhole);
const ofVariables = sentences.filter((sentence) => !unknownFields.includes(sentence)).map(toWhole);

const invalidVariable = new RegExp(`^${toPattern('Variable "$NAME" has invalid valueWITHIN: ')}`);
const invalidLiteral = [
  'Argument "PLACE" has invalid valueWITHIN: ',
  'Argument "PLACE" has invalid default valueWITHIN: ',
  'Variable "$NAME" has invalid default valueWITHIN: ',
].map((beginning) => new RegExp(`^${toPattern(beginning)}`));

function asSentence(message: string): string | null {
  const inVariable = invalidVariable.exec(message)?.[0];
  const inLiteral = invalidLiteral.map((pattern) => pattern.exec(message)?.[0]).find((found) => found !== undefined);
  const beginning = inVariable ?? inLiteral ?? '';
  const rest = findSentence(inVariable === undefined ? ofLiterals : ofVariables, message.slice(beginning.length));
  return beginning === '' ? rest : beginning + (rest ?? '…');
}

function findSentence(among: readonly RegExp[], message: string): string | null {
  for (const pattern of among) {
    const found = pattern.exec(message);
    if (found !== null) return found.slice(1).join('…');
  }
  return null;
}

/** A pattern whose groups are what is told. The last `…` is as long as it can be: what follows it ends the message. */
function toWhole(sentence: string): RegExp {
  const end = sentence.endsWith('.') ? suggestion : '';
  const told = sentence.split('…').map(toPattern);
  return new RegExp(`^(${told.join(').*(')}${end})$`, 's');
}

function toPattern(text: string): string {
  const words = text.split(/([A-Z]{3,})/);
  return words.map((word) => parts[word] ?? RegExp.escape(word)).join('');
}

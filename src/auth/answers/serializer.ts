/**
 * Serializers of answers: a list of members, each with a function that reads it from a value. One list makes both the
 * JSON and its schema, so the two cannot differ.
 */
import { type JsonSchema, schemaNamed } from '../../shared/json-schema.ts';
import { type Time, toOptionalRfc3339, toRfc3339 } from '../../shared/times.ts';

/** A schema, and the named schemas that it refers to. */
export interface AnswerSchema {
  readonly schema: JsonSchema;
  readonly named: ReadonlyMap<string, JsonSchema>;
}

/** A member of an answer over values of the type `T`. */
interface AnswerMember<T> extends AnswerSchema {
  /** Left out if `read` returns undefined. */
  readonly isOptional: boolean;
  readonly read: (value: T) => unknown;
}

/** Members in the order of the answer. */
export type AnswerMembers<T> = Readonly<Record<string, AnswerMember<T>>>;

/** JSON-ready; undefined members are left out by `JSON.stringify`. */
export type AnswerJson = Readonly<Record<string, unknown>>;

/** Makes the JSON of values of the type `T`: an object. */
export interface Serializer<T> extends AnswerSchema {
  toJson(value: T): AnswerJson;
}

/** Makes a serializer. @param name Name of its schema. */
export function serializerOf<T>(name: string, members: AnswerMembers<T>): Serializer<T> {
  const entries = Object.entries(members);
  const own: JsonSchema = {
    type: 'object',
    properties: Object.fromEntries(entries.map(([member, { schema }]) => [member, schema])),
    required: entries.filter(([, { isOptional }]) => !isOptional).map(([member]) => member),
  };
  return {
    schema: schemaNamed(name),
    named: new Map([[name, own], ...entries.flatMap(([, { named }]) => [...named])]),
    toJson: (value) => Object.fromEntries(entries.map(([member, { read }]) => [member, read(value)])),
  };
}

/** An array with another schema for its items. */
export function listOf({ schema, named }: AnswerSchema): AnswerSchema {
  return { schema: { type: 'array', items: schema }, named };
}

/** One of several schemas. */
export function anyOf(...answers: readonly AnswerSchema[]): AnswerSchema {
  const named = new Map(answers.flatMap((answer) => [...answer.named]));
  return { schema: { anyOf: answers.map(({ schema }) => schema) }, named };
}

/** The members of another answer, read from a part of the value. */
export function through<T, Part>(members: AnswerMembers<Part>, part: (value: T) => Part): AnswerMembers<T> {
  const entries = Object.entries(members).map(([name, member]): [string, AnswerMember<T>] => [
    name,
    { ...member, read: (value) => member.read(part(value)) },
  ]);
  return Object.fromEntries(entries);
}

/** A member with any schema. */
export function member<T>(schema: JsonSchema, read: (value: T) => unknown): AnswerMember<T> {
  return { schema, named: none, isOptional: false, read };
}

/** A member that may be missing. */
export function optional<T>({ schema, named, read }: AnswerMember<T>): AnswerMember<T> {
  return { schema, named, isOptional: true, read };
}

/** Makes members of one type. */
function membersOf<V>(schema: JsonSchema): <T>(read: (value: T) => V) => AnswerMember<T> {
  return (read) => member(schema, read);
}

/** A text. */
export const text = membersOf<string | undefined>({ type: 'string' });

/** An id. */
export const uuid = membersOf<string>({ type: 'string', format: 'uuid' });

/** A boolean. */
export const flag = membersOf<boolean>({ type: 'boolean' });

/** An integer. */
export const integer = membersOf<number>({ type: 'integer' });

/** An object of any members. */
export const object = membersOf<object>({ type: 'object' });

const moment: JsonSchema = { type: 'string', format: 'date-time' };

/** A time that is never null in our rows; rows written by hand may lack it. */
export function knownTime<T>(read: (value: T) => Time | null): AnswerMember<T> {
  return member(moment, (value) => {
    const time = read(value);
    return time === null ? '0001-01-01T00:00:00Z' : toRfc3339(time);
  });
}

/** A time, left out if null. */
export function optionalTime<T>(read: (value: T) => Time | null): AnswerMember<T> {
  return optional(member(moment, (value) => toOptionalRfc3339(read(value))));
}

/** A time, or null. */
export function timeOrNull<T>(read: (value: T) => Time | null): AnswerMember<T> {
  return member({ ...moment, type: ['string', 'null'] }, (value) => toOptionalRfc3339(read(value)) ?? null);
}

/** An object by another serializer. */
export function nested<T, Part>(part: Serializer<Part>, read: (value: T) => Part): AnswerMember<T> {
  return { ...part, isOptional: false, read: (value) => part.toJson(read(value)) };
}

/** Objects by another serializer. */
export function nestedList<T, Part>(part: Serializer<Part>, read: (value: T) => readonly Part[]): AnswerMember<T> {
  return { ...listOf(part), isOptional: false, read: (value) => read(value).map((each) => part.toJson(each)) };
}

const none: ReadonlyMap<string, JsonSchema> = new Map();

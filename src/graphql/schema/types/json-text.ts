/**
 * The text of JSON values that clients send as values (`"json": "value"` in the comment of a schema). What would change a value is
 * refused: numbers that lost digits, and what GraphQL has and JSON has not. So is what is nested very deep.
 */
import { GraphQLError, Kind, type ValueNode } from 'graphql';

/** JSON with places for values of variables, each the text of JSON. */
export type JsonTemplate =
  | string
  | { readonly variable: string }
  | { readonly items: readonly JsonTemplate[] }
  | { readonly members: readonly (readonly [key: string, value: JsonTemplate])[] };

const maxLevels = 500;

/** The text of a value of the request; undefined for what is no JSON. @throws GraphQLError */
export function jsonValueText(value: unknown): string | undefined {
  const waiting: (readonly [value: unknown, level: number])[] = [[value, 0]];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const [found, level] = next;
    if (typeof found === 'number') refuseInexact(found);
    if (typeof found === 'bigint') refuseInexact(Number(found));
    if (typeof found !== 'object' || found === null) continue;
    if (level === maxLevels) throw tooDeep();
    for (const member of Object.values(found)) waiting.push([member, level + 1]);
  }
  return JSON.stringify(value, (_, member: unknown) => (typeof member === 'bigint' ? Number(member) : member));
}

function refuseInexact(number: number): void {
  if (Number.isFinite(number) && (!Number.isInteger(number) || Number.isSafeInteger(number))) return;
  throw new GraphQLError(`JSON cannot take the number ${number}: it is too large to be exact. Send it as a string.`);
}

function tooDeep(): GraphQLError {
  return new GraphQLError(`JSON is nested more than ${maxLevels} levels deep.`);
}

/**
 * A literal of the document; undefined for what is no JSON.
 *
 * @param keyOf The key of a variable. @throws GraphQLError
 */
export function jsonTemplate(node: ValueNode, keyOf: (node: ValueNode) => string, level = 0): JsonTemplate | undefined {
  if (level > maxLevels) throw tooDeep();
  switch (node.kind) {
    case Kind.VARIABLE:
      return { variable: keyOf(node) };
    case Kind.NULL:
      return 'null';
    case Kind.STRING:
      return JSON.stringify(node.value);
    case Kind.BOOLEAN:
      return String(node.value);
    case Kind.INT:
    case Kind.FLOAT:
      // GraphQL's numbers are JSON's.
      return node.value;
    case Kind.LIST: {
      const items = node.values.map((item) => jsonTemplate(item, keyOf, level + 1));
      return items.every((item) => item !== undefined) ? { items } : undefined;
    }
    case Kind.OBJECT: {
      const members = node.fields.map(
        ({ name, value }) => [JSON.stringify(name.value), jsonTemplate(value, keyOf, level + 1)] as const,
      );
      const isWhole = (member: (typeof members)[number]): member is readonly [string, JsonTemplate] =>
        member[1] !== undefined;
      return members.every(isWhole) ? { members } : undefined;
    }
    default:
      return undefined;
  }
}

/** Whether a literal has variables in it. */
export function hasVariables(node: ValueNode): boolean {
  if (node.kind === Kind.LIST) return node.values.some(hasVariables);
  return node.kind === Kind.OBJECT ? node.fields.some(({ value }) => hasVariables(value)) : node.kind === Kind.VARIABLE;
}

/** Values of variables by key: texts of JSON, null, or undefined for an absent variable. */
type Values = (key: string) => unknown;

/** The text. As in other literals, an absent variable leaves out its member, and is null in a list. */
export function templateText(template: JsonTemplate, values: Values): string {
  if (typeof template === 'string') return template;
  if ('variable' in template) return String(values(template.variable) ?? null);
  if ('items' in template) return `[${template.items.map((item) => templateText(item, values)).join(',')}]`;
  const given = template.members.filter(([, value]) => !isAbsent(value, values));
  return `{${given.map(([key, value]) => `${key}:${templateText(value, values)}`).join(',')}}`;
}

function isAbsent(template: JsonTemplate, values: Values): boolean {
  return typeof template === 'object' && 'variable' in template && values(template.variable) === undefined;
}

/** Its length, without making it: a long variable may be in it a thousand times. */
export function templateLength(template: JsonTemplate, values: Values): number {
  if (typeof template === 'string') return template.length;
  if ('variable' in template) return String(values(template.variable) ?? null).length;
  if ('items' in template) return template.items.reduce((sum, item) => sum + templateLength(item, values) + 1, 2);
  return template.members.reduce((sum, [key, value]) => sum + key.length + templateLength(value, values) + 2, 2);
}

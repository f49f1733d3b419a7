/**
 * Writes a document: values as literals or, at random places, as variables that may be absent or null; and parts of
 * selections in fragments.
 */
import { writeJson } from './json-input.ts';
import type { Random } from './random.ts';
import type { Type } from './types.ts';

/** A value both as it is written in a document and as JSON. */
export interface Written {
  readonly text: string;
  readonly json: unknown;
}

/** How a position may be left empty. */
export interface Place {
  /** GraphQL type of the position, without its outer `!`. */
  readonly type: string;
  readonly isRequired?: boolean;
  /** Whether `null` may be given; a required position never takes it. */
  readonly canBeNull?: boolean;
}

/** A document in the making. */
export interface Writer {
  readonly random: Random;
  /** Writes a value at a position, sometimes through a variable. */
  value(place: Place, write: () => Written): Written;
  /** Whether the operation may have one more filter through a relationship. */
  mayRelate(): boolean;
  /** A selection set; some of its fields move into fragments or get a directive that keeps them. */
  selections(type: string, fields: readonly string[]): string;
  /** The finished document and the values of its variables. */
  finish(
    keyword: 'query' | 'mutation',
    roots: readonly string[],
  ): { query: string; variables: Record<string, unknown> };
}

/** The value null. */
export const nullValue: Written = { text: 'null', json: null };

/** Starts a document. */
export function createWriter(random: Random): Writer {
  const declarations: string[] = [];
  const fragments: string[] = [];
  const variables: Record<string, unknown> = {};
  let insideVariable = false;
  let relations = 0;

  const declare = ({ type, isRequired = false, canBeNull = true }: Place, write: () => Written): Written => {
    insideVariable = true;
    const written = write();
    insideVariable = false;
    const name = `v${declarations.length}`;
    const mode = isRequired ? 9 : random.int(0, 19);
    const isDefault = mode === 1 && written.text !== 'null';
    declarations.push(`$${name}: ${type}${isRequired ? '!' : ''}${isDefault ? ` = ${written.text}` : ''}`);
    if (mode === 2 && canBeNull) variables[name] = null;
    else if (mode > 2 || mode === 2) variables[name] = written.json;
    return { text: `$${name}`, json: undefined };
  };
  const condition = (isTrue: boolean): string => {
    if (random.chance(0.5)) return String(isTrue);
    const name = `v${declarations.length}`;
    const isDefault = random.chance(0.2);
    declarations.push(`$${name}: Boolean!${isDefault ? ` = ${isTrue}` : ''}`);
    if (!isDefault) variables[name] = isTrue;
    return `$${name}`;
  };
  const directive = (): string => {
    if (!random.chance(0.04)) return '';
    return random.chance(0.5)
      ? ` @include(if: ${condition(random.chance(0.7))})`
      : ` @skip(if: ${condition(random.chance(0.3))})`;
  };
  const withDirective = (field: string): string => {
    const added = directive();
    const brace = field.indexOf(' {');
    if (added === '') return field;
    return brace < 0 || field.startsWith('...')
      ? `${field}${field.startsWith('...') ? '' : added}`
      : insertBeforeSelection(field, added);
  };
  return {
    random,
    value(place, write) {
      const mayVary = !insideVariable && random.chance(0.2);
      return mayVary ? declare(place, write) : write();
    },
    mayRelate: () => ++relations <= 20,
    selections(type, fields) {
      const written = random.shuffle(fields).map(withDirective);
      if (written.length > 1 && random.chance(0.12)) {
        const moved = written.splice(0, random.int(1, written.length - 1)).join(' ');
        const isNamed = random.chance(0.5);
        if (isNamed) {
          const name = `F${fragments.length}`;
          fragments.push(`fragment ${name} on ${type} { ${moved} }`);
          written.push(`...${name}${directive()}`);
        } else written.push(`...${random.chance(0.3) ? '' : ` on ${type}`}${directive()} { ${moved} }`);
      }
      // The same field again merges with its first mention.
      const plain = written.find((field) => /^\w+( : \w+)?$/.test(field));
      if (plain !== undefined && random.chance(0.05)) written.push(plain);
      return `{ ${written.join(' ')} }`;
    },
    finish(keyword, roots) {
      const declared = declarations.length === 0 ? '' : `(${declarations.join(', ')})`;
      return { query: [`${keyword} Random${declared} { ${roots.join(' ')} }`, ...fragments].join('\n'), variables };
    },
  };
}

/** Puts a directive before the selection set of a field, which is the first brace outside parentheses. */
function insertBeforeSelection(field: string, directive: string): string {
  let depth = 0;
  let isText = false;
  for (let index = 0; index < field.length; index++) {
    const character = field[index];
    if (character === '\\') index++;
    else if (character === '"') isText = !isText;
    else if (!isText && character === '(') depth++;
    else if (!isText && character === ')') depth--;
    else if (!isText && character === '{' && depth === 0)
      return `${field.slice(0, index)}${directive} ${field.slice(index)}`;
  }
  return `${field}${directive}`;
}

/** An input object. */
export function writeObject(entries: readonly (readonly [string, Written])[]): Written {
  return {
    text: `{${entries.map(([name, { text }]) => `${name}: ${text}`).join(', ')}}`,
    json: Object.fromEntries(entries.map(([name, { json }]) => [name, json])),
  };
}

/** A list. */
export function writeList(items: readonly Written[]): Written {
  return { text: `[${items.map(({ text }) => text).join(', ')}]`, json: items.map(({ json }) => json) };
}

/** An enum token, sometimes as a string. */
export function writeToken(random: Random, token: string): Written {
  return { text: random.chance(0.15) ? JSON.stringify(token) : token, json: token };
}

/** A single value of a type from its SQL text; null where GraphQL has no way to say it. */
export function writeScalar(random: Random, type: Type, text: string): Written | null {
  const asString = { text: JSON.stringify(text), json: text };
  switch (type.input) {
    case 'int':
      return { text, json: Number(text) };
    case 'bigint':
      return random.chance(0.5) ? { text, json: BigInt(text) } : asString;
    case 'float':
      return Number.isFinite(Number(text)) ? { text: String(Number(text)), json: Number(text) } : null;
    case 'boolean':
      return { text: /^t/.test(text) ? 'true' : 'false', json: text.startsWith('t') };
    case 'json':
      return writeJson(text);
    case 'enum': {
      const name = type.labels?.get(text) ?? text;
      return /^[A-Za-z_]\w*$/.test(name) ? writeToken(random, name) : { text: JSON.stringify(name), json: name };
    }
    default:
      return asString;
  }
}

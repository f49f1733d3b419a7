/**
 * The only maker of SQL text. A piece of SQL is an opaque object, and the tag accepts only pieces, so text enters in
 * three ways: a template literal in our source, `ident()`, which always quotes, and `literal()`, which always escapes.
 * Values never enter the text: `param()` stands for a slot that is filled when the statement runs.
 *
 * Pieces are immutable; `printSql` numbers parameters by first appearance, so equal pieces print equal text.
 */
import { invariant } from '../../../shared/invariant.ts';
import type { SqlType, ZonePlace } from '../../model/model.ts';
import type { Slot } from '../input/slot.ts';
import { planningWeight } from './planning-weight.ts';

interface Parameter {
  readonly slot: Slot;
  readonly cast: string;
  readonly zones: ZonePlace | null;
}

/** What the name before it costs when it is planned. */
interface Weight {
  readonly weight: number;
}

type Part = string | Parameter | Weight | Sql;

interface Printed {
  readonly text: string;
  readonly slots: readonly Slot[];
  readonly uses: readonly number[];
  readonly zoned: readonly ZonedSlot[];
  /** As `planningWeight`, and what stands behind the names of tables. */
  readonly weight: number;
}

/** A slot whose values may name time zones, and where. */
export interface ZonedSlot {
  readonly slot: Slot;
  readonly zones: ZonePlace;
}

/** A piece of SQL. Only this file makes them. */
export class Sql {
  readonly #parts: readonly Part[];

  private constructor(parts: readonly Part[]) {
    this.#parts = parts;
  }

  /** Joins source text and pieces; the tag below is its only caller. */
  static compose(texts: readonly string[], pieces: readonly Sql[]): Sql {
    const parts: Part[] = [];
    texts.forEach((text, index) => {
      if (text !== '') parts.push(text);
      const piece = pieces[index];
      if (index < texts.length - 1) {
        invariant(piece instanceof Sql, 'only pieces of SQL may be interpolated into SQL');
        // The piece itself, not its parts, which would be copied once per level.
        if (piece.#parts.length > 0) parts.push(piece);
      }
    });
    return new Sql(parts);
  }

  /** An escaped or quoted text; `ident` and `literal` are its only callers. */
  static quoted(text: string): Sql {
    return new Sql([text]);
  }

  /** A placeholder for a slot, cast to a type. */
  static placeholder(parameter: Parameter): Sql {
    return new Sql([parameter]);
  }

  /** A piece that costs more than its text when it is planned; `tableName` and `printCall` are the only callers. */
  static weighed(piece: Sql, weight: number): Sql {
    return weight === 0 ? piece : new Sql([...piece.#parts, { weight }]);
  }

  /** Text with numbered parameters, the slots that fill them in order, and how often each stands in the text. */
  static print(piece: Sql): Printed {
    const numbers = new Map<string, Map<Slot, number>>();
    const slots: Slot[] = [];
    const uses: number[] = [];
    const zoned = new Map<ZonePlace, Set<Slot>>();
    let text = '';
    let named = 0;
    for (const part of piece.#flat()) {
      if (typeof part === 'string') {
        text += part;
        continue;
      }
      if ('weight' in part) {
        named += part.weight;
        continue;
      }
      // A parameter takes the type of its first cast, so only equal casts may share a number.
      const byCast = numbers.get(part.cast) ?? new Map<Slot, number>();
      numbers.set(part.cast, byCast);
      if (part.zones !== null) zoned.set(part.zones, (zoned.get(part.zones) ?? new Set<Slot>()).add(part.slot));
      let number = byCast.get(part.slot);
      if (number === undefined) {
        number = slots.push(part.slot);
        uses.push(0);
        byCast.set(part.slot, number);
      }
      uses[number - 1]! += 1;
      text += `$${number}::${part.cast}`;
    }
    return {
      text,
      weight: planningWeight(text) + named,
      slots,
      uses,
      zoned: [...zoned].flatMap(([zones, known]) => [...known].map((slot) => ({ slot, zones }))),
    };
  }

  /** All parts in order. Iterative: pieces may be nested deeper than the stack allows. */
  *#flat(): Generator<Exclude<Part, Sql>> {
    const open = [{ parts: this.#parts, at: 0 }];
    for (let piece = open.at(-1); piece !== undefined; piece = open.at(-1)) {
      const part = piece.parts[piece.at];
      piece.at += 1;
      if (part === undefined) open.pop();
      else if (part instanceof Sql) open.push({ parts: part.#parts, at: 0 });
      else yield part;
    }
  }
}

/** Composes SQL from source text and pieces. */
export function sql(texts: TemplateStringsArray, ...pieces: readonly Sql[]): Sql {
  // `raw` proves that the texts are a template literal of our source, not a built array.
  invariant(Array.isArray(texts.raw), 'sql is a template tag');
  return Sql.compose(texts, pieces);
}

/** A quoted identifier, qualified where several names are given. */
export function ident(...names: readonly string[]): Sql {
  return Sql.quoted(names.map(quoteIdent).join('.'));
}

/** `operator(schema.<)`, for an operator of the catalog. */
export function operatorIn(namespace: string, name: string): Sql {
  invariant(/^[-+*/<>=~!@#%^&|`?]+$/.test(name), 'an operator is made of the characters of operators');
  return Sql.quoted(`operator(${quoteIdent(namespace)}.${name})`);
}

/** A string constant. For names from the catalog and the schema only; values from requests are parameters. */
export function literal(text: string): Sql {
  const quoted = `'${text.replaceAll("'", "''").replaceAll('\\', '\\\\')}'`;
  return Sql.quoted(text.includes('\\') ? `e${quoted}` : quoted);
}

/** An integer constant. */
export function integerLiteral(value: number): Sql {
  invariant(Number.isSafeInteger(value) && value >= 0, 'not a non-negative integer');
  return Sql.quoted(String(value));
}

/**
 * A value given when the statement runs, cast to the declared type or an array of it.
 *
 * @param options.later The type that the statement casts it to later.
 */
export function param(
  slot: Slot,
  type: SqlType,
  options: { readonly array?: boolean; readonly later?: SqlType | undefined } = {},
): Sql {
  const cast = castText(type) + (options.array ? '[]' : '');
  return Sql.placeholder({ slot, cast, zones: (options.later ?? type).zones });
}

/** The declared type as text, modifier included; also usable after `::`. */
export function typeName(type: SqlType): Sql {
  return Sql.quoted(castText(type));
}

/** Pieces separated by source text. */
export function join(pieces: readonly Sql[], separator: Sql): Sql {
  return Sql.compose(
    ['', ...pieces.map(() => '')],
    pieces.map((piece, index) => (index === 0 ? piece : sql`${separator}${piece}`)),
  );
}

/** Nothing. */
export const empty = sql``;

/** Text with numbered parameters, the slots that fill them in order, and how often each stands in the text. */
export const printSql = Sql.print;

/** PostgreSQL types that the printers cast to. */
export const builtin = {
  text: builtinType('text', '25'),
  json: builtinType('json', '114'),
  jsonb: builtinType('jsonb', '3802'),
  jsonpath: builtinType('jsonpath', '4072'),
  regconfig: builtinType('regconfig', '3734'),
  int4: builtinType('int4', '23'),
  int8: builtinType('int8', '20'),
  float4: builtinType('float4', '700'),
  numeric: builtinType('numeric', '1700'),
  bool: builtinType('bool', '16'),
  bpchar: { ...builtinType('bpchar', '1042'), blankPadded: true },
} as const;

function builtinType(name: string, oid: string): SqlType {
  const plain = {
    modifier: null,
    maxLength: null,
    blankPadded: false,
    fromTexts: false,
    arrays: 'of_it',
    zones: null,
    base: null,
    lacks: null,
    own: null,
  } as const;
  return { oid, namespace: 'pg_catalog', name, ...plain };
}

function castText(type: SqlType): string {
  invariant(type.modifier === null || /^[-0-9, ]+$/.test(type.modifier), 'a modifier is made of digits');
  const name = `${quoteIdent(type.namespace)}.${quoteIdent(type.name)}`;
  return `${type.fromTexts ? 'pg_catalog.text[]::' : ''}${name}${type.modifier === null ? '' : `(${type.modifier})`}`;
}

function quoteIdent(name: string): string {
  invariant(!name.includes('\0'), 'a name cannot hold NUL');
  return `"${name.replaceAll('"', '""')}"`;
}

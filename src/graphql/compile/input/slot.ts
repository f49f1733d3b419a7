/** Sources of the parameters of statements: what a plan says of values. bind-slot.ts fills them. */
import type { JsonTemplate } from '../../schema/types/json-text.ts';
import type { Run } from './update-list.ts';

/**
 * Path into the coerced variables: first the variable's key, then input fields and list positions. `*` stands for all
 * positions of a list, in the paths of objects to insert; {@link agreed} behind a key for what they agree on under it,
 * {@link distinct} for the different ones among them, without those of earlier places.
 */
export type Path = readonly (string | number)[];

/** Coerced variables by key; a missing key is an absent variable. */
export type Variables = Readonly<Record<string, unknown>>;

/** Source of one parameter. */
export type Slot =
  /** From the document, where `name` is its argument or input field, or made by the compiler. */
  | { readonly kind: 'constant'; readonly value: string | null; readonly name?: string }
  /** A scalar or enum of the variables. */
  | { readonly kind: 'scalar'; readonly path: Path }
  /** A JSON literal of the document with variables in it. */
  | { readonly kind: 'json'; readonly template: JsonTemplate }
  /** A whole list of scalars from the variables, as a PostgreSQL array. */
  | { readonly kind: 'list'; readonly path: Path }
  /** A list in the document, with slots as elements. */
  | { readonly kind: 'array'; readonly items: readonly Slot[] }
  /** An object, or a list of objects, of the variables as a composite value or an array of these. */
  | { readonly kind: 'composite'; readonly path: Path; readonly form: TextForm }
  /** A composite value in the document, with slots as attributes. */
  | { readonly kind: 'record'; readonly attributes: readonly Slot[] }
  /** A page size from the variables, capped at `maxRows`; `maxRows` if null or absent. */
  | { readonly kind: 'limit'; readonly path: Path; readonly maxRows: number }
  /** Element of a cursor or node id from the variables. */
  | { readonly kind: 'element'; readonly path: Path; readonly index: number }
  /**
   * The values of one key of the objects to insert, from the variables: a PostgreSQL array of texts, one element per
   * object; null if the object lacks the key.
   */
  | { readonly kind: 'key_values'; readonly path: Path; readonly fieldName: string; readonly isList: boolean }
  /** Whether each of these objects has the key, as an array of booleans. */
  | { readonly kind: 'key_presence'; readonly path: Path; readonly key: RowKey }
  /** The value of a key of one of these objects, null if it lacks the key. */
  | {
      readonly kind: 'row_value';
      readonly path: Path;
      readonly index: number;
      readonly fieldName: string;
      readonly isList: boolean;
    }
  /** The values at a path through objects, of those that have one: a PostgreSQL array of texts. */
  | { readonly kind: 'path_values'; readonly path: Path }
  /** The number of these objects. */
  | { readonly kind: 'row_count'; readonly path: Path }
  /** For each object nested at `below`, the number of the object above it; `first` for the first one. An array. */
  | { readonly kind: 'row_parents'; readonly path: Path; readonly below: Path; readonly first: number }
  /**
   * For each object, the number of the only one nested at `below`, from 1, or null: among the different ones at the place
   * `among`, or, where it is null, among all that are nested in these. An array.
   */
  | { readonly kind: 'row_links'; readonly path: Path; readonly below: Path; readonly among: Path | null }
  /** Name of the setting for the keys of a step's rows (nested-writes.ts). */
  | { readonly kind: 'kept_keys'; readonly step: number }
  /** The values at a place in the entries of a run (update-list.ts), as an array. */
  | {
      readonly kind: 'entry_values';
      readonly path: Path;
      readonly run: Run;
      readonly at: readonly string[];
      readonly isList: boolean;
    }
  /** A digest of these values in twelve characters. */
  | { readonly kind: 'digest'; readonly of: readonly (string | Slot)[] }
  /** The answer of a meta field, as JSON text. */
  | { readonly kind: 'introspection'; readonly responseKey: string }
  /** Bytes of JSON from which an object within the answer counts (compile/sql/bounded-object.ts). */
  | { readonly kind: 'counted_bytes' }
  /** Name of the setting with the bytes that such objects may still have. */
  | { readonly kind: 'bytes_left' };

/** What sets a column of an inserted row: the key of its value, or those of related objects. */
export interface RowKey {
  readonly fieldName: string;
  /** A null is like no value: the database generates one. */
  readonly isGenerated: boolean;
  readonly related: readonly string[];
}

/** How a value becomes PostgreSQL's text. An attribute of a record without a form is null. */
export type TextForm =
  | { readonly kind: 'scalar' }
  | { readonly kind: 'list'; readonly element: TextForm }
  | {
      readonly kind: 'record';
      readonly attributes: readonly ({ readonly fieldName: string; readonly form: TextForm } | null)[];
    };

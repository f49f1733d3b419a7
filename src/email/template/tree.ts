/**
 * The tree of a template: what parse-tree.ts makes, what the escaper turns into a tree that escapes, what is then run.
 *
 * `at` is always an offset into the source, in UTF-16 units, for the place of an error.
 */
import type { Escaper } from './escape/escapers.ts';
import type { Complex } from './values/value.ts';

/** Something that has a value. */
export type Operand =
  | { readonly kind: 'dot' | 'nil'; readonly at: number }
  | { readonly kind: 'boolean'; readonly at: number; readonly value: boolean }
  /** Value null: an integer that only fits without a sign, which fails when it is used. */
  | {
      readonly kind: 'number';
      readonly at: number;
      readonly value: number | bigint | Complex | null;
      readonly text: string;
    }
  | { readonly kind: 'string'; readonly at: number; readonly value: string }
  | { readonly kind: 'field'; readonly at: number; readonly path: readonly string[] }
  /** `$` or `$name`, with the fields behind it. */
  | { readonly kind: 'variable'; readonly at: number; readonly name: string; readonly path: readonly string[] }
  | { readonly kind: 'function'; readonly at: number; readonly name: string }
  | { readonly kind: 'chain'; readonly at: number; readonly of: Operand; readonly path: readonly string[] }
  | Pipeline;

/** `operand`, or `function argument…`. The first operand always exists. */
export interface Command {
  readonly at: number;
  readonly operands: readonly [Operand, ...Operand[]];
}

/** Commands of which each takes the value of the one before as its last argument. */
export interface Pipeline {
  readonly kind: 'pipeline';
  readonly at: number;
  /** Variables that take the value, `$` included in the name; two at most, and those only in a range. */
  readonly variables: readonly string[];
  /** `=` rather than `:=`. */
  readonly assigns: boolean;
  readonly commands: readonly Command[];
}

/** `if`, `with` and `range`. */
export interface Branch {
  readonly kind: 'if' | 'with' | 'range';
  readonly at: number;
  readonly pipeline: Pipeline;
  readonly list: readonly TemplateNode[];
  readonly otherwise: readonly TemplateNode[] | null;
}

/** `{{ pipeline }}`; prints unless it has variables. */
export interface ActionNode {
  readonly kind: 'action';
  readonly at: number;
  readonly pipeline: Pipeline;
  /** What turns the value into output, in this order; the last makes text. Empty in subjects, which do not escape. */
  readonly escapers: readonly Escaper[];
}

/** `{{ template "name" pipeline }}`. */
export interface CallNode {
  readonly kind: 'call';
  readonly at: number;
  /** Name of the template; after the escaper ran, the key of the variant for the context of the call. */
  readonly name: string;
  readonly pipeline: Pipeline | null;
}

/** One node of a body. */
export type TemplateNode =
  /** Literal text. */
  | { readonly kind: 'text'; readonly at: number; readonly text: string }
  | ActionNode
  | CallNode
  | Branch
  | { readonly kind: 'break' | 'continue'; readonly at: number };

/** A whole template: its own text, and the templates it defines by name. */
export interface TemplateTree {
  readonly main: readonly TemplateNode[];
  readonly named: ReadonlyMap<string, readonly TemplateNode[]>;
}

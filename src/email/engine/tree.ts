/**
 * The tree of a template: parse-tree.ts makes it, the escaper turns it into one that escapes, and that one runs.
 *
 * `at` is always an offset into the source, in UTF-16 units, for the place of an error.
 */
import type { Escaper } from './escape/escapers.ts';
import type { Complex } from './values/value.ts';

/** A part with a value. */
export type Operand =
  | { readonly kind: 'dot' | 'nil'; readonly at: number }
  | { readonly kind: 'boolean'; readonly at: number; readonly value: boolean }
  /** Value null: an integer that fits only unsigned, which fails when used. */
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

/** `operand`, or `function argument…`. There is at least one operand. */
export interface PipelineCommand {
  readonly at: number;
  readonly operands: readonly [Operand, ...Operand[]];
}

/** Commands; each gets the previous one's value as its last argument. */
export interface Pipeline {
  readonly kind: 'pipeline';
  readonly at: number;
  /** Variables that get the value, with their `$`; two at most, and only in a range. */
  readonly variables: readonly string[];
  /** `=` rather than `:=`. */
  readonly assigns: boolean;
  readonly commands: readonly PipelineCommand[];
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
  /** Turn the value into output, in this order; the last one makes text. Empty in subjects, which do not escape. */
  readonly escapers: readonly Escaper[];
}

/** `{{ template "name" pipeline }}`. */
export interface CallNode {
  readonly kind: 'call';
  readonly at: number;
  /** Name of the template; after escaping, the key of the variant for the call's context. */
  readonly name: string;
  readonly pipeline: Pipeline | null;
}

/** One node of a body. */
export type TemplateNode =
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

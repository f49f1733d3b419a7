/**
 * Templates of emails in Go's template language: parse once, render often.
 *
 * `html` bodies escape every value for the place where it stands in the page; `text` subjects do not escape. A template sees
 * the data it is given and nothing else, and a rendering is bounded in time, output and recursion.
 */
import { Budget } from './budget.ts';
import { escapeTree } from './escape/escape-tree.ts';
import { makeEscapers } from './escape/escapers.ts';
import { parseTree } from './parse/parse-tree.ts';
import { findVariables } from './parse/template-variables.ts';
import type { Tolerate } from './run/compare-values.ts';
import { functionNames } from './run/functions.ts';
import { type TemplateLimits, TemplateRun } from './run/run-template.ts';
import {
  EvaluationFailure,
  placeOf,
  TemplateError,
  type TemplateErrorCode,
  type TemplatePlace,
} from './template-error.ts';
import type { TemplateTree } from './tree.ts';
import { fromData } from './values/value.ts';

/** How a source is to be read. */
export interface TemplateOptions {
  readonly kind: 'html' | 'text';
  /** Schemes that a URL in a value may have beside http, https and mailto; for links into apps. Lower case. */
  readonly extraUrlSchemes?: readonly string[];
  /** Keeps `<!--[if mso]>…<![endif]-->`, with actions inside escaped as HTML text. */
  readonly keepConditionalComments?: boolean;
  /** Processor time for the reading in milliseconds, where another than the usual one is right. */
  readonly maxMs?: number;
}

/** A template that is ready to be rendered. Immutable; may be kept and shared. */
export interface Template {
  readonly source: string;
  readonly tree: TemplateTree;
}

/** How a template is to be rendered: limits that differ from the usual ones, and what becomes of wrong values. */
interface RenderOptions extends Partial<TemplateLimits> {
  /** Makes values of wrong kinds unequal or empty instead of faults; told the message and the place each time. */
  readonly onWrongValue?: (message: string, place: TemplatePlace) => void;
}

/** Variables by name: JSON values, plain objects and Maps at any depth. */
export type TemplateData = Readonly<Record<string, unknown>>;

/** Processor time of a reading in milliseconds: half a megabyte of ordinary markup takes a twentieth. */
const usualParseMs = 1000;

/** What a rendering may use where nothing else is said. */
const defaultTemplateLimits: TemplateLimits = {
  maxOutputBytes: 1024 * 1024,
  maxIterations: 10_000,
  maxDepth: 1000,
  maxMs: 1000,
};

/**
 * Reads a template and works out the escaping of each of its actions.
 *
 * @throws TemplateError of the phases `parse` and `escape`.
 */
export function parseTemplate(source: string, options: TemplateOptions): Template {
  const { kind, extraUrlSchemes = [], keepConditionalComments = false } = options;
  const text = source.toWellFormed();
  const budget = new Budget(options.maxMs ?? usualParseMs, 'parse_limit', 'reading the template');
  try {
    return { source: text, tree: guardStack('nested_too_deep', makeTree) };
  } catch (error) {
    if (!(error instanceof EvaluationFailure)) throw error;
    throw new TemplateError(error.code, error.message, null);
  }

  function makeTree(): TemplateTree {
    const parsed = parseTree(text, functionNames, budget);
    if (kind === 'text') return parsed;
    return escapeTree(parsed, text, {
      escapers: makeEscapers(extraUrlSchemes),
      keepsConditional: keepConditionalComments,
      budget,
    });
  }
}

/**
 * Renders a template; on any fault nothing of the output is kept.
 *
 * @throws TemplateError of the phase `exec`.
 */
export function renderTemplate(template: Template, data: TemplateData, options: RenderOptions = {}): string {
  const { onWrongValue, ...limits } = options;
  const tolerate: Tolerate | null = onWrongValue
    ? (message) => onWrongValue(message, placeOf(template.source, run.evaluator.at))
    : null;
  const run = new TemplateRun(template.tree, { ...defaultTemplateLimits, ...limits }, tolerate);
  try {
    return guardStack('depth_limit', () => run.main(fromData(data)));
  } catch (error) {
    if (!(error instanceof EvaluationFailure)) throw error;
    throw new TemplateError(error.code, error.message, placeOf(template.source, run.evaluator.at));
  }
}

/** Top-level variables that a template uses, sorted: `Data`, `Email`. With the offset of the first action that does. */
export function templateVariables(template: Template): ReadonlyMap<string, number> {
  return findVariables(template.tree);
}

/** Turns an exhausted stack, which only a template made for it can cause, into an error of the template. */
function guardStack<T>(code: TemplateErrorCode, run: () => T): T {
  try {
    return run();
  } catch (error) {
    if (!(error instanceof RangeError) || !error.message.includes('call stack')) throw error;
    throw new TemplateError(code, 'the template is nested too deeply', null);
  }
}

/**
 * Templates of emails in Go's template language: parse once, render often.
 *
 * `html` bodies escape every value for its place in the page; `text` subjects do not escape. A template sees only its
 * data, and rendering is limited in time, output and recursion.
 */
import { Budget } from './budget.ts';
import { type Composed, compose, located } from './compose.ts';
import { startContext } from './escape/context.ts';
import { escapeTree } from './escape/escape-tree.ts';
import { makeEscapers } from './escape/escapers.ts';
import { rewriteText } from './escape/rewrite-text.ts';
import { findMetadata, findVariablePaths, findVariables } from './parse/template-variables.ts';
import type { Tolerate } from './run/compare-values.ts';
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

/** Options of parsing. */
export interface TemplateOptions {
  readonly kind: 'html' | 'text';
  /** Schemes allowed in URLs of values in addition to http, https and mailto; for links into apps. Lower case. */
  readonly extraUrlSchemes?: readonly string[];
  /** Keeps `<!--[if mso]>…<![endif]-->`, with actions inside escaped as HTML text. */
  readonly keepConditionalComments?: boolean;
  /** Time limit of parsing in milliseconds, if not the default. */
  readonly maxMs?: number;
  /** Goes around a body that is not a complete page. */
  readonly layout?: string | null;
  /** Templates that may be used by name. */
  readonly partials?: Readonly<Record<string, string>>;
}

/** A parsed template. Immutable; may be cached and shared. */
export interface Template {
  /** Its own text. Offsets in the tree that are beyond it are in its layout and partials. */
  readonly source: string;
  readonly tree: TemplateTree;
  readonly composed: Composed;
}

/** Options of rendering: limits that override the defaults, and the handling of wrong values. */
export interface RenderOptions extends Partial<TemplateLimits> {
  /** Treats values of wrong types as unequal or empty instead of as faults; called with message and place each time. */
  readonly onWrongValue?: (message: string, place: TemplatePlace) => void;
}

/** Variables by name: JSON values, plain objects and Maps at any depth. */
export type TemplateData = Readonly<Record<string, unknown>>;

/** Default time limit of parsing in milliseconds: half a megabyte of ordinary markup takes a twentieth of it. */
const defaultParseMs = 1000;

const defaultTemplateLimits: TemplateLimits = {
  maxOutputBytes: 1024 * 1024,
  maxIterations: 10_000,
  maxDepth: 1000,
  maxMs: 1000,
};

/** Parses a template and chooses its escapers. @throws TemplateError of the phases `parse` and `escape`. */
export function parseTemplate(source: string, options: TemplateOptions): Template {
  const { kind, extraUrlSchemes = [], keepConditionalComments = false, layout = null, partials = {} } = options;
  const text = source.toWellFormed();
  const budget = new Budget(options.maxMs ?? defaultParseMs, 'parse_limit', 'reading the template');
  try {
    return guardStack('nested_too_deep', makeTemplate);
  } catch (error) {
    if (!(error instanceof EvaluationFailure)) throw error;
    throw new TemplateError(error.code, error.message, null);
  }

  function makeTemplate(): Template {
    const composed = compose(text, { layout, partials }, budget);
    if (kind === 'text') return { source: text, tree: composed.tree, composed };
    try {
      const tree = escapeTree(composed.tree, composed.whole, {
        escapers: makeEscapers(extraUrlSchemes),
        keepsConditional: keepConditionalComments,
        budget,
      });
      return { source: text, tree, composed };
    } catch (error) {
      throw error instanceof TemplateError ? located(composed, error) : error;
    }
  }
}

/** Renders a template; a fault discards the output. @throws TemplateError of the phase `exec`. */
export function renderTemplate(template: Template, data: TemplateData, options: RenderOptions = {}): string {
  const { onWrongValue, ...limits } = options;
  const { composed } = template;
  const tolerate: Tolerate | null = onWrongValue
    ? (message) => onWrongValue(message, placeOf(composed.whole, run.evaluator.at))
    : null;
  const run = new TemplateRun(template.tree, { ...defaultTemplateLimits, ...limits }, tolerate);
  try {
    return guardStack('depth_limit', () => run.main(fromData(data)));
  } catch (error) {
    if (!(error instanceof EvaluationFailure)) throw error;
    const place = placeOf(composed.whole, run.evaluator.at);
    throw located(composed, new TemplateError(error.code, error.message, place));
  }
}

/** Top-level variables that a template uses, sorted: `Data`, `Email`. With the offset of the first action that does. */
export function templateVariables(template: Template): ReadonlyMap<string, number> {
  return findVariables(template.tree);
}

/** The same with the members of metadata: `Data.name`, `Email`. */
export function variablePaths(template: Template): ReadonlyMap<string, number> {
  return findVariablePaths(template.tree);
}

/** The members of metadata that a template reads, and its constant texts. */
export function metadataOf(template: Template): ReturnType<typeof findMetadata> {
  return findMetadata(template.tree);
}

/** Whether text behind this markup is in no tag, comment, title, script or style. */
export function endsInText(html: string): boolean {
  const budget = new Budget(defaultParseMs, 'parse_limit', 'reading the page');
  try {
    return rewriteText(startContext, html, { keepsConditional: false, budget }).context.state === 'text';
  } catch (error) {
    if (error instanceof EvaluationFailure) return false;
    throw error;
  }
}

/** Turns a stack overflow, which only a deliberate template can cause, into a template error. */
function guardStack<T>(code: TemplateErrorCode, run: () => T): T {
  try {
    return run();
  } catch (error) {
    if (!(error instanceof RangeError) || !error.message.includes('call stack')) throw error;
    throw new TemplateError(code, 'the template is nested too deeply', null);
  }
}

/**
 * What scanning a piece of literal text gives, and how it fails.
 */

import { EvaluationFailure, type TemplateErrorCode } from '../template-error.ts';
import type { Context } from './context.ts';

/** The context behind the first `read` characters of a text, in UTF-16 units. */
export interface Scan {
  readonly context: Context;
  readonly read: number;
}

/** Throws a fault whose place the caller adds. */
export function failScan(code: TemplateErrorCode, message: string): never {
  throw new EvaluationFailure(code, message);
}

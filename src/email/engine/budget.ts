/** Limits work by processor time: templates are untrusted text, and some short ones take minutes. */
import { EvaluationFailure, type TemplateErrorCode } from './template-error.ts';

/** Steps between two checks of the clock. */
const stepsPerLook = 64;

/** Time limit of one task, from its first check of the clock. */
export class Budget {
  readonly #maxMs: number;
  readonly #code: TemplateErrorCode;
  readonly #work: string;
  #steps = 0;
  #startMs: number | null = null;

  /** @param work Names the work in the error message. */
  constructor(maxMs: number, code: TemplateErrorCode, work: string) {
    this.#maxMs = maxMs;
    this.#code = code;
    this.#work = work;
  }

  /** Counts a step and checks the clock now and then. @throws EvaluationFailure after the limit. */
  step(): void {
    this.#steps += 1;
    if (this.#steps % stepsPerLook !== 0) return;
    const { user, system } = process.threadCpuUsage();
    const nowMs = (user + system) / 1000;
    this.#startMs ??= nowMs;
    if (nowMs - this.#startMs <= this.#maxMs) return;
    throw new EvaluationFailure(this.#code, `${this.#work} takes longer than ${this.#maxMs} ms`);
  }
}

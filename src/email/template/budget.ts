/**
 * Bounds work in processor time: templates are anybody's text, and some that are short take minutes.
 */
import { EvaluationFailure, type TemplateErrorCode } from './template-error.ts';

/** Pieces of work between two looks at the clock. */
const stepsPerLook = 64;

/** Time of the thread for one piece of work; begins with the first look at the clock. */
export class Budget {
  readonly #maxMs: number;
  readonly #code: TemplateErrorCode;
  readonly #work: string;
  #steps = 0;
  #startMs: number | null = null;

  /** @param work For people: what takes longer. */
  constructor(maxMs: number, code: TemplateErrorCode, work: string) {
    this.#maxMs = maxMs;
    this.#code = code;
    this.#work = work;
  }

  /** Counts a piece of work and now and then looks at the clock. @throws EvaluationFailure when there is no time left. */
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

/**
 * Which requests are recorded. OpenTelemetry's samplers believe what a caller says, but ours may be anyone: with the flag
 * or a chosen trace id, each request could be recorded where the operator asked for a tenth. So callers get a share.
 */
import { SpanKind, TraceFlags, trace } from '@opentelemetry/api';
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  ParentBasedSampler,
  type Sampler,
  SamplingDecision,
  type SamplingResult,
  TraceIdRatioBasedSampler,
} from '@opentelemetry/sdk-trace';
import type { Sampling } from './trace-environment.ts';

/** As many requests of callers may be recorded at once, beyond their share. */
const burst = 100;
/** Of these, at the start. */
const initial = 10;

const yes: SamplingResult = { decision: SamplingDecision.RECORD_AND_SAMPLED };
const no: SamplingResult = { decision: SamplingDecision.NOT_RECORD };

/** The sampler. */
export class RequestSampler implements Sampler {
  readonly #chosen: Sampler;
  /** Null: the operator wants all, or leaves the decision to callers. */
  readonly #share: number | null;
  #left = initial;

  constructor({ asksParent, ratio }: Sampling) {
    const root =
      ratio === 1 ? new AlwaysOnSampler() : ratio === 0 ? new AlwaysOffSampler() : new TraceIdRatioBasedSampler(ratio);
    this.#chosen = asksParent ? new ParentBasedSampler({ root }) : root;
    this.#share = ratio === 0 || ratio === 1 ? null : ratio;
  }

  shouldSample(...asked: Parameters<Sampler['shouldSample']>): SamplingResult {
    const [context, , , kind, , links] = asked;
    const parent = trace.getSpanContext(context);
    if (parent !== undefined && parent.isRemote !== true) return isSampled(parent) ? yes : no;
    // An email is recorded with the request that it comes from.
    if (kind === SpanKind.CONSUMER && links.some((link) => isSampled(link.context))) return yes;
    if (this.#share !== null && kind === SpanKind.SERVER) this.#left = Math.min(burst, this.#left + this.#share);
    const result = this.#chosen.shouldSample(...asked);
    if (result.decision !== SamplingDecision.RECORD_AND_SAMPLED || parent === undefined || this.#share === null)
      return result;
    if (this.#left < 1) return no;
    this.#left -= 1;
    return result;
  }

  toString(): string {
    return `RequestSampler{${this.#chosen}}`;
  }
}

function isSampled({ traceFlags }: { readonly traceFlags: number }): boolean {
  return (traceFlags & TraceFlags.SAMPLED) !== 0;
}

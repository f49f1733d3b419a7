/**
 * Which requests are recorded. OpenTelemetry's samplers believe what a caller says, but ours may be anyone: with the flag
 * or a chosen trace id, each request could be recorded where the operator asked for a tenth. So callers get a share.
 */
import { type Context, type Link, SpanKind, TraceFlags, trace } from '@opentelemetry/api';
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  ParentBasedSampler,
  type Sampler,
  SamplingDecision,
  TraceIdRatioBasedSampler,
} from '@opentelemetry/sdk-trace';
import type { Sampling } from './trace-environment.ts';

/** As many requests of callers may be recorded at once, beyond their share. */
const burst = 100;
/** Of these, at the start. */
const initial = 10;

/** The sampler. */
export class RequestSampler {
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

  /** Whether it is recorded. @param context Has the caller's span; without one, the trace begins here. */
  takes(context: Context, traceId: string, kind: SpanKind, links: Link[]): boolean {
    // An email is recorded with the request that it comes from.
    if (kind === SpanKind.CONSUMER && links.some((link) => isSampled(link.context))) return true;
    if (this.#share !== null && kind === SpanKind.SERVER) this.#left = Math.min(burst, this.#left + this.#share);
    const { decision } = this.#chosen.shouldSample(context, traceId, '', kind, {}, links);
    if (decision !== SamplingDecision.RECORD_AND_SAMPLED) return false;
    if (this.#share === null || trace.getSpanContext(context) === undefined) return true;
    if (this.#left < 1) return false;
    this.#left -= 1;
    return true;
  }
}

function isSampled({ traceFlags }: { readonly traceFlags: number }): boolean {
  return (traceFlags & TraceFlags.SAMPLED) !== 0;
}

/**
 * The variables of OpenTelemetry that its packages do not read themselves. A wrong value is named and not used, as the
 * standard demands: tracing never keeps a service from starting.
 */

/** The environment of the process. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** Which requests are recorded. */
export interface Sampling {
  /** What callers that have decided say counts. */
  readonly asksParent: boolean;
  /** Of the traces that begin here, from 0 to 1. */
  readonly ratio: number;
}

/** What the variables say. */
export interface TraceSettings {
  readonly sampling: Sampling;
  /** Undefined: OpenTelemetry's default. */
  readonly batch: {
    readonly scheduledDelayMillis?: number;
    readonly exportTimeoutMillis?: number;
    readonly maxQueueSize?: number;
    readonly maxExportBatchSize?: number;
  };
  readonly limits: { readonly attributeCountLimit?: number; readonly attributeValueLengthLimit?: number };
}

/** The variable that names the collector; null: nothing is to be exported. */
export function endpointOf(environment: Environment): { readonly name: string; readonly value: string } | null {
  const read = (name: string) => environment[name]?.trim() ?? '';
  if (read('OTEL_SDK_DISABLED').toLowerCase() === 'true' || read('OTEL_TRACES_EXPORTER') === 'none') return null;
  const names = ['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', 'OTEL_EXPORTER_OTLP_ENDPOINT'];
  const name = names.find((each) => read(each) !== '');
  return name === undefined ? null : { name, value: read(name) };
}

/** Reads them. @param warn Gets a sentence for each that is not used; it quotes no value. */
export function readTraceSettings(environment: Environment, warn: (problem: string) => void): TraceSettings {
  const read = (name: string) => environment[name]?.trim() || null;
  const whole = (name: string): number | undefined => {
    const text = read(name);
    if (text === null || /^\d{1,9}$/.test(text)) return text === null ? undefined : Number(text);
    warn(`${name} is no whole number, and its default is used.`);
    return undefined;
  };
  const refuseOther = (name: string, known: readonly string[]) => {
    const text = read(name);
    if (text !== null && !known.includes(text))
      warn(`${name} must be ${known.join(' or ')}; traces are sent as ${known[0]}.`);
  };
  refuseOther('OTEL_TRACES_EXPORTER', ['otlp']);
  refuseOther(
    read('OTEL_EXPORTER_OTLP_TRACES_PROTOCOL') === null
      ? 'OTEL_EXPORTER_OTLP_PROTOCOL'
      : 'OTEL_EXPORTER_OTLP_TRACES_PROTOCOL',
    ['http/protobuf'],
  );
  const batch = {
    scheduledDelayMillis: whole('OTEL_BSP_SCHEDULE_DELAY'),
    exportTimeoutMillis: whole('OTEL_BSP_EXPORT_TIMEOUT'),
    maxQueueSize: whole('OTEL_BSP_MAX_QUEUE_SIZE'),
    maxExportBatchSize: whole('OTEL_BSP_MAX_EXPORT_BATCH_SIZE'),
  };
  const limits = {
    attributeCountLimit: whole('OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT') ?? whole('OTEL_ATTRIBUTE_COUNT_LIMIT'),
    attributeValueLengthLimit:
      whole('OTEL_SPAN_ATTRIBUTE_VALUE_LENGTH_LIMIT') ?? whole('OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT'),
  };
  return { sampling: readSampling(read, warn), batch: given(batch), limits: given(limits) };
}

const usualSampler = 'parentbased_always_on';

function readSampling(read: (name: string) => string | null, warn: (problem: string) => void): Sampling {
  const name = read('OTEL_TRACES_SAMPLER') ?? usualSampler;
  const [, parent, sampler] = /^(parentbased_)?(always_on|always_off|traceidratio)$/.exec(name) ?? [];
  if (sampler === undefined) {
    warn(`OTEL_TRACES_SAMPLER is none of OpenTelemetry's samplers, and ${usualSampler} is used.`);
    return { asksParent: true, ratio: 1 };
  }
  const asksParent = parent !== undefined;
  if (sampler !== 'traceidratio') return { asksParent, ratio: sampler === 'always_on' ? 1 : 0 };
  const text = read('OTEL_TRACES_SAMPLER_ARG');
  const ratio = Number(text ?? 1);
  if (ratio >= 0 && ratio <= 1) return { asksParent, ratio };
  warn('OTEL_TRACES_SAMPLER_ARG is no number from 0 to 1, and 1 is used.');
  return { asksParent, ratio: 1 };
}

type Given<T> = { [K in keyof T]?: Exclude<T[K], undefined> };

function given<T extends object>(values: T): Given<T> {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as Given<T>;
}

/** Opens what records traces, as the variables of OpenTelemetry say. */
import { createUntraced, type Tracer } from '../span.ts';
import type { TracerOptions } from './otlp-tracer.ts';
import { type Environment, endpointOf, readTraceSettings } from './trace-environment.ts';

/** Nothing is loaded, and nothing recorded, unless a collector is named. */
export async function openTracer(environment: Environment, options: TracerOptions): Promise<Tracer> {
  const endpoint = endpointOf(environment);
  if (endpoint === null) return createUntraced(options.inDatabase);
  const warn = (message: string) => options.observe({ kind: 'warning', message });
  if (!/^https?:$/.test(URL.parse(endpoint.value)?.protocol ?? '')) {
    // The packages would send to this machine instead.
    warn(`${endpoint.name} is no address of the form http://host:4318, and traces are not sent.`);
    return createUntraced(options.inDatabase);
  }
  const settings = readTraceSettings(environment, warn);
  const { createOtlpTracer } = await import('./otlp-tracer.ts');
  return createOtlpTracer(settings, options);
}

/**
 * The connections to a collector behind a proxy, which the agent of OpenTelemetry's exporter does not know. Certificates are
 * those of the exporter's variables.
 */
import { readFileSync } from 'node:fs';
import { Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import { proxyVariables } from '../../egress/proxy.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** What makes agents, for the exporter; null where no proxy is named. @throws An error of the file system. */
export function collectorAgents(environment: Environment): ((protocol: string) => HttpAgent) | null {
  const proxyEnv = proxyVariables(environment);
  if (proxyEnv.http_proxy === '' && proxyEnv.https_proxy === '') return null;
  const kept = { keepAlive: true, proxyEnv };
  const read = (name: string) => {
    const path = environment[`OTEL_EXPORTER_OTLP_TRACES_${name}`] || environment[`OTEL_EXPORTER_OTLP_${name}`];
    return path ? { [members[name]!]: readFileSync(path) } : {};
  };
  const certificates = () => Object.assign({}, ...Object.keys(members).map(read));
  return (protocol) => (protocol === 'http:' ? new HttpAgent(kept) : new HttpsAgent({ ...kept, ...certificates() }));
}

/** Of Node, by the end of the variable. */
const members: Readonly<Record<string, string>> = { CERTIFICATE: 'ca', CLIENT_KEY: 'key', CLIENT_CERTIFICATE: 'cert' };

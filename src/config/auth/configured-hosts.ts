/** The hosts that the start values of the auth configuration name: the operator's choice, so they may be anywhere. */
import { hostOf } from '../../shared/egress/egress.ts';
import { type AuthConfig, type AuthValues, layerAuthConfig } from './auth-config.ts';

/** Reads the hosts of the current start values, as `host:port`. */
export function createConfiguredHosts(start: () => AuthValues): () => ReadonlySet<string> {
  let known: { readonly start: AuthValues; readonly hosts: ReadonlySet<string> } | null = null;
  return () => {
    const now = start();
    if (known?.start !== now) known = { start: now, hosts: hostsOf(layerAuthConfig(now)) };
    return known.hosts;
  };
}

function hostsOf(config: AuthConfig): ReadonlySet<string> {
  const hosts = new Set([`${config.smtp_host?.toLowerCase()}:${config.smtp_port}`]);
  for (const [name, value] of Object.entries(config)) {
    if (!/^(hook|external|sms|security|mailer)_.*_ur[il]$|^external_allowed_id_token_issuers$/.test(name)) continue;
    for (const part of String(value ?? '').split(/[\s,]+/)) hosts.add(hostOf(part) ?? '');
  }
  return hosts;
}

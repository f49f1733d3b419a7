/** The mail server settings of the auth configuration; null without a mail server. */
import type { AuthConfig } from '../../config/auth/auth-config.ts';

/** How to connect to the mail server. */
export interface SmtpSettings {
  readonly host: string;
  readonly port: number;
  /** TLS from the first byte; otherwise STARTTLS if offered. */
  readonly implicitTls: boolean;
  /** Null: no login. */
  readonly login: { readonly user: string; readonly password: string } | null;
  /** Null: not signed here. The mail server may sign. */
  readonly dkim: { readonly domain: string; readonly selector: string; readonly privateKey: string } | null;
  /** Our name in the greeting. */
  readonly greetingName: string;
}

type SmtpConfig = Pick<
  AuthConfig,
  | 'smtp_host'
  | 'smtp_port'
  | 'smtp_user'
  | 'smtp_pass'
  | 'mailer_dkim_domain'
  | 'mailer_dkim_selector'
  | 'mailer_dkim_private_key'
>;

const implicitTlsPort = '465';

/** @param authUrl Public base of the auth service; its host is the name in the greeting. */
export function smtpSettings(config: SmtpConfig, authUrl: string): SmtpSettings | null {
  const { smtp_host: host, smtp_port: port, smtp_user: user, smtp_pass: password } = config;
  if (!host) return null;
  const login = user ? { user, password: password ?? '' } : null;
  return {
    host,
    port: Number(port),
    implicitTls: port === implicitTlsPort,
    login,
    dkim: signature(config),
    greetingName: greetingName(authUrl),
  };
}

function signature(config: SmtpConfig): SmtpSettings['dkim'] {
  const { mailer_dkim_domain: domain, mailer_dkim_selector: selector, mailer_dkim_private_key: privateKey } = config;
  return domain && selector && privateKey ? { domain, selector, privateKey } : null;
}

function greetingName(authUrl: string): string {
  const host = new URL(authUrl).hostname;
  if (host.startsWith('[')) return `[IPv6:${host.slice(1)}`;
  return /^[0-9.]+$/.test(host) ? `[${host}]` : host;
}

/**
 * What emails cost a process, without any server: messages made from the built-in templates, and a large template read.
 */
import { type AuthConfig, layerAuthConfig } from '../../../src/config/auth/auth-config.ts';
import { emailKindNames } from '../../../src/config/auth/email-kinds.ts';
import { builtInLocales } from '../../../src/email/built-in/built-in.ts';
import { layoutTemplate } from '../../../src/email/built-in/layout.ts';
import { parseTemplate } from '../../../src/email/engine/template.ts';
import { buildMessage, type MessageData } from '../../../src/email/message/message.ts';
import { median } from './measure.ts';

/** What was measured. */
export interface EmailWork {
  /**
   * Messages in a second of processor time, of all threads, with the built-in layout: subject and body of the 14 emails in
   * nine languages in turn, each chosen by the language of its user.
   */
  readonly messagesPerSecond: number;
  /** The same with a layout of the project around the built-in texts. */
  readonly ownLayoutPerSecond: number;
  /** Median time for reading a template of 100 KB in milliseconds. */
  readonly parseMs: number;
}

const facts: MessageData = {
  to: 'ada@example.com',
  email: 'ada@example.com',
  userMetadata: { name: 'Ada Lovelace' },
  redirectTo: 'https://app.example.com/welcome',
  token: '123456',
  tokenHash: '5f4dcc3b5aa765d61d8327deb882cf99f4dcc3b5aa765d61d8327deb',
  confirmationUrl:
    'https://api.example.com/auth/v1/verify?token=5f4dcc3b&type=email&redirect_to=https://app.example.com',
  newEmail: 'ada.lovelace@example.com',
  oldEmail: 'ada@example.org',
  phone: '15555550100',
  oldPhone: '15555550199',
  provider: 'google',
  factorType: 'totp',
};

const paragraph = (n: number) =>
  `<p class="row-${n}">Hello {{ if .Data.name }}{{ .Data.name | html }}{{ else }}there{{ end }}, ` +
  `<a href="{{ .ConfirmationURL }}" title="{{ .Email }}" style="color: #1c1c1c">confirm {{ printf "%d" ${n} }}</a></p>\n`;

/** Takes about the given time. */
export function measureEmailWork(seconds: number): EmailWork {
  const source = Array.from({ length: 500 }, (_, n) => paragraph(n))
    .join('')
    .slice(0, 100 * 1024);
  const large = source.slice(0, source.lastIndexOf('<p '));
  const parse = () => void parseTemplate(large, { kind: 'html' });
  // Warm, as a server is that runs for a while.
  timesOf(parse, seconds / 6);
  const site_url = 'https://app.example.com';
  return {
    messagesPerSecond: rateOf(layerAuthConfig({ site_url }), seconds / 3),
    ownLayoutPerSecond: rateOf(layerAuthConfig({ site_url, mailer_layout_content: layoutTemplate() }), seconds / 3),
    parseMs: median(timesOf(parse, seconds / 6)),
  };
}

/** Messages in a second of processor time. */
function rateOf(config: AuthConfig, seconds: number): number {
  const makeAll = () => {
    for (const locale of builtInLocales)
      for (const kind of emailKindNames) buildMessage(kind, config, { ...facts, languages: [locale] });
  };
  timesOf(makeAll, seconds / 2);
  const before = process.cpuUsage();
  const { length: rounds } = timesOf(makeAll, seconds / 2);
  const { user, system } = process.cpuUsage(before);
  return (rounds * builtInLocales.length * emailKindNames.length * 1_000_000) / (user + system);
}

/** Milliseconds of every run within the time. */
function timesOf(run: () => void, seconds: number): number[] {
  const times: number[] = [];
  const end = performance.now() + seconds * 1000;
  for (let start = performance.now(); start < end; start = performance.now()) {
    run();
    times.push(performance.now() - start);
  }
  return times;
}

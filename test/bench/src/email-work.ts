/**
 * What emails cost a process, without any server: messages made from the built-in templates, and a large template read.
 */
import { defaultAuthConfig } from '../../../src/config/auth/auth-config.ts';
import { emailKindNames } from '../../../src/email/email-kind.ts';
import { buildMessage, type MessageData } from '../../../src/email/message.ts';
import { parseTemplate } from '../../../src/email/template/template.ts';
import { median } from './measure.ts';

/** What was measured on one processor. */
export interface EmailWork {
  /** Messages, subject and body rendered, from the built-in templates of all 13 kinds in turn. */
  readonly messagesPerSecond: number;
  /** Median time for reading a template of 100 KB in milliseconds. */
  readonly parseMs: number;
}

const facts: MessageData = {
  to: 'ada@example.com',
  email: 'ada@example.com',
  userMetadata: { name: 'Ada Lovelace', locale: 'en' },
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
  const makeAll = () => emailKindNames.forEach((kind) => void buildMessage(kind, defaultAuthConfig, facts));
  const source = Array.from({ length: 500 }, (_, n) => paragraph(n))
    .join('')
    .slice(0, 100 * 1024);
  const large = source.slice(0, source.lastIndexOf('<p '));
  const parse = () => void parseTemplate(large, { kind: 'html' });
  // Warm, as a server is that runs for a while.
  timesOf(makeAll, seconds / 4);
  timesOf(parse, seconds / 4);
  const rounds = timesOf(makeAll, seconds / 4);
  const roundMs = rounds.reduce((sum, ms) => sum + ms, 0) / rounds.length;
  return {
    messagesPerSecond: (emailKindNames.length * 1000) / roundMs,
    parseMs: median(timesOf(parse, seconds / 4)),
  };
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

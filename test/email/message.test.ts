/**
 * Messages: which texts, which variables, and what users cannot do to them.
 */
import { describe, expect, test } from 'vitest';
import { type AuthValues, layerAuthConfig } from '../../src/config/auth/auth-config.ts';
import { type EmailKind, emailKindNames } from '../../src/config/auth/email-kinds.ts';
import { buildMessage, type MessageData } from '../../src/email/message/message.ts';
import { parseOptions } from '../../src/email/message/parse-options.ts';
import { toPlainText } from '../../src/email/message/plain-text.ts';
import { cleanSubject } from '../../src/email/message/subject.ts';
import { composeMessage } from '../../src/email/transport/compose-message.ts';
import { sampleData, sampleUrl } from '../support/email.ts';

const build = (kind: EmailKind, values: AuthValues = {}, data: Partial<MessageData> = {}) =>
  buildMessage(kind, layerAuthConfig({ site_url: 'https://app.test', ...values }), { ...sampleData, ...data });

const show =
  '{{ .SiteURL }}|{{ .Email }}|{{ .RedirectTo }}|{{ .Token }}|{{ .TokenHash }}|{{ .NewEmail }}|{{ .SendingTo }}|{{ .OldEmail }}|{{ .Phone }}|{{ .OldPhone }}|{{ .Provider }}|{{ .FactorType }}|{{ .Data.plan }}';
const all = 'https://app.test|ana@mail.test|https://app.test/welcome';

describe('variables', () => {
  test.each([
    ['confirmation', `${all}|012345|hash||||||||pro`],
    ['invite', `${all}|012345|hash||||||||pro`],
    ['magic_link', `${all}|012345|hash||||||||pro`],
    ['recovery', `${all}|012345|hash||||||||pro`],
    ['email_change', `${all}|012345|hash|new@mail.test|to@mail.test||||||pro`],
    ['reauthentication', `${all}|012345|hash||||||||pro`],
    ['password_changed_notification', `${all}||||||||||pro`],
    ['email_changed_notification', `${all}|||||old@mail.test|||||pro`],
    ['phone_changed_notification', `${all}||||||491511111|491522222|||pro`],
    ['identity_linked_notification', `${all}||||||||google||pro`],
    ['identity_unlinked_notification', `${all}||||||||google||pro`],
    ['mfa_factor_enrolled_notification', `${all}|||||||||totp|pro`],
    ['mfa_factor_unenrolled_notification', `${all}|||||||||totp|pro`],
    ['mfa_factor_guessed_notification', `${all}|||||||||totp|pro`],
  ] as const)('%s has its own, and the others print nothing', (kind, expected) => {
    const subject = build(kind, { [`mailer_subjects_${kind}`]: show }).subject;
    expect(subject).toBe(expected.replaceAll('', ''));
  });

  test('the link is a variable of the five emails that have one', () => {
    const withLink = emailKindNames.filter(
      (kind) => build(kind, { [`mailer_subjects_${kind}`]: '{{ .ConfirmationURL }}' }).subject === sampleUrl,
    );
    expect(withLink).toEqual(['confirmation', 'invite', 'magic_link', 'email_change', 'recovery']);
  });

  test('an email that lacks a value of its variables is an error, not an empty place', () => {
    const { token: _token, ...without } = sampleData;
    const config = layerAuthConfig({});
    expect(() => buildMessage('recovery', config, without)).toThrow('without Token');
  });
});

describe('built-in texts', () => {
  test.each(emailKindNames)('%s has no look where the configuration says so', async (kind) => {
    const message = build(kind, { mailer_compatible: true });
    expect(message.html).not.toContain('{{');
    expect({ subject: message.subject, text: await toPlainText(message.html) }).toMatchSnapshot();
  });

  test('an empty or null field stands for the built-in text, each by itself', () => {
    const usual = build('recovery');
    const message = build('recovery', {
      mailer_subjects_recovery: '',
      mailer_templates_recovery_content: '<p>mine</p>',
    });
    expect(message.subject).toBe(usual.subject);
    expect(message.html).toBe('<p>mine</p>');
    expect(build('recovery', { mailer_templates_recovery_content: null }).html).toBe(usual.html);
  });

  test('the change of an address tells its owner of both, and the new one, perhaps a stranger, of itself alone', () => {
    const own = build('email_change', {}, { to: 'ana@mail.test' }).html;
    expect(own).toContain('your email address at app.test from ana@mail.test to new@mail.test.');
    expect(own).toContain('confirm it. Change your password.');
    for (const email of ['ana@mail.test', '']) {
      const stranger = build('email_change', {}, { to: 'new@mail.test', email }).html;
      expect(stranger).toContain('We received a request to use new@mail.test for an account at app.test.');
      expect(stranger).toContain('you can ignore this email.');
      expect(stranger).not.toMatch(/ana@|password/);
    }
  });
});

describe('what users put into an email', () => {
  const hostile = '"><script>alert(1)</script>\r\nBcc: victim@mail.test\r\n\r\n{{ .Token }}';

  test('what users put into an email stays text in the body and is never a template', () => {
    const content = '<p title="{{ .Data.name }}">{{ .Data.name }}</p>';
    const { html } = build(
      'recovery',
      { mailer_templates_recovery_content: content },
      { userMetadata: { name: hostile } },
    );
    expect(html).not.toContain('<script>');
    expect(html).toContain('{{ .Token }}');
    expect(html).not.toContain('012345');
  });

  test('what users put into an email stays one line in the subject, unescaped', () => {
    const values = { mailer_subjects_recovery: 'For {{ .Data.name }}' };
    const message = build('recovery', values, { userMetadata: { name: "A & B <x> O'Hara\r\nBcc: victim@mail.test" } });
    expect(message.subject).toBe("For A & B <x> O'Hara Bcc: victim@mail.test");
  });

  test('what users put into an email makes no header, wherever it is used', async () => {
    const values: AuthValues = {
      mailer_subjects_recovery: '{{ .Data.name }}',
      smtp_sender_name: 'Shop\r\nBcc: victim@mail.test',
      smtp_admin_email: 'shop@mail.test',
      smtp_headers: JSON.stringify({
        'X-Kind\r\nBcc': ['victim@mail.test'],
        'X-Note': ['a\r\nBcc: victim@mail.test'],
        Bcc: ['victim@mail.test'],
        'Content-Type': ['text/plain'],
      }),
    };
    const message = build('recovery', values, { userMetadata: { name: hostile } });
    const head = (await composeMessage(message, new Date())).toString('latin1').split('\r\n\r\n', 1)[0] ?? '';
    const names = head
      .replace(/\r\n[ \t]/g, ' ')
      .split('\r\n')
      .map((line) => line.slice(0, line.indexOf(':')));
    expect(names).toEqual(
      expect.arrayContaining(['X-Note', 'From', 'To', 'Subject', 'Date', 'Message-ID', 'MIME-Version']),
    );
    expect(
      names.filter(
        (name) =>
          !/^(X-Note|From|To|Subject|Date|Message-ID|MIME-Version|Content-Type|Auto-Submitted|X-Auto-Response-Suppress)$/.test(
            name,
          ),
      ),
    ).toEqual([]);
    expect(head).toContain('Content-Type: multipart/alternative;');
  });
});

describe('subjects', () => {
  test.each([
    ['a\tb\n\nc', 'a b c'],
    ['a\0b\u0007c\u007fd\u0085e', 'abcd e'],
    ['  a  ', 'a'],
    ['a\u2028b\u2029c', 'a b c'],
    ['a\ud800b', 'a\ufffdb'],
    ['a\u202eb\u2066c', 'abc'],
  ])('%j becomes %j', (rendered, expected) => {
    expect(cleanSubject(rendered)).toBe(expected);
  });

  test('subjects are cut at 998 bytes, never inside a character', () => {
    expect(Buffer.byteLength(cleanSubject('x'.repeat(2000)))).toBe(998);
    expect(cleanSubject('€'.repeat(400))).toBe('€'.repeat(332));
    expect(cleanSubject(`x${'😀'.repeat(400)}`)).toBe(`x${'😀'.repeat(249)}`);
  });

  test('subjects are escaped as HTML where the configuration wants the behavior of Supabase Auth', () => {
    const subject = { mailer_subjects_recovery: 'For {{ .Data.name }}' };
    const data = { userMetadata: { name: 'A & B' } };
    expect(build('recovery', subject, data).subject).toBe('For A & B');
    expect(build('recovery', { ...subject, mailer_subject_html_escape: true }, data).subject).toBe('For A &amp; B');
  });
});

describe('switches of the configuration', () => {
  test('conditional comments are kept only when asked for', () => {
    const values = { mailer_templates_recovery_content: '<!--[if mso]><b>{{ .Token }}</b><![endif]-->x' };
    expect(build('recovery', values).html).toBe('x');
    expect(build('recovery', { ...values, mailer_keep_conditional_comments: true }).html).toBe(
      '<!--[if mso]><b>012345</b><![endif]-->x',
    );
    expect(build('recovery', values).html).toBe('x');
  });

  test('links into apps work for the schemes that are listed', () => {
    const values = { mailer_templates_recovery_content: '<a href="{{ .RedirectTo }}">x</a>' };
    const data = { redirectTo: 'myapp://open' };
    expect(build('recovery', values, data).html).toBe('<a href="#ZgotmplZ">x</a>');
    expect(build('recovery', { ...values, mailer_extra_url_schemes: 'other, MyApp://' }, data).html).toBe(
      '<a href="myapp://open">x</a>',
    );
  });

  test('schemes may be written as they stand in links, for sending and for checking alike', () => {
    const alone = { mailer_layout_content: null, mailer_partials: null };
    const switches = { ...alone, mailer_keep_conditional_comments: true, mailer_subject_html_escape: false };
    const given = { ...switches, mailer_extra_url_schemes: ' MyApp:// ,other:,, tel,' };
    const none = { layout: null, partials: {} };
    const options = { ...none, extraUrlSchemes: ['myapp', 'other', 'tel'], keepConditionalComments: true };
    expect(parseOptions('content', given)).toEqual({ ...options, kind: 'html' });
    expect(parseOptions('subject', given)).toEqual({ ...options, kind: 'text' });
    expect(parseOptions('subject', { ...given, mailer_subject_html_escape: true }).kind).toBe('html');
  });

  test('values of different types may be compared unless the configuration is strict, with a warning', () => {
    const config = layerAuthConfig({
      mailer_templates_recovery_content: '{{ if eq .Data.plan 1 }}one{{ else }}other{{ end }}',
    });
    const strict = { ...config, mailer_template_lenient_compare: false };
    const warnings: unknown[] = [];
    const tools = { onWarning: (part: string, line: number) => warnings.push([part, line]) };
    expect(() => buildMessage('recovery', strict, sampleData)).toThrow();
    expect(buildMessage('recovery', config, sampleData, tools).html).toBe('other');
    expect(warnings).toEqual([['content', 1]]);
  });

  test('the sender is the configured one, else an address at the host of the application', () => {
    const values = { smtp_admin_email: 'shop@mail.test', smtp_sender_name: 'The Shop' };
    expect(build('recovery', values).from).toEqual({ name: 'The Shop', address: 'shop@mail.test' });
    expect(build('recovery').from).toEqual({ name: '', address: 'noreply@app.test' });
  });

  test('every message has an id at the host of the sender', () => {
    const first = build('recovery', { smtp_admin_email: 'shop@mail.test' });
    expect(first.messageId).toMatch(/^<[0-9a-f-]{36}@mail\.test>$/);
    expect(build('recovery').messageId).not.toBe(first.messageId);
  });

  test('extra headers name the kind of email, join their values and leave out what is empty', () => {
    const smtp_headers = JSON.stringify({
      'X-Tag': ['$messageType', '', 'b'],
      'X-Empty': [],
      '': ['a'],
      'X-Text': 'c',
    });
    expect(build('reauthentication', { smtp_headers, mailer_compatible: true }).headers).toEqual({
      'X-Tag': 'reauthenticate, b',
      'X-Text': 'c',
    });
    expect(build('email_changed_notification', { smtp_headers }).headers['X-Tag']).toBe(
      'email_changed_notification, b',
    );
    const automatic = { 'Auto-Submitted': 'auto-generated', 'X-Auto-Response-Suppress': 'All' };
    expect(build('recovery', { smtp_headers: 'nonsense' }).headers).toEqual(automatic);
    expect(build('recovery', { smtp_headers: '{"auto-submitted":["no"]}' }).headers).toEqual({
      'X-Auto-Response-Suppress': 'All',
      'auto-submitted': 'no',
    });
  });

  test('replies go to one address, whatever the extra headers say', () => {
    const values = { mailer_compatible: true, mailer_reply_to: 'help@mail.test' };
    const smtp_headers = '{"reply-to":["other@mail.test"]}';
    expect(build('recovery', { ...values, smtp_headers }).headers).toEqual({ 'Reply-To': 'help@mail.test' });
  });
});

/**
 * The built-in emails: every language has all of them, they say what they must, and they read well as text.
 */
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { layerAuthConfig } from '../../src/config/auth/auth-config.ts';
import { emailKindNames, emailKinds } from '../../src/config/auth/email-kinds.ts';
import { builtIn, builtInLocales, emailTexts, languages } from '../../src/email/built-in/built-in.ts';
import { parseTemplate, templateVariables } from '../../src/email/engine/template.ts';
import { renderBuiltIn } from '../../src/email/link-page/link-page.ts';
import { linkActions } from '../../src/email/link-page/link-page-texts.ts';
import { buildMessage } from '../../src/email/message/message.ts';
import { toPlainText } from '../../src/email/message/plain-text.ts';
import { defaultTemplates } from '../support/default-templates.ts';
import { sampleData } from '../support/email.ts';

const everyText = builtInLocales.flatMap((locale) => emailKindNames.map((kind) => [locale, kind] as const));

describe.each(builtInLocales)('in %s', (locale) => {
  test('all emails read well as text', async () => {
    const texts = emailKindNames.map(async (kind) => {
      const { subject, content } = builtIn(kind, locale);
      const values = { [`mailer_subjects_${kind}`]: subject, [`mailer_templates_${kind}_content`]: content };
      const look = {
        site_url: 'https://app.test',
        mailer_brand_name: 'The Shop',
        mailer_brand_footer: 'Main Street 1',
      };
      const message = buildMessage(kind, layerAuthConfig({ ...look, ...values }), sampleData);
      expect(message.html).not.toContain('{{');
      return `=== ${kind}: ${message.subject}\n\n${await toPlainText(message.html)}\n`;
    });
    const golden = fileURLToPath(new URL(`../golden/emails/${locale}.txt`, import.meta.url));
    await expect((await Promise.all(texts)).join('\n')).toMatchFileSnapshot(golden);
  });

  test('a sign-in method by email or phone has a name of the language', async () => {
    const { content } = builtIn('identity_linked_notification', locale);
    const config = layerAuthConfig({ mailer_templates_identity_linked_notification_content: content });
    const saying = async (provider: string) => {
      const { html } = buildMessage('identity_linked_notification', config, { ...sampleData, provider });
      return (await toPlainText(html)).replaceAll(/\s+/g, ' ');
    };
    const { email, phone } = languages[locale].methods;
    const named = [email, phone, 'google'].map((name) => new RegExp(`[(（]${name}[)）]`));
    expect(await saying('email')).toMatch(named[0]!);
    expect(await saying('phone')).toMatch(named[1]!);
    expect(await saying('google')).toMatch(named[2]!);
  });

  test('an email uses the variables that the English one uses, and no others', () => {
    for (const kind of emailKindNames) {
      const [own, base] = [builtIn(kind, locale), defaultTemplates[kind]].map(({ subject, content }) =>
        [
          ...templateVariables(parseTemplate(subject, { kind: 'text' })).keys(),
          ...templateVariables(parseTemplate(content, { kind: 'html' })).keys(),
        ]
          // The name of the service may stand in the subject or not.
          .filter((name, index, all) => all.indexOf(name) === index)
          .sort(),
      );
      expect([kind, own]).toEqual([kind, base]);
      expect(own!.filter((name) => !(emailKinds[kind].variables as readonly string[]).includes(name))).toEqual([]);
    }
  });

  test('the page says its language, and each phrase names the service, the person and the advice of the English one', () => {
    const places = (text: string) =>
      [...text.matchAll(/\{\{.*?\}\}|\{(?:factor|provider)\}/g)].map(([place]) => place).sort();
    for (const kind of emailKindNames) {
      // Web mail drops the first, and its own page may be in Hebrew or Arabic.
      const marked = builtIn(kind, locale).content.match(/<(html|table)[^>]* lang=.*? dir="ltr"/g);
      expect(marked?.map((tag) => tag.includes(`lang="${locale}"`))).toEqual([true, true]);
      const [own, base] = [emailTexts(locale)[kind], emailTexts('en')[kind]];
      expect([kind, places(own.lead)]).toEqual([kind, places(base.lead)]);
      expect([kind, own.end.length, places(own.end.join())]).toEqual([kind, base.end.length, places(base.end.join())]);
      expect([kind, own.button === undefined]).toEqual([kind, base.button === undefined]);
    }
  });
});

test.each(builtInLocales)('the page that asks before a link is used reads well in %s', async (locale) => {
  const texts = linkActions.map(async (action) => {
    const page = { action, email: 'a***a@mail.test', siteUrl: 'https://app.test', fields: { token: 't' } };
    const html = renderBuiltIn({ ...page, locale, languages: [] });
    expect(html).toContain(`<html lang="${locale}">`);
    return `=== ${action}\n\n${await toPlainText(html)}\n`;
  });
  const golden = fileURLToPath(new URL(`../golden/emails/${locale}-page.txt`, import.meta.url));
  await expect((await Promise.all(texts)).join('\n')).toMatchFileSnapshot(golden);
});

test('no text of another language was left in English, and none is the same for two emails', () => {
  const leads = everyText.map(([locale, kind]) => emailTexts(locale)[kind].lead);
  expect(new Set(leads).size).toBe(leads.length);
});

test('subjects are short enough to be read whole', () => {
  const long = everyText.filter(([locale, kind]) => {
    const subject = builtIn(kind, locale).subject.replace(/\{\{.*?\}\}/g, '123456');
    // A Japanese character is twice as wide.
    return subject.length > (locale === 'ja' ? 30 : 60);
  });
  expect(long).toEqual([]);
});

test('a language without texts gets the English ones', () => {
  expect(builtIn('recovery', 'eo')).toBe(builtIn('recovery', 'en'));
  expect(builtIn('recovery', 'toString')).toBe(builtIn('recovery', 'en'));
});

test('nothing is loaded from elsewhere, and no script runs', () => {
  for (const [locale, kind] of everyText) {
    const { content } = builtIn(kind, locale);
    expect(content).not.toMatch(/<script|<link|url\(|@import|<form/i);
    expect(content.match(/src=[^ ]*/g)).toEqual(['src="{{']);
  }
});

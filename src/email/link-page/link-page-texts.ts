/** The built-in page that asks before an emailed link is used: its texts, and the template that is made of them. */
import type { LinkKind } from '../../config/auth/email-kinds.ts';
import { lookUpTag } from '../../shared/language-tag.ts';
import { type BuiltInLocale, builtInLocales, emailTexts, languages } from '../built-in/built-in.ts';

/** What the button does: the email that its link is from; `other` for a link of an unknown type. */
export type LinkAction = LinkKind | 'other';

interface ActionTexts {
  readonly heading: string;
  readonly button: string;
}

/** The page in one language. Sentences are parts of a template, and may use its variables. */
interface LinkPageTexts {
  readonly actions: Readonly<Record<LinkAction, ActionTexts>>;
  /** Names the site: `.SiteURL`. */
  readonly next: string;
  /** Names the recipient: `.Email`. */
  readonly sentTo: string;
  readonly unexpected: string;
}

const linkPageTexts = Object.fromEntries(builtInLocales.map((locale) => [locale, textsOf(locale)])) as Readonly<
  Record<BuiltInLocale, LinkPageTexts>
>;

/** The page says what the email said. */
function textsOf(locale: BuiltInLocale): LinkPageTexts {
  const emails = emailTexts(locale);
  const { invited, other, next, sentTo, unexpected } = languages[locale].linkPage;
  const like = (kind: LinkKind): ActionTexts => ({
    heading: emails[kind].subject,
    button: emails[kind].button ?? other,
  });
  const signIn = like('magic_link').button;
  return {
    actions: {
      confirmation: like('confirmation'),
      invite: { ...like('invite'), heading: invited },
      magic_link: { heading: signIn, button: signIn },
      email_change: like('email_change'),
      recovery: like('recovery'),
      other: { heading: other, button: other },
    },
    next,
    sentTo,
    unexpected,
  };
}

/** The texts of the first language that has any, or of a more general one; otherwise the English ones. */
export function linkPageTextsOf(...wishes: readonly string[]): LinkPageTexts {
  return linkPageTexts[builtInLocales.find((name) => name === lookUpTag(wishes, builtInLocales)) ?? 'en'];
}

/** All of them. */
export const linkActions = Object.keys(linkPageTexts.en.actions) as readonly LinkAction[];

/** The page of a language, in the template language. */
export function builtInLinkPage(locale: string): string {
  const texts = linkPageTextsOf(locale);
  const named = linkActions.filter((action) => action !== 'other');
  const branches = named.map((action) => `if eq .Action "${action}" }}${texts.actions[action].heading}`);
  const heading = `{{ ${branches.join('{{ else ')}{{ else }}${texts.actions.other.heading}{{ end }}`;
  // Japanese has no blanks between sentences.
  const blank = texts.next.endsWith('。') ? '' : ' ';
  const next = `${texts.next}{{ if .Email }}${blank}${texts.sentTo}{{ end }}`;
  return pageTemplate(heading, `<p>${next}</p>`, `<p>${texts.unexpected}</p>`);
}

/** A page around `.Button`, in the template language. */
export function pageTemplate(heading: string, above: string, below: string): string {
  return `<!doctype html>
<html lang="{{ .Locale }}">
<head>
  <meta charset="utf-8">
  <meta name="viewport" content="width=device-width">
  <meta name="color-scheme" content="light dark">
  <title>${heading}</title>
  <style>
    body { max-width: 34em; margin: 15vh auto 0; padding: 0 24px; font: 17px/1.5 system-ui, sans-serif; overflow-wrap: anywhere }
    h1 { font-size: 24px }
    button { padding: 12px 24px; border: 0; border-radius: 6px; background: CanvasText; color: Canvas; font: inherit; font-weight: bold; cursor: pointer }
    button:focus-visible { outline: 3px solid Highlight; outline-offset: 2px }
  </style>
</head>
<body>
  <main>
    <h1>${heading}</h1>
    ${above}
    {{ .Button }}
    ${below}
  </main>
</body>
</html>
`;
}

/**
 * What is written for each language: the emails, and the words that they share.
 *
 * Texts are in the template language. They are part of HTML, so `&` and `<` do not occur; `{factor}` stands for the name
 * of a second factor, `{provider}` for that of a sign-in method.
 */
import type { EmailKind } from '../../config/auth/email-kinds.ts';

interface EmailText {
  readonly subject: string;
  /** Above the text, if it is not the subject. */
  readonly heading?: string;
  /** What happened or what to do. */
  readonly lead: string;
  /** What the button does; only for emails with a link. */
  readonly button?: string;
  /** What to do if it wasn't the recipient, and what else there is to say. */
  readonly end: readonly string[];
}

/** A language. */
export interface LanguageTexts {
  /** Between the button and the code. */
  readonly orCode: string;
  /** Names of second factors and sign-in methods in a sentence; others are named as they are. */
  readonly methods: { readonly totp: string; readonly phone: string; readonly email: string };
  /** An email that a language lacks is sent in English, which has all. */
  readonly emails: Readonly<Partial<Record<EmailKind, EmailText>>>;
  /** The page that asks before a link is used. */
  readonly linkPage: {
    /** Above the page of an invitation; the pages of the other emails have their subjects and buttons. */
    readonly invited: string;
    /** Heading and button of a link of an unknown type. */
    readonly other: string;
    /** Names the site: `.SiteURL`. */
    readonly next: string;
    /** Names the recipient: `.Email`, hidden in part. */
    readonly sentTo: string;
    /** For readers who did not ask for the link. */
    readonly unexpected: string;
  };
  /** The page that asks before an identity is linked. */
  readonly linking: {
    /** Names the provider: `.Provider`. */
    readonly heading: string;
    /** Names the account, `.Account`, and the site, `.SiteURL`. */
    readonly account: string;
    /** Names an account that has neither email address nor phone number. */
    readonly guest: string;
    readonly button: string;
    /** For readers to whom another person has sent the page. */
    readonly unexpected: string;
  };
}

/** A language that has all emails. */
export interface BaseTexts extends LanguageTexts {
  readonly emails: Readonly<Record<EmailKind, EmailText>>;
}

/** One text for the recipient at the new address, who may be a stranger, and one for the account's owner. */
export function byAddress(toNew: string, toOwner: string): string {
  return `{{ if eq .SendingTo .NewEmail }}${toNew}{{ else }}${toOwner}{{ end }}`;
}

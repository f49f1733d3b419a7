/** Data for checking templates: samples for each email, and the variables that make an email useful. */
import { type EmailKind, type EmailVariable, emailKinds } from '../../config/auth/email-kinds.ts';

/** Variables of which a body must use one, or the email would lead nowhere; empty for notifications. */
export function variablesThatAct(email: EmailKind): readonly string[] {
  if (email === 'reauthentication') return ['Token'];
  const names: readonly string[] = emailKinds[email].variables;
  return names.includes('ConfirmationURL') ? ['ConfirmationURL', 'TokenHash', 'Token'] : [];
}

const samples: Readonly<Record<Exclude<EmailVariable, 'Data'>, unknown>> = {
  SiteURL: 'https://app.example.com',
  Brand: {
    Name: 'app.example.com',
    LogoURL: '',
    Color: '#2563eb',
    OnColor: '#ffffff',
    Footer: 'Example Ltd, 1 Main Street, London',
  },
  Locale: 'en',
  Email: 'ada@example.com',
  RedirectTo: 'https://app.example.com/welcome',
  Token: '123456',
  SpelledToken: '1 2 3 4 5 6',
  TokenHash: '5f4dcc3b5aa765d61d8327deb882cf99f4dcc3b5aa765d61d8327deb',
  ConfirmationURL:
    'https://api.example.com/auth/v1/verify?token=5f4dcc3b&type=email&redirect_to=https://app.example.com',
  NewEmail: 'ada.lovelace@example.com',
  SendingTo: 'ada.lovelace@example.com',
  OldEmail: 'ada@example.org',
  Phone: '15555550100',
  OldPhone: '15555550199',
  Provider: 'google',
  FactorType: 'totp',
  HasPassword: true,
};

const metadata = {
  sub: '11111111-2222-3333-4444-555555555555',
  email: 'ada@example.com',
  email_verified: false,
  phone_verified: false,
  name: 'Ada Lovelace',
  locale: 'en',
  age: 36,
  tags: ['one', 'two'],
  address: { city: 'London' },
};

/** Data as in a request: once with metadata that applications usually store, once without. */
export function sampleData(email: EmailKind): readonly Readonly<Record<string, unknown>>[] {
  const values = emailKinds[email].variables.flatMap((name) =>
    name === 'Data' ? [] : [[name, samples[name]] as const],
  );
  return [metadata, {}].map((Data) => ({ ...Object.fromEntries(values), Data }));
}

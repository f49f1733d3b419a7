/**
 * The texts in Polish, addressed directly and without a gender, as Google writes to its users.
 */
import { byAddress, type LanguageTexts } from '../language-texts.ts';

/** The texts. */
export const polish: LanguageTexts = {
  orCode: 'Możesz też wpisać ten kod:',
  factors: { totp: 'aplikacja uwierzytelniająca', phone: 'telefon' },
  emails: {
    confirmation: {
      subject: 'Potwierdź swój adres e-mail',
      lead: 'Dziękujemy za rejestrację w serwisie {{ .Brand.Name }}. Potwierdź swój adres e-mail, aby ją zakończyć.',
      button: 'Potwierdź adres e-mail',
      end: ['Jeśli ta rejestracja nie pochodzi od Ciebie, zignoruj tę wiadomość.'],
    },
    invite: {
      subject: 'Zaproszenie do serwisu {{ .Brand.Name }}',
      lead: 'Otrzymujesz zaproszenie do utworzenia konta w serwisie {{ .Brand.Name }}.',
      button: 'Przyjmij zaproszenie',
      end: ['Jeśli nie spodziewasz się tego zaproszenia, zignoruj tę wiadomość.'],
    },
    magic_link: {
      subject: 'Twój link do logowania',
      lead: 'Użyj tego linku, aby zalogować się w serwisie {{ .Brand.Name }}. Działa tylko raz i wkrótce wygaśnie.',
      button: 'Zaloguj się',
      end: ['Jeśli prośba o ten link nie pochodzi od Ciebie, zignoruj tę wiadomość.'],
    },
    email_change: {
      subject: 'Potwierdź zmianę adresu e-mail',
      lead: byAddress(
        'Otrzymaliśmy prośbę o użycie adresu {{ .NewEmail }} na koncie w serwisie {{ .Brand.Name }}.',
        'Otrzymaliśmy prośbę o zmianę Twojego adresu e-mail w serwisie {{ .Brand.Name }} z {{ .Email }} na {{ .NewEmail }}.',
      ),
      button: 'Potwierdź zmianę',
      end: [
        byAddress(
          'Jeśli prośba o tę zmianę nie pochodzi od Ciebie, zignoruj tę wiadomość.',
          'Jeśli prośba o tę zmianę nie pochodzi od Ciebie, nie potwierdzaj jej. Zmień hasło.',
        ),
      ],
    },
    recovery: {
      subject: 'Zresetuj hasło',
      lead: 'Otrzymaliśmy prośbę o zresetowanie hasła do Twojego konta w serwisie {{ .Brand.Name }}.',
      button: 'Zresetuj hasło',
      end: ['Jeśli ta prośba nie pochodzi od Ciebie, zignoruj tę wiadomość. Twoje hasło pozostanie bez zmian.'],
    },
    reauthentication: {
      subject: '{{ .Token }} to Twój kod weryfikacyjny',
      heading: 'Twój kod weryfikacyjny',
      lead: 'Wpisz ten kod w serwisie {{ .Brand.Name }}, aby potwierdzić swoją tożsamość. Działa tylko raz i wkrótce wygaśnie.',
      end: ['Jeśli prośba o ten kod nie pochodzi od Ciebie, nikomu go nie podawaj. Zmień hasło.'],
    },
    password_changed_notification: {
      subject: 'Twoje hasło zostało zmienione',
      lead: 'Hasło do Twojego konta {{ .Email }} w serwisie {{ .Brand.Name }} zostało zmienione.',
      end: ['Jeśli to Twoje działanie, nie musisz nic robić. W przeciwnym razie natychmiast zresetuj hasło.'],
    },
    email_changed_notification: {
      subject: 'Twój adres e-mail został zmieniony',
      lead: 'Adres e-mail Twojego konta w serwisie {{ .Brand.Name }} został zmieniony z {{ .OldEmail }} na {{ .Email }}.',
      end: [
        'Jeśli to Twoje działanie, nie musisz nic robić. W przeciwnym razie natychmiast skontaktuj się z pomocą na stronie {{ .SiteURL }}.',
        'Wiadomości dotyczące Twojego konta nie są już wysyłane na ten adres.',
      ],
    },
    phone_changed_notification: {
      subject: 'Twój numer telefonu został zmieniony',
      lead: 'Numer telefonu Twojego konta {{ .Email }} w serwisie {{ .Brand.Name }} został zmieniony z +{{ .OldPhone }} na +{{ .Phone }}.',
      end: [
        'Jeśli to Twoje działanie, nie musisz nic robić. W przeciwnym razie zmień hasło i przywróć swój numer telefonu.',
      ],
    },
    identity_linked_notification: {
      subject: 'Dodano metodę logowania',
      lead: 'Do Twojego konta {{ .Email }} w serwisie {{ .Brand.Name }} dodano metodę logowania ({{ .Provider }}).',
      end: [
        'Jeśli to Twoje działanie, nie musisz nic robić. W przeciwnym razie usuń tę metodę logowania i zmień hasło.',
      ],
    },
    identity_unlinked_notification: {
      subject: 'Usunięto metodę logowania',
      lead: 'Z Twojego konta {{ .Email }} w serwisie {{ .Brand.Name }} usunięto metodę logowania ({{ .Provider }}).',
      end: [
        'Jeśli to Twoje działanie, nie musisz nic robić. W przeciwnym razie zmień hasło i ponownie dodaj tę metodę logowania.',
      ],
    },
    mfa_factor_enrolled_notification: {
      subject: 'Dodano drugi składnik logowania',
      lead: 'Do Twojego konta {{ .Email }} w serwisie {{ .Brand.Name }} dodano drugi składnik logowania ({factor}).',
      end: ['Jeśli to Twoje działanie, nie musisz nic robić. W przeciwnym razie usuń ten składnik i zmień hasło.'],
    },
    mfa_factor_unenrolled_notification: {
      subject: 'Usunięto drugi składnik logowania',
      lead: 'Z Twojego konta {{ .Email }} w serwisie {{ .Brand.Name }} usunięto drugi składnik logowania ({factor}).',
      end: [
        'Jeśli to Twoje działanie, nie musisz nic robić. W przeciwnym razie zmień hasło i ponownie dodaj ten składnik.',
      ],
    },
  },
  linkPage: {
    invited: 'Otrzymujesz zaproszenie',
    other: 'Dalej',
    next: 'Naciśnij przycisk, aby przejść do {{ .SiteURL }}.',
    sentTo: 'Link został wysłany na adres {{ .Email }}.',
    unexpected: 'Jeśli prośba o ten link nie pochodzi od Ciebie, zamknij tę stronę.',
  },
};

/** The texts in Polish, addressed directly and without a gender, as Google writes to its users. */
import { byAddress, type LanguageTexts } from '../language-texts.ts';

/** The texts. */
export const polish: LanguageTexts = {
  orCode: 'Możesz też wpisać ten kod:',
  methods: { totp: 'aplikacja uwierzytelniająca', phone: 'telefon', email: 'e-mail' },
  emails: {
    confirmation: {
      subject: 'Potwierdź swój adres e-mail',
      lead: 'Dziękujemy za rejestrację w serwisie {{ .Brand.Name }}. Aby ją dokończyć, potwierdź swój adres e-mail.',
      button: 'Potwierdź adres e-mail',
      end: [
        '{{ if .HasPassword }}Dla tego konta wybrano hasło. {{ end }}Jeśli rejestracja odbyła się bez Twojej wiedzy, możesz zignorować tę wiadomość.',
      ],
    },
    invite: {
      subject: 'Zaproszenie do serwisu {{ .Brand.Name }}',
      lead: 'Masz zaproszenie do utworzenia konta w serwisie {{ .Brand.Name }}.',
      button: 'Przyjmij zaproszenie',
      end: ['Jeśli nie spodziewasz się tego zaproszenia, możesz zignorować tę wiadomość.'],
    },
    magic_link: {
      subject: 'Twój link do logowania',
      lead: 'Użyj tego linku, aby zalogować się w serwisie {{ .Brand.Name }}. Link działa tylko raz i wkrótce wygaśnie.',
      button: 'Zaloguj się',
      end: ['Jeśli prośba o ten link nie pochodzi od Ciebie, możesz zignorować tę wiadomość.'],
    },
    email_change: {
      subject: 'Potwierdź zmianę adresu e-mail',
      lead: byAddress(
        'Otrzymaliśmy prośbę o przypisanie adresu {{ .NewEmail }} do konta w serwisie {{ .Brand.Name }}.',
        'Otrzymaliśmy prośbę o zmianę Twojego adresu e-mail w serwisie {{ .Brand.Name }} z {{ .Email }} na {{ .NewEmail }}.',
      ),
      button: 'Potwierdź zmianę',
      end: [
        byAddress(
          'Jeśli prośba o tę zmianę nie pochodzi od Ciebie, możesz zignorować tę wiadomość.',
          'Jeśli prośba o tę zmianę nie pochodzi od Ciebie, nie potwierdzaj jej. Zmień hasło.',
        ),
      ],
    },
    recovery: {
      subject: 'Zresetuj hasło',
      lead: 'Otrzymaliśmy prośbę o zresetowanie hasła do Twojego konta w serwisie {{ .Brand.Name }}.',
      button: 'Zresetuj hasło',
      end: [
        'Jeśli ta prośba nie pochodzi od Ciebie, możesz zignorować tę wiadomość. Twoje hasło pozostanie bez zmian.',
      ],
    },
    reauthentication: {
      subject: '{{ .Token }} to Twój kod weryfikacyjny',
      heading: 'Twój kod weryfikacyjny',
      lead: 'Wpisz ten kod w serwisie {{ .Brand.Name }}, aby potwierdzić swoją tożsamość. Kod działa tylko raz i wkrótce wygaśnie.',
      end: ['Jeśli prośba o ten kod nie pochodzi od Ciebie, nikomu go nie podawaj. Zmień hasło.'],
    },
    password_changed_notification: {
      subject: 'Twoje hasło zostało zmienione',
      lead: 'Hasło do Twojego konta {{ .Email }} w serwisie {{ .Brand.Name }} zostało zmienione.',
      end: ['Jeśli to Ty, nie musisz nic robić. W przeciwnym razie natychmiast zresetuj hasło.'],
    },
    email_changed_notification: {
      subject: 'Twój adres e-mail został zmieniony',
      lead: 'Adres e-mail przypisany do Twojego konta w serwisie {{ .Brand.Name }} został zmieniony z {{ .OldEmail }} na {{ .Email }}.',
      end: [
        'Jeśli to Ty, nie musisz nic robić. W przeciwnym razie natychmiast skontaktuj się z pomocą techniczną na stronie {{ .SiteURL }}.',
        'Wiadomości dotyczące Twojego konta nie są już wysyłane na ten adres.',
      ],
    },
    phone_changed_notification: {
      subject: 'Twój numer telefonu został zmieniony',
      lead: 'Numer telefonu przypisany do Twojego konta {{ .Email }} w serwisie {{ .Brand.Name }} został zmieniony z +{{ .OldPhone }} na +{{ .Phone }}.',
      end: ['Jeśli to Ty, nie musisz nic robić. W przeciwnym razie zmień hasło i przywróć swój numer telefonu.'],
    },
    identity_linked_notification: {
      subject: 'Dodano metodę logowania',
      lead: 'Do Twojego konta {{ .Email }} w serwisie {{ .Brand.Name }} dodano metodę logowania ({provider}).',
      end: ['Jeśli to Ty, nie musisz nic robić. W przeciwnym razie usuń tę metodę logowania i zmień hasło.'],
    },
    identity_unlinked_notification: {
      subject: 'Usunięto metodę logowania',
      lead: 'Z Twojego konta {{ .Email }} w serwisie {{ .Brand.Name }} usunięto metodę logowania ({provider}).',
      end: ['Jeśli to Ty, nie musisz nic robić. W przeciwnym razie zmień hasło i ponownie dodaj tę metodę logowania.'],
    },
    mfa_factor_enrolled_notification: {
      subject: 'Dodano drugi składnik uwierzytelniania',
      lead: 'Do Twojego konta {{ .Email }} w serwisie {{ .Brand.Name }} dodano drugi składnik uwierzytelniania ({factor}).',
      end: ['Jeśli to Ty, nie musisz nic robić. W przeciwnym razie usuń ten składnik i zmień hasło.'],
    },
    mfa_factor_unenrolled_notification: {
      subject: 'Usunięto drugi składnik uwierzytelniania',
      lead: 'Z Twojego konta {{ .Email }} w serwisie {{ .Brand.Name }} usunięto drugi składnik uwierzytelniania ({factor}).',
      end: ['Jeśli to Ty, nie musisz nic robić. W przeciwnym razie zmień hasło i ponownie dodaj ten składnik.'],
    },
    mfa_factor_guessed_notification: {
      subject: 'Wprowadzono błędne kody',
      lead: 'Kilka razy wprowadzono błędne kody drugiego składnika uwierzytelniania ({factor}) Twojego konta {{ .Email }} w serwisie {{ .Brand.Name }}.',
      end: ['Jeśli to Ty, nie musisz nic robić. W przeciwnym razie natychmiast zmień hasło: ktoś inny może je znać.'],
    },
  },
  linkPage: {
    invited: 'Masz zaproszenie',
    other: 'Dalej',
    next: 'Kliknij przycisk, aby przejść na stronę {{ .SiteURL }}.',
    sentTo: 'Link został wysłany na adres {{ .Email }}.',
    unexpected: 'Jeśli nie spodziewasz się tego linku, zamknij tę stronę.',
  },
  linking: {
    heading: 'Połączyć Twoje konto {{ .Provider }}?',
    account: 'Dzięki temu zalogujesz się nim na {{ .SiteURL }} jako {{ .Account }}.',
    guest: 'gość bez adresu e-mail',
    button: 'Połącz',
    unexpected: 'Jeśli to nie jest Twoje konto lub nie prosisz o to, zamknij tę stronę.',
  },
};

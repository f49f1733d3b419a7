/** The texts in Dutch, with “je”, as Google and Apple write to their users. */
import { byAddress, type LanguageTexts } from '../language-texts.ts';

/** The texts. */
export const dutch: LanguageTexts = {
  orCode: 'Of voer deze code in:',
  methods: { totp: 'authenticator-app', phone: 'telefoon', email: 'e-mail' },
  emails: {
    confirmation: {
      subject: 'Bevestig je e-mailadres',
      lead: 'Bedankt voor je registratie bij {{ .Brand.Name }}. Bevestig je e-mailadres om je registratie af te ronden.',
      button: 'E-mailadres bevestigen',
      end: [
        '{{ if .HasPassword }}Voor dit account is een wachtwoord gekozen. {{ end }}Heb je je niet geregistreerd? Dan kun je deze e-mail negeren.',
      ],
    },
    invite: {
      subject: 'Je bent uitgenodigd voor {{ .Brand.Name }}',
      lead: 'Je bent uitgenodigd om een account te maken bij {{ .Brand.Name }}.',
      button: 'Uitnodiging accepteren',
      end: ['Had je deze uitnodiging niet verwacht? Dan kun je deze e-mail negeren.'],
    },
    magic_link: {
      subject: 'Je inloglink',
      lead: 'Gebruik deze link om in te loggen bij {{ .Brand.Name }}. De link werkt maar één keer en is maar kort geldig.',
      button: 'Inloggen',
      end: ['Heb je deze link niet aangevraagd? Dan kun je deze e-mail negeren.'],
    },
    email_change: {
      subject: 'Bevestig de wijziging van je e-mailadres',
      lead: byAddress(
        'We hebben een verzoek ontvangen om {{ .NewEmail }} te gebruiken voor een account bij {{ .Brand.Name }}.',
        'We hebben een verzoek ontvangen om je e-mailadres bij {{ .Brand.Name }} te wijzigen van {{ .Email }} in {{ .NewEmail }}.',
      ),
      button: 'Wijziging bevestigen',
      end: [
        byAddress(
          'Heb je deze wijziging niet aangevraagd? Dan kun je deze e-mail negeren.',
          'Heb je deze wijziging niet aangevraagd? Bevestig deze dan niet en wijzig je wachtwoord.',
        ),
      ],
    },
    recovery: {
      subject: 'Stel je wachtwoord opnieuw in',
      lead: 'We hebben een verzoek ontvangen om het wachtwoord van je account bij {{ .Brand.Name }} opnieuw in te stellen.',
      button: 'Wachtwoord opnieuw instellen',
      end: ['Heb je dit niet aangevraagd? Dan kun je deze e-mail negeren. Je wachtwoord blijft hetzelfde.'],
    },
    reauthentication: {
      subject: '{{ .Token }} is je verificatiecode',
      heading: 'Je verificatiecode',
      lead: 'Voer deze code in bij {{ .Brand.Name }} om te bevestigen dat jij het bent. De code werkt maar één keer en is maar kort geldig.',
      end: ['Heb je deze code niet aangevraagd? Deel deze dan met niemand en wijzig je wachtwoord.'],
    },
    password_changed_notification: {
      subject: 'Je wachtwoord is gewijzigd',
      lead: 'Het wachtwoord van je account {{ .Email }} bij {{ .Brand.Name }} is gewijzigd.',
      end: ['Was jij dit? Dan hoef je niets te doen. Was jij dit niet? Stel je wachtwoord dan direct opnieuw in.'],
    },
    email_changed_notification: {
      subject: 'Je e-mailadres is gewijzigd',
      lead: 'Het e-mailadres van je account bij {{ .Brand.Name }} is gewijzigd van {{ .OldEmail }} in {{ .Email }}.',
      end: [
        'Was jij dit? Dan hoef je niets te doen. Was jij dit niet? Neem dan direct contact op met de klantenservice op {{ .SiteURL }}.',
        'E-mails over je account worden niet meer naar dit adres gestuurd.',
      ],
    },
    phone_changed_notification: {
      subject: 'Je telefoonnummer is gewijzigd',
      lead: 'Het telefoonnummer van je account {{ .Email }} bij {{ .Brand.Name }} is gewijzigd van +{{ .OldPhone }} in +{{ .Phone }}.',
      end: [
        'Was jij dit? Dan hoef je niets te doen. Was jij dit niet? Wijzig dan je wachtwoord en herstel je telefoonnummer.',
      ],
    },
    identity_linked_notification: {
      subject: 'Er is een inlogmethode toegevoegd',
      lead: 'Er is een inlogmethode ({provider}) toegevoegd aan je account {{ .Email }} bij {{ .Brand.Name }}.',
      end: [
        'Was jij dit? Dan hoef je niets te doen. Was jij dit niet? Verwijder dan de inlogmethode en wijzig je wachtwoord.',
      ],
    },
    identity_unlinked_notification: {
      subject: 'Er is een inlogmethode verwijderd',
      lead: 'Er is een inlogmethode ({provider}) verwijderd uit je account {{ .Email }} bij {{ .Brand.Name }}.',
      end: [
        'Was jij dit? Dan hoef je niets te doen. Was jij dit niet? Wijzig dan je wachtwoord en voeg de inlogmethode opnieuw toe.',
      ],
    },
    mfa_factor_enrolled_notification: {
      subject: 'Er is een tweede factor toegevoegd',
      lead: 'Er is een tweede factor ({factor}) toegevoegd aan je account {{ .Email }} bij {{ .Brand.Name }}.',
      end: [
        'Was jij dit? Dan hoef je niets te doen. Was jij dit niet? Verwijder dan de factor en wijzig je wachtwoord.',
      ],
    },
    mfa_factor_unenrolled_notification: {
      subject: 'Er is een tweede factor verwijderd',
      lead: 'Er is een tweede factor ({factor}) verwijderd uit je account {{ .Email }} bij {{ .Brand.Name }}.',
      end: [
        'Was jij dit? Dan hoef je niets te doen. Was jij dit niet? Wijzig dan je wachtwoord en voeg de factor opnieuw toe.',
      ],
    },
    mfa_factor_guessed_notification: {
      subject: 'Er zijn onjuiste codes ingevoerd',
      lead: 'Voor de tweede factor ({factor}) van je account {{ .Email }} bij {{ .Brand.Name }} zijn meerdere keren onjuiste codes ingevoerd.',
      end: [
        'Was jij dit? Dan hoef je niets te doen. Was jij dit niet? Wijzig dan meteen je wachtwoord: misschien kent iemand anders het.',
      ],
    },
  },
  linkPage: {
    invited: 'Je bent uitgenodigd',
    other: 'Doorgaan',
    next: 'Klik op de knop om door te gaan naar {{ .SiteURL }}.',
    sentTo: 'De link is verzonden naar {{ .Email }}.',
    unexpected: 'Had je deze link niet verwacht? Sluit dan deze pagina.',
  },
  linking: {
    heading: 'Je account bij {{ .Provider }} koppelen?',
    account: 'Je kunt er daarna mee inloggen bij {{ .SiteURL }} als {{ .Account }}.',
    guest: 'gast zonder e-mailadres',
    button: 'Koppelen',
    unexpected: 'Is dat niet jouw account, of heb je dit niet aangevraagd? Sluit dan deze pagina.',
  },
};

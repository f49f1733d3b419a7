/** The texts in German, with „du“, as Google and Apple write to their users. */
import { byAddress, type LanguageTexts } from '../language-texts.ts';

/** The texts. */
export const german: LanguageTexts = {
  orCode: 'Oder gib diesen Code ein:',
  methods: { totp: 'Authenticator-App', phone: 'Telefon', email: 'E-Mail' },
  emails: {
    confirmation: {
      subject: 'Bestätige deine E-Mail-Adresse',
      lead: 'Danke für deine Registrierung bei {{ .Brand.Name }}. Bestätige deine E-Mail-Adresse, um die Registrierung abzuschließen.',
      button: 'E-Mail-Adresse bestätigen',
      end: [
        '{{ if .HasPassword }}Für dieses Konto wurde ein Passwort gewählt. {{ end }}Wenn du dich nicht registriert hast, kannst du diese E-Mail ignorieren.',
      ],
    },
    invite: {
      subject: 'Du wurdest zu {{ .Brand.Name }} eingeladen',
      lead: 'Du wurdest eingeladen, ein Konto bei {{ .Brand.Name }} zu erstellen.',
      button: 'Einladung annehmen',
      end: ['Wenn du diese Einladung nicht erwartet hast, kannst du diese E-Mail ignorieren.'],
    },
    magic_link: {
      subject: 'Dein Anmeldelink',
      lead: 'Melde dich mit diesem Link bei {{ .Brand.Name }} an. Der Link funktioniert nur einmal und läuft bald ab.',
      button: 'Anmelden',
      end: ['Wenn du diesen Link nicht angefordert hast, kannst du diese E-Mail ignorieren.'],
    },
    email_change: {
      subject: 'Bestätige die Änderung deiner E-Mail-Adresse',
      lead: byAddress(
        'Wir haben eine Anfrage erhalten, {{ .NewEmail }} für ein Konto bei {{ .Brand.Name }} zu verwenden.',
        'Wir haben eine Anfrage erhalten, deine E-Mail-Adresse bei {{ .Brand.Name }} von {{ .Email }} in {{ .NewEmail }} zu ändern.',
      ),
      button: 'Änderung bestätigen',
      end: [
        byAddress(
          'Wenn du diese Änderung nicht angefordert hast, kannst du diese E-Mail ignorieren.',
          'Wenn du diese Änderung nicht angefordert hast, bestätige sie nicht. Ändere dein Passwort.',
        ),
      ],
    },
    recovery: {
      subject: 'Setze dein Passwort zurück',
      lead: 'Wir haben eine Anfrage erhalten, das Passwort für dein Konto bei {{ .Brand.Name }} zurückzusetzen.',
      button: 'Passwort zurücksetzen',
      end: ['Wenn du das nicht angefordert hast, kannst du diese E-Mail ignorieren. Dein Passwort bleibt unverändert.'],
    },
    reauthentication: {
      subject: '{{ .Token }} ist dein Bestätigungscode',
      heading: 'Dein Bestätigungscode',
      lead: 'Gib diesen Code bei {{ .Brand.Name }} ein, um zu bestätigen, dass du es bist. Der Code funktioniert nur einmal und läuft bald ab.',
      end: ['Wenn du diesen Code nicht angefordert hast, gib ihn nicht weiter. Ändere dein Passwort.'],
    },
    password_changed_notification: {
      subject: 'Dein Passwort wurde geändert',
      lead: 'Das Passwort für dein Konto {{ .Email }} bei {{ .Brand.Name }} wurde geändert.',
      end: ['Wenn du das warst, musst du nichts tun. Wenn nicht, setze dein Passwort sofort zurück.'],
    },
    email_changed_notification: {
      subject: 'Deine E-Mail-Adresse wurde geändert',
      lead: 'Die E-Mail-Adresse deines Kontos bei {{ .Brand.Name }} wurde von {{ .OldEmail }} in {{ .Email }} geändert.',
      end: [
        'Wenn du das warst, musst du nichts tun. Wenn nicht, wende dich sofort an den Support auf {{ .SiteURL }}.',
        'E-Mails zu deinem Konto gehen nicht mehr an diese Adresse.',
      ],
    },
    phone_changed_notification: {
      subject: 'Deine Telefonnummer wurde geändert',
      lead: 'Die Telefonnummer deines Kontos {{ .Email }} bei {{ .Brand.Name }} wurde von +{{ .OldPhone }} in +{{ .Phone }} geändert.',
      end: [
        'Wenn du das warst, musst du nichts tun. Wenn nicht, ändere dein Passwort und stelle deine Telefonnummer wieder her.',
      ],
    },
    identity_linked_notification: {
      subject: 'Eine Anmeldemethode wurde hinzugefügt',
      lead: 'Zu deinem Konto {{ .Email }} bei {{ .Brand.Name }} wurde eine Anmeldemethode ({provider}) hinzugefügt.',
      end: [
        'Wenn du das warst, musst du nichts tun. Wenn nicht, entferne die Anmeldemethode und ändere dein Passwort.',
      ],
    },
    identity_unlinked_notification: {
      subject: 'Eine Anmeldemethode wurde entfernt',
      lead: 'Aus deinem Konto {{ .Email }} bei {{ .Brand.Name }} wurde eine Anmeldemethode ({provider}) entfernt.',
      end: [
        'Wenn du das warst, musst du nichts tun. Wenn nicht, ändere dein Passwort und füge die Anmeldemethode wieder hinzu.',
      ],
    },
    mfa_factor_enrolled_notification: {
      subject: 'Ein zweiter Faktor wurde hinzugefügt',
      lead: 'Zu deinem Konto {{ .Email }} bei {{ .Brand.Name }} wurde ein zweiter Faktor ({factor}) hinzugefügt.',
      end: ['Wenn du das warst, musst du nichts tun. Wenn nicht, entferne den Faktor und ändere dein Passwort.'],
    },
    mfa_factor_unenrolled_notification: {
      subject: 'Ein zweiter Faktor wurde entfernt',
      lead: 'Aus deinem Konto {{ .Email }} bei {{ .Brand.Name }} wurde ein zweiter Faktor ({factor}) entfernt.',
      end: [
        'Wenn du das warst, musst du nichts tun. Wenn nicht, ändere dein Passwort und füge den Faktor wieder hinzu.',
      ],
    },
    mfa_factor_guessed_notification: {
      subject: 'Falsche Codes wurden eingegeben',
      lead: 'Für den zweiten Faktor ({factor}) deines Kontos {{ .Email }} bei {{ .Brand.Name }} wurden mehrmals falsche Codes eingegeben.',
      end: [
        'Wenn du das warst, musst du nichts tun. Wenn nicht, ändere sofort dein Passwort: Jemand anderes kennt es vielleicht.',
      ],
    },
  },
  linkPage: {
    invited: 'Du wurdest eingeladen',
    other: 'Weiter',
    next: 'Klicke auf den Button, um zu {{ .SiteURL }} zu gelangen.',
    sentTo: 'Der Link wurde an {{ .Email }} gesendet.',
    unexpected: 'Wenn du diesen Link nicht erwartet hast, schließe diese Seite.',
  },
  linking: {
    heading: 'Dein Konto bei {{ .Provider }} verknüpfen?',
    account: 'Du kannst dich dann damit bei {{ .SiteURL }} als {{ .Account }} anmelden.',
    guest: 'Gast ohne E-Mail-Adresse',
    button: 'Verknüpfen',
    unexpected: 'Wenn das nicht dein Konto ist oder du das nicht angefordert hast, schließe diese Seite.',
  },
};

/** The texts in Italian, with “tu”, as Google and Apple write to their users, and without a gender. */
import { byAddress, type LanguageTexts } from '../language-texts.ts';

/** The texts. */
export const italian: LanguageTexts = {
  orCode: 'Oppure inserisci questo codice:',
  methods: { totp: 'app di autenticazione', phone: 'telefono', email: 'email' },
  emails: {
    confirmation: {
      subject: 'Conferma il tuo indirizzo email',
      lead: 'Grazie per la tua registrazione su {{ .Brand.Name }}. Conferma il tuo indirizzo email per completarla.',
      button: 'Conferma indirizzo email',
      end: [
        '{{ if .HasPassword }}Per questo account è stata scelta una password. {{ end }}Se non hai effettuato tu la registrazione, puoi ignorare questa email.',
      ],
    },
    invite: {
      subject: 'Hai ricevuto un invito a unirti a {{ .Brand.Name }}',
      lead: 'Hai ricevuto un invito a creare un account su {{ .Brand.Name }}.',
      button: 'Accetta invito',
      end: ['Se non ti aspettavi questo invito, puoi ignorare questa email.'],
    },
    magic_link: {
      subject: 'Il tuo link di accesso',
      lead: 'Usa questo link per accedere a {{ .Brand.Name }}. Il link funziona una sola volta e scade a breve.',
      button: 'Accedi',
      end: ['Se non hai richiesto questo link, puoi ignorare questa email.'],
    },
    email_change: {
      subject: 'Conferma la modifica del tuo indirizzo email',
      lead: byAddress(
        'Abbiamo ricevuto una richiesta di utilizzo di {{ .NewEmail }} per un account su {{ .Brand.Name }}.',
        'Abbiamo ricevuto una richiesta di modifica del tuo indirizzo email su {{ .Brand.Name }} da {{ .Email }} a {{ .NewEmail }}.',
      ),
      button: 'Conferma modifica',
      end: [
        byAddress(
          'Se non hai richiesto questa modifica, puoi ignorare questa email.',
          'Se non hai richiesto questa modifica, non confermarla. Cambia la password.',
        ),
      ],
    },
    recovery: {
      subject: 'Reimposta la tua password',
      lead: 'Abbiamo ricevuto una richiesta di reimpostazione della password del tuo account su {{ .Brand.Name }}.',
      button: 'Reimposta password',
      end: ['Se non hai fatto tu questa richiesta, puoi ignorare questa email. La tua password non cambierà.'],
    },
    reauthentication: {
      subject: '{{ .Token }} è il tuo codice di verifica',
      heading: 'Il tuo codice di verifica',
      lead: 'Inserisci questo codice su {{ .Brand.Name }} per confermare la tua identità. Il codice funziona una sola volta e scade a breve.',
      end: ['Se non hai richiesto questo codice, non condividerlo con nessuno. Cambia la password.'],
    },
    password_changed_notification: {
      subject: 'La tua password è stata modificata',
      lead: 'La password del tuo account {{ .Email }} su {{ .Brand.Name }} è stata modificata.',
      end: [
        'Se hai effettuato tu questa modifica, non devi fare nulla. In caso contrario, reimposta subito la password.',
      ],
    },
    email_changed_notification: {
      subject: 'Il tuo indirizzo email è stato modificato',
      lead: 'L’indirizzo email del tuo account su {{ .Brand.Name }} è stato modificato da {{ .OldEmail }} a {{ .Email }}.',
      end: [
        'Se hai effettuato tu questa modifica, non devi fare nulla. In caso contrario, contatta subito l’assistenza su {{ .SiteURL }}.',
        'Le email relative al tuo account non vengono più inviate a questo indirizzo.',
      ],
    },
    phone_changed_notification: {
      subject: 'Il tuo numero di telefono è stato modificato',
      lead: 'Il numero di telefono del tuo account {{ .Email }} su {{ .Brand.Name }} è stato modificato da +{{ .OldPhone }} a +{{ .Phone }}.',
      end: [
        'Se hai effettuato tu questa modifica, non devi fare nulla. In caso contrario, cambia la password e ripristina il tuo numero di telefono.',
      ],
    },
    identity_linked_notification: {
      subject: 'È stato aggiunto un metodo di accesso',
      lead: 'Al tuo account {{ .Email }} su {{ .Brand.Name }} è stato aggiunto un metodo di accesso ({provider}).',
      end: [
        'Se hai effettuato tu questa modifica, non devi fare nulla. In caso contrario, rimuovi il metodo di accesso e cambia la password.',
      ],
    },
    identity_unlinked_notification: {
      subject: 'È stato rimosso un metodo di accesso',
      lead: 'Dal tuo account {{ .Email }} su {{ .Brand.Name }} è stato rimosso un metodo di accesso ({provider}).',
      end: [
        'Se hai effettuato tu questa modifica, non devi fare nulla. In caso contrario, cambia la password e aggiungi di nuovo il metodo di accesso.',
      ],
    },
    mfa_factor_enrolled_notification: {
      subject: 'È stato aggiunto un secondo fattore di autenticazione',
      lead: 'Al tuo account {{ .Email }} su {{ .Brand.Name }} è stato aggiunto un secondo fattore di autenticazione ({factor}).',
      end: [
        'Se hai effettuato tu questa modifica, non devi fare nulla. In caso contrario, rimuovi il fattore e cambia la password.',
      ],
    },
    mfa_factor_unenrolled_notification: {
      subject: 'È stato rimosso un secondo fattore di autenticazione',
      lead: 'Dal tuo account {{ .Email }} su {{ .Brand.Name }} è stato rimosso un secondo fattore di autenticazione ({factor}).',
      end: [
        'Se hai effettuato tu questa modifica, non devi fare nulla. In caso contrario, cambia la password e aggiungi di nuovo il fattore.',
      ],
    },
    mfa_factor_guessed_notification: {
      subject: 'Sono stati inseriti codici errati',
      lead: 'Per il secondo fattore di autenticazione ({factor}) del tuo account {{ .Email }} su {{ .Brand.Name }} sono stati inseriti più volte codici errati.',
      end: [
        'Se li hai inseriti tu, non devi fare nulla. In caso contrario, cambia subito la password: qualcun altro potrebbe conoscerla.',
      ],
    },
  },
  linkPage: {
    invited: 'Hai ricevuto un invito',
    other: 'Continua',
    next: 'Premi il pulsante per continuare su {{ .SiteURL }}.',
    sentTo: 'Il link è stato inviato all’indirizzo {{ .Email }}.',
    unexpected: 'Se non ti aspettavi questo link, chiudi questa pagina.',
  },
  linking: {
    heading: 'Collegare il tuo account {{ .Provider }}?',
    account: 'Potrai poi usarlo per accedere a {{ .SiteURL }} come {{ .Account }}.',
    guest: 'ospite senza indirizzo email',
    button: 'Collega',
    unexpected: 'Se quell’account non è tuo o non hai richiesto nulla, chiudi questa pagina.',
  },
};

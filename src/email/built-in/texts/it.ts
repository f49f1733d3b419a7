/**
 * The texts in Italian, with “tu”, as Google and Apple write to their users.
 */
import { byAddress, type LanguageTexts } from '../language-texts.ts';

/** The texts. */
export const italian: LanguageTexts = {
  orCode: 'Oppure inserisci questo codice:',
  factors: { totp: 'app di autenticazione', phone: 'telefono' },
  emails: {
    confirmation: {
      subject: 'Conferma il tuo indirizzo email',
      lead: 'Grazie per esserti registrato su {{ .Brand.Name }}. Conferma il tuo indirizzo email per completare la registrazione.',
      button: 'Conferma indirizzo email',
      end: ['Se non ti sei registrato, puoi ignorare questa email.'],
    },
    invite: {
      subject: 'Hai ricevuto un invito a {{ .Brand.Name }}',
      lead: 'Hai ricevuto un invito a creare un account su {{ .Brand.Name }}.',
      button: 'Accetta invito',
      end: ['Se non ti aspettavi questo invito, puoi ignorare questa email.'],
    },
    magic_link: {
      subject: 'Il tuo link di accesso',
      lead: 'Usa questo link per accedere a {{ .Brand.Name }}. Funziona una sola volta e scade a breve.',
      button: 'Accedi',
      end: ['Se non hai richiesto questo link, puoi ignorare questa email.'],
    },
    email_change: {
      subject: 'Conferma la modifica del tuo indirizzo email',
      lead: byAddress(
        'Abbiamo ricevuto una richiesta di usare {{ .NewEmail }} per un account su {{ .Brand.Name }}.',
        'Abbiamo ricevuto una richiesta di modificare il tuo indirizzo email su {{ .Brand.Name }} da {{ .Email }} a {{ .NewEmail }}.',
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
      lead: 'Abbiamo ricevuto una richiesta di reimpostare la password del tuo account su {{ .Brand.Name }}.',
      button: 'Reimposta password',
      end: ['Se non hai fatto tu questa richiesta, puoi ignorare questa email. La tua password resta la stessa.'],
    },
    reauthentication: {
      subject: '{{ .Token }} è il tuo codice di verifica',
      heading: 'Il tuo codice di verifica',
      lead: 'Inserisci questo codice su {{ .Brand.Name }} per confermare la tua identità. Funziona una sola volta e scade a breve.',
      end: ['Se non hai richiesto questo codice, non condividerlo. Cambia la password.'],
    },
    password_changed_notification: {
      subject: 'La tua password è stata modificata',
      lead: 'La password del tuo account {{ .Email }} su {{ .Brand.Name }} è stata modificata.',
      end: ['Se sei stato tu, non devi fare nulla. In caso contrario, reimposta subito la password.'],
    },
    email_changed_notification: {
      subject: 'Il tuo indirizzo email è stato modificato',
      lead: 'L’indirizzo email del tuo account su {{ .Brand.Name }} è stato modificato da {{ .OldEmail }} a {{ .Email }}.',
      end: [
        'Se sei stato tu, non devi fare nulla. In caso contrario, contatta subito l’assistenza su {{ .SiteURL }}.',
        'Le email relative al tuo account non arrivano più a questo indirizzo.',
      ],
    },
    phone_changed_notification: {
      subject: 'Il tuo numero di telefono è stato modificato',
      lead: 'Il numero di telefono del tuo account {{ .Email }} su {{ .Brand.Name }} è stato modificato da +{{ .OldPhone }} a +{{ .Phone }}.',
      end: [
        'Se sei stato tu, non devi fare nulla. In caso contrario, cambia la password e ripristina il tuo numero di telefono.',
      ],
    },
    identity_linked_notification: {
      subject: 'È stato aggiunto un metodo di accesso',
      lead: 'Un metodo di accesso ({{ .Provider }}) è stato aggiunto al tuo account {{ .Email }} su {{ .Brand.Name }}.',
      end: [
        'Se sei stato tu, non devi fare nulla. In caso contrario, rimuovi il metodo di accesso e cambia la password.',
      ],
    },
    identity_unlinked_notification: {
      subject: 'È stato rimosso un metodo di accesso',
      lead: 'Un metodo di accesso ({{ .Provider }}) è stato rimosso dal tuo account {{ .Email }} su {{ .Brand.Name }}.',
      end: [
        'Se sei stato tu, non devi fare nulla. In caso contrario, cambia la password e aggiungi di nuovo il metodo di accesso.',
      ],
    },
    mfa_factor_enrolled_notification: {
      subject: 'È stato aggiunto un secondo fattore',
      lead: 'Un secondo fattore ({factor}) è stato aggiunto al tuo account {{ .Email }} su {{ .Brand.Name }}.',
      end: ['Se sei stato tu, non devi fare nulla. In caso contrario, rimuovi il fattore e cambia la password.'],
    },
    mfa_factor_unenrolled_notification: {
      subject: 'È stato rimosso un secondo fattore',
      lead: 'Un secondo fattore ({factor}) è stato rimosso dal tuo account {{ .Email }} su {{ .Brand.Name }}.',
      end: [
        'Se sei stato tu, non devi fare nulla. In caso contrario, cambia la password e aggiungi di nuovo il fattore.',
      ],
    },
  },
  linkPage: {
    invited: 'Hai ricevuto un invito',
    other: 'Continua',
    next: 'Premi il pulsante per continuare su {{ .SiteURL }}.',
    sentTo: 'Il link è stato inviato a {{ .Email }}.',
    unexpected: 'Se non lo hai richiesto, chiudi questa pagina.',
  },
};

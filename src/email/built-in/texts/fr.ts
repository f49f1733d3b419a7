/** The texts in French, with “vous”, as most services write, and without a gender. */
import { byAddress, type LanguageTexts } from '../language-texts.ts';

/** The texts. */
export const french: LanguageTexts = {
  orCode: 'Ou saisissez ce code\u00a0:',
  methods: { totp: 'application d’authentification', phone: 'téléphone', email: 'e-mail' },
  emails: {
    confirmation: {
      subject: 'Confirmez votre adresse e-mail',
      lead: 'Merci de votre inscription sur {{ .Brand.Name }}. Pour la finaliser, confirmez votre adresse e-mail.',
      button: 'Confirmer l’adresse e-mail',
      end: [
        '{{ if .HasPassword }}Un mot de passe a été choisi pour ce compte. {{ end }}Si vous n’êtes pas à l’origine de cette inscription, vous pouvez ignorer cet e-mail.',
      ],
    },
    invite: {
      subject: 'Invitation à rejoindre {{ .Brand.Name }}',
      lead: 'Vous avez reçu une invitation à créer un compte sur {{ .Brand.Name }}.',
      button: 'Accepter l’invitation',
      end: ['Si vous n’attendiez pas cette invitation, vous pouvez ignorer cet e-mail.'],
    },
    magic_link: {
      subject: 'Votre lien de connexion',
      lead: 'Utilisez ce lien pour vous connecter à {{ .Brand.Name }}. Le lien ne fonctionne qu’une seule fois et expirera bientôt.',
      button: 'Se connecter',
      end: ['Si vous n’avez pas demandé ce lien, vous pouvez ignorer cet e-mail.'],
    },
    email_change: {
      subject: 'Confirmez votre changement d’adresse e-mail',
      lead: byAddress(
        'Nous avons reçu une demande d’utilisation de l’adresse {{ .NewEmail }} pour un compte sur {{ .Brand.Name }}.',
        'Nous avons reçu une demande visant à remplacer l’adresse e-mail {{ .Email }} de votre compte sur {{ .Brand.Name }} par {{ .NewEmail }}.',
      ),
      button: 'Confirmer le changement',
      end: [
        byAddress(
          'Si vous n’avez pas demandé ce changement, vous pouvez ignorer cet e-mail.',
          'Si vous n’avez pas demandé ce changement, ne le confirmez pas. Changez votre mot de passe.',
        ),
      ],
    },
    recovery: {
      subject: 'Réinitialisez votre mot de passe',
      lead: 'Nous avons reçu une demande de réinitialisation du mot de passe de votre compte sur {{ .Brand.Name }}.',
      button: 'Réinitialiser le mot de passe',
      end: [
        'Si vous n’êtes pas à l’origine de cette demande, vous pouvez ignorer cet e-mail. Votre mot de passe reste le même.',
      ],
    },
    reauthentication: {
      subject: '{{ .Token }} est votre code de vérification',
      heading: 'Votre code de vérification',
      lead: 'Saisissez ce code sur {{ .Brand.Name }} pour confirmer que c’est bien vous. Le code ne fonctionne qu’une seule fois et expirera bientôt.',
      end: ['Si vous n’avez pas demandé ce code, ne le communiquez à personne. Changez votre mot de passe.'],
    },
    password_changed_notification: {
      subject: 'Votre mot de passe a été modifié',
      lead: 'Le mot de passe de votre compte {{ .Email }} sur {{ .Brand.Name }} a été modifié.',
      end: [
        'Si vous êtes à l’origine de cette modification, vous n’avez rien à faire. Sinon, réinitialisez immédiatement votre mot de passe.',
      ],
    },
    email_changed_notification: {
      subject: 'Votre adresse e-mail a été modifiée',
      lead: 'L’adresse e-mail {{ .OldEmail }} de votre compte sur {{ .Brand.Name }} a été remplacée par {{ .Email }}.',
      end: [
        'Si vous êtes à l’origine de cette modification, vous n’avez rien à faire. Sinon, contactez immédiatement l’assistance sur {{ .SiteURL }}.',
        'Les e-mails concernant votre compte ne sont plus envoyés à cette adresse.',
      ],
    },
    phone_changed_notification: {
      subject: 'Votre numéro de téléphone a été modifié',
      lead: 'Le numéro de téléphone +{{ .OldPhone }} de votre compte {{ .Email }} sur {{ .Brand.Name }} a été remplacé par +{{ .Phone }}.',
      end: [
        'Si vous êtes à l’origine de cette modification, vous n’avez rien à faire. Sinon, changez votre mot de passe et rétablissez votre numéro de téléphone.',
      ],
    },
    identity_linked_notification: {
      subject: 'Une méthode de connexion a été ajoutée',
      lead: 'Une méthode de connexion ({provider}) a été ajoutée à votre compte {{ .Email }} sur {{ .Brand.Name }}.',
      end: [
        'Si vous êtes à l’origine de cette modification, vous n’avez rien à faire. Sinon, supprimez cette méthode de connexion et changez votre mot de passe.',
      ],
    },
    identity_unlinked_notification: {
      subject: 'Une méthode de connexion a été supprimée',
      lead: 'Une méthode de connexion ({provider}) a été supprimée de votre compte {{ .Email }} sur {{ .Brand.Name }}.',
      end: [
        'Si vous êtes à l’origine de cette modification, vous n’avez rien à faire. Sinon, changez votre mot de passe et ajoutez de nouveau cette méthode de connexion.',
      ],
    },
    mfa_factor_enrolled_notification: {
      subject: 'Un second facteur d’authentification a été ajouté',
      lead: 'Un second facteur d’authentification ({factor}) a été ajouté à votre compte {{ .Email }} sur {{ .Brand.Name }}.',
      end: [
        'Si vous êtes à l’origine de cette modification, vous n’avez rien à faire. Sinon, supprimez ce facteur et changez votre mot de passe.',
      ],
    },
    mfa_factor_unenrolled_notification: {
      subject: 'Un second facteur d’authentification a été supprimé',
      lead: 'Un second facteur d’authentification ({factor}) a été supprimé de votre compte {{ .Email }} sur {{ .Brand.Name }}.',
      end: [
        'Si vous êtes à l’origine de cette modification, vous n’avez rien à faire. Sinon, changez votre mot de passe et ajoutez de nouveau ce facteur.',
      ],
    },
    mfa_factor_guessed_notification: {
      subject: 'Des codes incorrects ont été saisis',
      lead: 'Des codes incorrects ont été saisis plusieurs fois pour le second facteur d’authentification ({factor}) de votre compte {{ .Email }} sur {{ .Brand.Name }}.',
      end: [
        'Si vous êtes à l’origine de ces saisies, vous n’avez rien à faire. Sinon, changez immédiatement votre mot de passe : quelqu’un d’autre le connaît peut-être.',
      ],
    },
  },
  linkPage: {
    invited: 'Vous avez reçu une invitation',
    other: 'Continuer',
    next: 'Cliquez sur le bouton pour continuer vers {{ .SiteURL }}.',
    sentTo: 'Le lien a été envoyé à l’adresse {{ .Email }}.',
    unexpected: 'Si vous n’attendiez pas ce lien, fermez cette page.',
  },
  linking: {
    heading: 'Associer votre compte {{ .Provider }} ?',
    account: 'Vous pourrez alors l’utiliser pour vous connecter à {{ .SiteURL }} en tant que {{ .Account }}.',
    guest: 'invité sans adresse e-mail',
    button: 'Associer',
    unexpected: 'Si ce compte n’est pas le vôtre ou si vous n’avez rien demandé, fermez cette page.',
  },
};

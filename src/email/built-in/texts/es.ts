/** The texts in Spanish, with “tú”, as Google and Apple write to their users. */
import { byAddress, type LanguageTexts } from '../language-texts.ts';

/** The texts. */
export const spanish: LanguageTexts = {
  orCode: 'O escribe este código:',
  methods: { totp: 'aplicación de autenticación', phone: 'teléfono', email: 'correo electrónico' },
  emails: {
    confirmation: {
      subject: 'Confirma tu dirección de correo electrónico',
      lead: 'Gracias por registrarte en {{ .Brand.Name }}. Confirma tu dirección de correo electrónico para completar el registro.',
      button: 'Confirmar correo electrónico',
      end: [
        '{{ if .HasPassword }}Se ha elegido una contraseña para esta cuenta. {{ end }}Si no te has registrado tú, puedes ignorar este correo.',
      ],
    },
    invite: {
      subject: 'Te han invitado a unirte a {{ .Brand.Name }}',
      lead: 'Te han invitado a crear una cuenta en {{ .Brand.Name }}.',
      button: 'Aceptar invitación',
      end: ['Si no esperabas esta invitación, puedes ignorar este correo.'],
    },
    magic_link: {
      subject: 'Tu enlace de inicio de sesión',
      lead: 'Usa este enlace para iniciar sesión en {{ .Brand.Name }}. El enlace solo funciona una vez y caduca pronto.',
      button: 'Iniciar sesión',
      end: ['Si no has solicitado este enlace, puedes ignorar este correo.'],
    },
    email_change: {
      subject: 'Confirma el cambio de tu dirección de correo electrónico',
      lead: byAddress(
        'Hemos recibido una solicitud para usar {{ .NewEmail }} en una cuenta de {{ .Brand.Name }}.',
        'Hemos recibido una solicitud para cambiar tu dirección de correo electrónico en {{ .Brand.Name }} de {{ .Email }} a {{ .NewEmail }}.',
      ),
      button: 'Confirmar cambio',
      end: [
        byAddress(
          'Si no has solicitado este cambio, puedes ignorar este correo.',
          'Si no has solicitado este cambio, no lo confirmes. Cambia tu contraseña.',
        ),
      ],
    },
    recovery: {
      subject: 'Restablece tu contraseña',
      lead: 'Hemos recibido una solicitud para restablecer la contraseña de tu cuenta en {{ .Brand.Name }}.',
      button: 'Restablecer contraseña',
      end: ['Si no lo has solicitado, puedes ignorar este correo. Tu contraseña seguirá siendo la misma.'],
    },
    reauthentication: {
      subject: '{{ .Token }} es tu código de verificación',
      heading: 'Tu código de verificación',
      lead: 'Escribe este código en {{ .Brand.Name }} para confirmar que eres tú. El código solo funciona una vez y caduca pronto.',
      end: ['Si no has solicitado este código, no lo compartas con nadie. Cambia tu contraseña.'],
    },
    password_changed_notification: {
      subject: 'Se ha cambiado tu contraseña',
      lead: 'Se ha cambiado la contraseña de tu cuenta {{ .Email }} en {{ .Brand.Name }}.',
      end: ['Si has sido tú, no tienes que hacer nada. Si no has sido tú, restablece tu contraseña de inmediato.'],
    },
    email_changed_notification: {
      subject: 'Se ha cambiado tu dirección de correo electrónico',
      lead: 'La dirección de correo electrónico de tu cuenta en {{ .Brand.Name }} se ha cambiado de {{ .OldEmail }} a {{ .Email }}.',
      end: [
        'Si has sido tú, no tienes que hacer nada. Si no has sido tú, ponte en contacto de inmediato con el equipo de asistencia en {{ .SiteURL }}.',
        'Los correos sobre tu cuenta ya no se envían a esta dirección.',
      ],
    },
    phone_changed_notification: {
      subject: 'Se ha cambiado tu número de teléfono',
      lead: 'El número de teléfono de tu cuenta {{ .Email }} en {{ .Brand.Name }} se ha cambiado de +{{ .OldPhone }} a +{{ .Phone }}.',
      end: [
        'Si has sido tú, no tienes que hacer nada. Si no has sido tú, cambia tu contraseña y vuelve a poner tu número de teléfono anterior.',
      ],
    },
    identity_linked_notification: {
      subject: 'Se ha añadido un método de inicio de sesión',
      lead: 'Se ha añadido un método de inicio de sesión ({provider}) a tu cuenta {{ .Email }} en {{ .Brand.Name }}.',
      end: [
        'Si has sido tú, no tienes que hacer nada. Si no has sido tú, elimina el método de inicio de sesión y cambia tu contraseña.',
      ],
    },
    identity_unlinked_notification: {
      subject: 'Se ha eliminado un método de inicio de sesión',
      lead: 'Se ha eliminado un método de inicio de sesión ({provider}) de tu cuenta {{ .Email }} en {{ .Brand.Name }}.',
      end: [
        'Si has sido tú, no tienes que hacer nada. Si no has sido tú, cambia tu contraseña y vuelve a añadir el método de inicio de sesión.',
      ],
    },
    mfa_factor_enrolled_notification: {
      subject: 'Se ha añadido un segundo factor de autenticación',
      lead: 'Se ha añadido un segundo factor de autenticación ({factor}) a tu cuenta {{ .Email }} en {{ .Brand.Name }}.',
      end: ['Si has sido tú, no tienes que hacer nada. Si no has sido tú, elimina el factor y cambia tu contraseña.'],
    },
    mfa_factor_unenrolled_notification: {
      subject: 'Se ha eliminado un segundo factor de autenticación',
      lead: 'Se ha eliminado un segundo factor de autenticación ({factor}) de tu cuenta {{ .Email }} en {{ .Brand.Name }}.',
      end: [
        'Si has sido tú, no tienes que hacer nada. Si no has sido tú, cambia tu contraseña y vuelve a añadir el factor.',
      ],
    },
    mfa_factor_guessed_notification: {
      subject: 'Se han introducido códigos incorrectos',
      lead: 'Se han introducido varias veces códigos incorrectos para el segundo factor de autenticación ({factor}) de tu cuenta {{ .Email }} en {{ .Brand.Name }}.',
      end: [
        'Si has sido tú, no tienes que hacer nada. Si no has sido tú, cambia tu contraseña de inmediato: es posible que otra persona la conozca.',
      ],
    },
  },
  linkPage: {
    invited: 'Te han invitado',
    other: 'Continuar',
    next: 'Haz clic en el botón para continuar en {{ .SiteURL }}.',
    sentTo: 'El enlace se ha enviado a la dirección {{ .Email }}.',
    unexpected: 'Si no esperabas este enlace, cierra esta página.',
  },
  linking: {
    heading: '¿Vincular tu cuenta de {{ .Provider }}?',
    account: 'Después podrás usarla para iniciar sesión en {{ .SiteURL }} como {{ .Account }}.',
    guest: 'invitado sin correo electrónico',
    button: 'Vincular',
    unexpected: 'Si esa cuenta no es tuya o no has solicitado esto, cierra esta página.',
  },
};

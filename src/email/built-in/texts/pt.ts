/**
 * The texts in Portuguese as in Brazil, with “você”; words that Portugal does not know are avoided.
 */
import { byAddress, type LanguageTexts } from '../language-texts.ts';

/** The texts. */
export const portuguese: LanguageTexts = {
  orCode: 'Ou insira este código:',
  factors: { totp: 'aplicativo de autenticação', phone: 'telefone' },
  emails: {
    confirmation: {
      subject: 'Confirme seu endereço de e-mail',
      lead: 'Agradecemos seu cadastro em {{ .Brand.Name }}. Confirme seu endereço de e-mail para concluir.',
      button: 'Confirmar endereço de e-mail',
      end: ['Se você não se cadastrou, pode ignorar este e-mail.'],
    },
    invite: {
      subject: 'Você recebeu um convite para {{ .Brand.Name }}',
      lead: 'Você recebeu um convite para criar uma conta em {{ .Brand.Name }}.',
      button: 'Aceitar convite',
      end: ['Se você não esperava este convite, pode ignorar este e-mail.'],
    },
    magic_link: {
      subject: 'Seu link de acesso',
      lead: 'Use este link para entrar em {{ .Brand.Name }}. Ele funciona uma única vez e expira em breve.',
      button: 'Entrar',
      end: ['Se você não pediu este link, pode ignorar este e-mail.'],
    },
    email_change: {
      subject: 'Confirme a alteração do seu endereço de e-mail',
      lead: byAddress(
        'Recebemos um pedido para usar {{ .NewEmail }} em uma conta de {{ .Brand.Name }}.',
        'Recebemos um pedido para alterar seu endereço de e-mail em {{ .Brand.Name }} de {{ .Email }} para {{ .NewEmail }}.',
      ),
      button: 'Confirmar alteração',
      end: [
        byAddress(
          'Se você não pediu esta alteração, pode ignorar este e-mail.',
          'Se você não pediu esta alteração, não a confirme. Altere sua senha.',
        ),
      ],
    },
    recovery: {
      subject: 'Redefina sua senha',
      lead: 'Recebemos um pedido para redefinir a senha da sua conta em {{ .Brand.Name }}.',
      button: 'Redefinir senha',
      end: ['Se você não fez este pedido, pode ignorar este e-mail. Sua senha continua a mesma.'],
    },
    reauthentication: {
      subject: '{{ .Token }} é seu código de verificação',
      heading: 'Seu código de verificação',
      lead: 'Insira este código em {{ .Brand.Name }} para confirmar que é você. Ele funciona uma única vez e expira em breve.',
      end: ['Se você não pediu este código, não o compartilhe. Altere sua senha.'],
    },
    password_changed_notification: {
      subject: 'Sua senha foi alterada',
      lead: 'A senha da sua conta {{ .Email }} em {{ .Brand.Name }} foi alterada.',
      end: ['Se foi você, não é preciso fazer nada. Se não foi, redefina sua senha imediatamente.'],
    },
    email_changed_notification: {
      subject: 'Seu endereço de e-mail foi alterado',
      lead: 'O endereço de e-mail da sua conta em {{ .Brand.Name }} foi alterado de {{ .OldEmail }} para {{ .Email }}.',
      end: [
        'Se foi você, não é preciso fazer nada. Se não foi, entre em contato com o suporte em {{ .SiteURL }} imediatamente.',
        'Os e-mails da sua conta não são mais enviados para este endereço.',
      ],
    },
    phone_changed_notification: {
      subject: 'Seu número de telefone foi alterado',
      lead: 'O número de telefone da sua conta {{ .Email }} em {{ .Brand.Name }} foi alterado de +{{ .OldPhone }} para +{{ .Phone }}.',
      end: ['Se foi você, não é preciso fazer nada. Se não foi, altere sua senha e restaure seu número de telefone.'],
    },
    identity_linked_notification: {
      subject: 'Um método de acesso foi adicionado',
      lead: 'Um método de acesso ({{ .Provider }}) foi adicionado à sua conta {{ .Email }} em {{ .Brand.Name }}.',
      end: ['Se foi você, não é preciso fazer nada. Se não foi, remova o método de acesso e altere sua senha.'],
    },
    identity_unlinked_notification: {
      subject: 'Um método de acesso foi removido',
      lead: 'Um método de acesso ({{ .Provider }}) foi removido da sua conta {{ .Email }} em {{ .Brand.Name }}.',
      end: [
        'Se foi você, não é preciso fazer nada. Se não foi, altere sua senha e adicione o método de acesso novamente.',
      ],
    },
    mfa_factor_enrolled_notification: {
      subject: 'Um segundo fator foi adicionado',
      lead: 'Um segundo fator ({factor}) foi adicionado à sua conta {{ .Email }} em {{ .Brand.Name }}.',
      end: ['Se foi você, não é preciso fazer nada. Se não foi, remova o fator e altere sua senha.'],
    },
    mfa_factor_unenrolled_notification: {
      subject: 'Um segundo fator foi removido',
      lead: 'Um segundo fator ({factor}) foi removido da sua conta {{ .Email }} em {{ .Brand.Name }}.',
      end: ['Se foi você, não é preciso fazer nada. Se não foi, altere sua senha e adicione o fator novamente.'],
    },
  },
  linkPage: {
    invited: 'Você recebeu um convite',
    other: 'Continuar',
    next: 'Pressione o botão para continuar em {{ .SiteURL }}.',
    sentTo: 'O link foi enviado para {{ .Email }}.',
    unexpected: 'Se você não o pediu, feche esta página.',
  },
};

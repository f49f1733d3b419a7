/** The texts in Portuguese, written for Brazil, with “você”; of two common words, the one that Portugal uses too. */
import { byAddress, type LanguageTexts } from '../language-texts.ts';

/** The texts. */
export const portuguese: LanguageTexts = {
  orCode: 'Ou insira este código:',
  methods: { totp: 'app de autenticação', phone: 'telefone', email: 'e-mail' },
  emails: {
    confirmation: {
      subject: 'Confirme seu endereço de e-mail',
      lead: 'Agradecemos por criar uma conta em {{ .Brand.Name }}. Confirme seu endereço de e-mail para concluir.',
      button: 'Confirmar endereço de e-mail',
      end: [
        '{{ if .HasPassword }}Uma senha foi escolhida para esta conta. {{ end }}Se você não criou esta conta, pode ignorar este e-mail.',
      ],
    },
    invite: {
      subject: 'Você recebeu um convite para {{ .Brand.Name }}',
      lead: 'Você recebeu um convite para criar uma conta em {{ .Brand.Name }}.',
      button: 'Aceitar convite',
      end: ['Se você não esperava este convite, pode ignorar este e-mail.'],
    },
    magic_link: {
      subject: 'Seu link de acesso',
      lead: 'Use este link para entrar em {{ .Brand.Name }}. O link só funciona uma vez e expira em breve.',
      button: 'Entrar',
      end: ['Se você não solicitou este link, pode ignorar este e-mail.'],
    },
    email_change: {
      subject: 'Confirme a alteração do seu endereço de e-mail',
      lead: byAddress(
        'Recebemos uma solicitação para usar {{ .NewEmail }} em uma conta de {{ .Brand.Name }}.',
        'Recebemos uma solicitação para alterar seu endereço de e-mail em {{ .Brand.Name }} de {{ .Email }} para {{ .NewEmail }}.',
      ),
      button: 'Confirmar alteração',
      end: [
        byAddress(
          'Se você não solicitou esta alteração, pode ignorar este e-mail.',
          'Se você não solicitou esta alteração, não a confirme. Altere sua senha.',
        ),
      ],
    },
    recovery: {
      subject: 'Redefina sua senha',
      lead: 'Recebemos uma solicitação para redefinir a senha da sua conta em {{ .Brand.Name }}.',
      button: 'Redefinir senha',
      end: ['Se você não fez esta solicitação, pode ignorar este e-mail. Sua senha continua a mesma.'],
    },
    reauthentication: {
      subject: '{{ .Token }} é o seu código de verificação',
      heading: 'Seu código de verificação',
      lead: 'Insira este código em {{ .Brand.Name }} para confirmar que é você. O código só funciona uma vez e expira em breve.',
      end: ['Se você não solicitou este código, não o informe a ninguém. Altere sua senha.'],
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
        'Se foi você, não é preciso fazer nada. Se não foi, fale imediatamente com o suporte em {{ .SiteURL }}.',
        'Os e-mails sobre sua conta não são mais enviados para este endereço.',
      ],
    },
    phone_changed_notification: {
      subject: 'Seu número de telefone foi alterado',
      lead: 'O número de telefone da sua conta {{ .Email }} em {{ .Brand.Name }} foi alterado de +{{ .OldPhone }} para +{{ .Phone }}.',
      end: ['Se foi você, não é preciso fazer nada. Se não foi, altere sua senha e restaure seu número de telefone.'],
    },
    identity_linked_notification: {
      subject: 'Um método de acesso foi adicionado',
      lead: 'Um método de acesso ({provider}) foi adicionado à sua conta {{ .Email }} em {{ .Brand.Name }}.',
      end: ['Se foi você, não é preciso fazer nada. Se não foi, remova o método de acesso e altere sua senha.'],
    },
    identity_unlinked_notification: {
      subject: 'Um método de acesso foi removido',
      lead: 'Um método de acesso ({provider}) foi removido da sua conta {{ .Email }} em {{ .Brand.Name }}.',
      end: [
        'Se foi você, não é preciso fazer nada. Se não foi, altere sua senha e adicione o método de acesso novamente.',
      ],
    },
    mfa_factor_enrolled_notification: {
      subject: 'Um segundo fator de autenticação foi adicionado',
      lead: 'Um segundo fator de autenticação ({factor}) foi adicionado à sua conta {{ .Email }} em {{ .Brand.Name }}.',
      end: ['Se foi você, não é preciso fazer nada. Se não foi, remova o fator e altere sua senha.'],
    },
    mfa_factor_unenrolled_notification: {
      subject: 'Um segundo fator de autenticação foi removido',
      lead: 'Um segundo fator de autenticação ({factor}) foi removido da sua conta {{ .Email }} em {{ .Brand.Name }}.',
      end: ['Se foi você, não é preciso fazer nada. Se não foi, altere sua senha e adicione o fator novamente.'],
    },
    mfa_factor_guessed_notification: {
      subject: 'Códigos incorretos foram inseridos',
      lead: 'Códigos incorretos foram inseridos várias vezes para o segundo fator de autenticação ({factor}) da sua conta {{ .Email }} em {{ .Brand.Name }}.',
      end: [
        'Se foi você, não é preciso fazer nada. Se não foi, altere sua senha imediatamente: outra pessoa pode conhecê-la.',
      ],
    },
  },
  linkPage: {
    invited: 'Você recebeu um convite',
    other: 'Continuar',
    next: 'Clique no botão para continuar em {{ .SiteURL }}.',
    sentTo: 'O link foi enviado para {{ .Email }}.',
    unexpected: 'Se você não esperava este link, feche esta página.',
  },
  linking: {
    heading: 'Vincular sua conta {{ .Provider }}?',
    account: 'Depois você poderá usá-la para entrar em {{ .SiteURL }} como {{ .Account }}.',
    guest: 'convidado sem endereço de e-mail',
    button: 'Vincular',
    unexpected: 'Se essa conta não é sua ou se você não pediu isso, feche esta página.',
  },
};

/**
 * The texts in Japanese, in the polite form.
 *
 * Blanks stand only around addresses, numbers and links: programs that find links in text would take what follows for a part.
 */
import { byAddress, type LanguageTexts } from '../language-texts.ts';

/** The texts. */
export const japanese: LanguageTexts = {
  orCode: 'または、次のコードを入力してください。',
  methods: { totp: '認証アプリ', phone: '電話', email: 'メールアドレス' },
  emails: {
    confirmation: {
      subject: 'メールアドレスの確認',
      lead: '{{ .Brand.Name }}にご登録いただきありがとうございます。メールアドレスを確認して、登録を完了してください。',
      button: 'メールアドレスを確認する',
      end: [
        '{{ if .HasPassword }}このアカウントにはパスワードが設定されています。{{ end }}ご登録にお心当たりがない場合は、このメールは無視していただいて問題ありません。',
      ],
    },
    invite: {
      subject: '{{ .Brand.Name }}への招待',
      lead: '{{ .Brand.Name }}のアカウント作成への招待が届いています。',
      button: '招待を承諾する',
      end: ['この招待にお心当たりがない場合は、このメールは無視していただいて問題ありません。'],
    },
    magic_link: {
      subject: 'ログイン用リンク',
      lead: 'このリンクから{{ .Brand.Name }}にログインしてください。リンクは1回のみ有効で、短時間で期限切れになります。',
      button: 'ログインする',
      end: ['このリンクにお心当たりがない場合は、このメールは無視していただいて問題ありません。'],
    },
    email_change: {
      subject: 'メールアドレス変更の確認',
      lead: byAddress(
        '{{ .Brand.Name }}のアカウントで {{ .NewEmail }} を使用するリクエストを受け取りました。',
        '{{ .Brand.Name }}にご登録のメールアドレスを {{ .Email }} から {{ .NewEmail }} に変更するリクエストを受け取りました。',
      ),
      button: '変更を確定する',
      end: [
        byAddress(
          'この変更にお心当たりがない場合は、このメールは無視していただいて問題ありません。',
          'この変更にお心当たりがない場合は、変更を確定せずに、パスワードを変更してください。',
        ),
      ],
    },
    recovery: {
      subject: 'パスワードの再設定',
      lead: '{{ .Brand.Name }}のアカウントのパスワードを再設定するリクエストを受け取りました。',
      button: 'パスワードを再設定する',
      end: ['お心当たりがない場合は、このメールは無視していただいて問題ありません。パスワードは変更されません。'],
    },
    reauthentication: {
      subject: '確認コード：{{ .Token }}',
      heading: '確認コード',
      lead: 'ご本人確認のため、{{ .Brand.Name }}で次のコードを入力してください。コードは1回のみ有効で、短時間で期限切れになります。',
      end: ['このコードにお心当たりがない場合は、コードを誰にも教えずに、パスワードを変更してください。'],
    },
    password_changed_notification: {
      subject: 'パスワードが変更されました',
      lead: '{{ .Brand.Name }}のアカウント（{{ .Email }}）のパスワードが変更されました。',
      end: ['ご本人による変更の場合、対応は不要です。お心当たりがない場合は、すぐにパスワードを再設定してください。'],
    },
    email_changed_notification: {
      subject: 'メールアドレスが変更されました',
      lead: '{{ .Brand.Name }}のアカウントのメールアドレスが {{ .OldEmail }} から {{ .Email }} に変更されました。',
      end: [
        'ご本人による変更の場合、対応は不要です。お心当たりがない場合は、すぐに {{ .SiteURL }} のサポートにお問い合わせください。',
        '今後、アカウントに関するメールはこのアドレスには送信されません。',
      ],
    },
    phone_changed_notification: {
      subject: '電話番号が変更されました',
      lead: '{{ .Brand.Name }}のアカウント（{{ .Email }}）の電話番号が +{{ .OldPhone }} から +{{ .Phone }} に変更されました。',
      end: [
        'ご本人による変更の場合、対応は不要です。お心当たりがない場合は、パスワードを変更し、電話番号を元に戻してください。',
      ],
    },
    identity_linked_notification: {
      subject: 'ログイン方法が追加されました',
      lead: '{{ .Brand.Name }}のアカウント（{{ .Email }}）にログイン方法（{provider}）が追加されました。',
      end: [
        'ご本人による操作の場合、対応は不要です。お心当たりがない場合は、このログイン方法を削除し、パスワードを変更してください。',
      ],
    },
    identity_unlinked_notification: {
      subject: 'ログイン方法が削除されました',
      lead: '{{ .Brand.Name }}のアカウント（{{ .Email }}）からログイン方法（{provider}）が削除されました。',
      end: [
        'ご本人による操作の場合、対応は不要です。お心当たりがない場合は、パスワードを変更し、このログイン方法をもう一度追加してください。',
      ],
    },
    mfa_factor_enrolled_notification: {
      subject: '2段階認証の方法が追加されました',
      lead: '{{ .Brand.Name }}のアカウント（{{ .Email }}）に2段階認証の方法（{factor}）が追加されました。',
      end: [
        'ご本人による操作の場合、対応は不要です。お心当たりがない場合は、この方法を削除し、パスワードを変更してください。',
      ],
    },
    mfa_factor_unenrolled_notification: {
      subject: '2段階認証の方法が削除されました',
      lead: '{{ .Brand.Name }}のアカウント（{{ .Email }}）から2段階認証の方法（{factor}）が削除されました。',
      end: [
        'ご本人による操作の場合、対応は不要です。お心当たりがない場合は、パスワードを変更し、この方法をもう一度追加してください。',
      ],
    },
    mfa_factor_guessed_notification: {
      subject: '誤ったコードが入力されました',
      lead: '{{ .Brand.Name }}のアカウント（{{ .Email }}）の2段階認証（{factor}）で、誤ったコードが複数回入力されました。',
      end: [
        'ご本人による操作の場合、対応は不要です。お心当たりがない場合は、第三者がパスワードを知っている可能性があるため、直ちにパスワードを変更してください。',
      ],
    },
  },
  linkPage: {
    invited: '招待が届いています',
    other: '続ける',
    next: 'ボタンを押して {{ .SiteURL }} に進んでください。',
    sentTo: 'リンクは {{ .Email }} に送信されました。',
    unexpected: 'お心当たりがない場合は、このページを閉じてください。',
  },
  linking: {
    heading: '{{ .Provider }} のアカウントを連携しますか？',
    account: '連携すると、このアカウントで {{ .SiteURL }} に {{ .Account }} としてログインできるようになります。',
    guest: 'メールアドレスのないゲスト',
    button: '連携する',
    unexpected: 'ご自身のアカウントでない場合や、お心当たりがない場合は、このページを閉じてください。',
  },
};

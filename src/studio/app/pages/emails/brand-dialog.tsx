/** Name, logo, color and footer of the project in its emails, with a preview of an email that shows them. */
import { useId, useState } from 'react';
import type { ChangeNote } from '../../../../management/change-note.ts';
import { Dialog } from '../../components/dialog.tsx';
import { Fault } from '../../components/problem.tsx';
import { onSubmit, useTask } from '../../shared/requests.ts';
import { useMayWrite } from '../../shared/session.ts';
import type { DescribedEmail } from './described.ts';
import { type StoredEmails, storeFields } from './emails-state.ts';
import { draftOf, usePreview } from './render.ts';
import { Screen } from './screen.tsx';

interface BrandDialogProps {
  readonly stored: StoredEmails;
  /** The email of the preview. */
  readonly email: DescribedEmail;
  readonly onClose: () => void;
}

/** The dialog. */
export function BrandDialog({ stored, email, onClose }: BrandDialogProps) {
  const { config } = stored;
  const [brand, setBrand] = useState({
    Name: String(config.mailer_brand_name ?? ''),
    LogoURL: String(config.mailer_brand_logo_url ?? ''),
    Color: String(config.mailer_brand_color ?? ''),
    Footer: String(config.mailer_brand_footer ?? ''),
  });
  const [isDark, setDark] = useState(false);
  const [saved, setSaved] = useState<readonly ChangeNote[] | null>(null);
  const { html } = usePreview(draftOf(email, email.defaults, { config, data: { Brand: brand }, around: '' }), stored);
  const { problem, run } = useTask();
  const mayWrite = useMayWrite();
  const submit = onSubmit(() => {
    setSaved(null);
    const { Name, LogoURL, Color, Footer } = brand;
    const change = {
      mailer_brand_name: Name || null,
      mailer_brand_logo_url: LogoURL || null,
      mailer_brand_color: Color,
      mailer_brand_footer: Footer || null,
    };
    void run(async () => setSaved(await storeFields(change)));
  });
  const field = (name: keyof typeof brand) => ({
    value: brand[name],
    onChange: ({ target }: { readonly target: { readonly value: string } }) =>
      setBrand({ ...brand, [name]: target.value }),
  });
  const id = useId();
  return (
    <Dialog title="Brand" isWide onClose={onClose}>
      <div className="brand-fields">
        <form className="stack" onSubmit={submit}>
          <label htmlFor={`${id}-name`}>Name</label>
          <input
            id={`${id}-name`}
            maxLength={200}
            placeholder={new URL(String(config.site_url)).host}
            {...field('Name')}
          />
          <label htmlFor={`${id}-logo`}>Logo address</label>
          <input id={`${id}-logo`} type="url" placeholder="https://" spellCheck={false} {...field('LogoURL')} />
          <label htmlFor={`${id}-color`}>Button color</label>
          <input id={`${id}-color`} type="color" {...field('Color')} />
          <label htmlFor={`${id}-footer`}>Footer</label>
          <textarea id={`${id}-footer`} rows={3} maxLength={2000} {...field('Footer')} />
          <Fault>{problem?.message}</Fault>
          {saved?.map(({ reason }) => (
            <p key={reason} className="warn small">
              Button color: {reason}
            </p>
          ))}
          <div className="row end">
            <p className="good small" role="status">
              {saved !== null && 'Saved. The next email uses it.'}
            </p>
            <button type="submit" className="primary" disabled={!mayWrite}>
              Save brand
            </button>
          </div>
        </form>
        <section className="stack" aria-label="Preview of the brand">
          <div className="row end">
            <button type="button" className="quiet" aria-pressed={isDark} onClick={() => setDark(!isDark)}>
              Dark
            </button>
          </div>
          <div className="preview-body">{html !== null && <Screen html={html} isPhone isDark={isDark} />}</div>
        </section>
      </div>
    </Dialog>
  );
}

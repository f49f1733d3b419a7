/** Earlier versions of the whole configuration: who changed what, compared with now, and back into the page. */
import { lazy, Suspense } from 'react';
import type { ConfigVersion, VersionValues } from '../../../../management/version-history.ts';
import { Fault, Waiting } from '../../components/problem.tsx';
import { Rows } from '../../components/rows.tsx';
import { type Tab, Tabs } from '../../components/tabs.tsx';
import { Versions } from '../../components/versions.tsx';
import { emailTitle } from '../../shared/email-title.ts';
import { useAnswer } from '../../shared/requests.ts';
import { goTo, usePlace } from '../../shared/router.ts';
import { askProject, useMayWrite } from '../../shared/session.ts';
import { fieldPlaces } from './sections.ts';
import { sayValue } from './setting-row.tsx';
import { change, type StoredSettings } from './settings-state.ts';

// The editor is large, and few versions have long texts.
const Difference = lazy(async () => ({ default: (await import('../../components/difference.tsx')).Difference }));

type Values = Readonly<Record<string, unknown>>;

/** The section. */
export function SettingsHistory({ stored }: { readonly stored: StoredSettings }) {
  const { segments } = usePlace();
  const { value: versions, problem } = useAnswer(
    `versions ${stored.version}`,
    async (signal) => (await askProject<readonly ConfigVersion[]>('config/auth/versions', { signal })).body,
  );
  if (versions === null) return <Waiting what="versions" problem={problem} />;
  if (versions.length === 0) return <p className="soft">Nothing was stored yet: start values and defaults apply.</p>;
  const wanted = Number(segments[2]);
  const index = versions.findIndex(({ version }) => version === wanted);
  const chosen = versions[index];
  return (
    <Versions
      versions={versions}
      chosen={chosen?.version ?? null}
      onChoose={(version) => goTo(`settings/history/${version}`)}
      say={({ changed }) => (changed.length > 2 ? `${changed.length} fields` : changed.map(labelOf).join(', '))}
    >
      {chosen === undefined ? (
        <p className="soft">
          {segments[2] === undefined ? 'Choose a version to see what it changed.' : 'This version is no longer kept.'}
        </p>
      ) : (
        <VersionView stored={stored} version={chosen} before={versions[index + 1] ?? null} />
      )}
    </Versions>
  );
}

const tabs: readonly Tab<'before' | 'now'>[] = [
  { name: 'before', title: 'What it changed' },
  { name: 'now', title: 'Compared with now' },
];

interface VersionViewProps {
  readonly stored: StoredSettings;
  readonly version: ConfigVersion;
  /** Null: the oldest that is kept. */
  readonly before: ConfigVersion | null;
}

function VersionView({ stored, version, before }: VersionViewProps) {
  const against = usePlace().query.get('against') === 'now' ? 'now' : 'before';
  const mayWrite = useMayWrite() && !stored.isConfigOnly;
  const { value, problem } = useAnswer(`version ${version.version}`, async (signal) => {
    const read = async ({ version: number }: ConfigVersion): Promise<Values> =>
      (await askProject<VersionValues>(`config/auth/versions/${number}`, { signal })).body.values;
    const [own, previous] = await Promise.all([read(version), before === null ? {} : read(before)]);
    return { version: version.version, own, previous };
  });
  if (value === null || value.version !== version.version) return <Fault>{problem?.message}</Fault>;
  const now = Object.fromEntries(
    [...stored.fields.values()].map(({ name, origin }) => [name, origin === 'stored' ? stored.values[name] : null]),
  );
  const compared = against === 'now' ? now : value.previous;
  const names = [...stored.fields.keys()].filter((name) =>
    against === 'before' ? version.changed.includes(name) : !isEqual(now[name], value.own[name]),
  );
  const secrets = names.filter((name) => stored.fields.get(name)?.isSecret && value.own[name]);
  const restorable = names.filter((name) => !secrets.includes(name) && !isEqual(now[name], value.own[name]));
  const restore = (): void => {
    for (const name of restorable) change(name, value.own[name] ?? null);
  };
  return (
    <Tabs
      label="Compare"
      tabs={tabs}
      chosen={against}
      onChoose={(name) => goTo(`settings/history/${version.version}?against=${name}`, { replace: true })}
    >
      <div className="stack">
        {names.length === 0 ? (
          <p className="notice">No differences.</p>
        ) : (
          <Differences names={names} from={compared} to={value.own} stored={stored} isNow={against === 'now'} />
        )}
        {secrets.length > 0 && (
          <p className="soft small">A secret of an earlier version cannot be restored here: {secrets.join(', ')}.</p>
        )}
        {mayWrite && restorable.length > 0 && (
          <div className="row end">
            <button type="button" className="primary" onClick={restore}>
              Restore {restorable.length === 1 ? '1 field' : `${restorable.length} fields`} of version {version.version}
            </button>
          </div>
        )}
      </div>
    </Tabs>
  );
}

interface DifferencesProps {
  readonly names: readonly string[];
  readonly from: Values;
  readonly to: Values;
  readonly stored: StoredSettings;
  readonly isNow: boolean;
}

function Differences({ names, from, to, stored, isNow }: DifferencesProps) {
  const isLong = (name: string) => [from, to].some((values) => String(values[name] ?? '').includes('\n'));
  const say = (values: Values, name: string) => {
    if (values[name] === null || values[name] === undefined) return <span className="soft">not stored</span>;
    return stored.fields.get(name)?.isSecret ? 'a secret' : sayValue(values[name]);
  };
  const short = names.filter((name) => !isLong(name));
  return (
    <>
      {short.length > 0 && (
        <Rows label="Changed fields" columns={['Field', isNow ? 'Now' : 'Before', 'In this version']}>
          {short.map((name) => (
            <tr key={name}>
              <th scope="row">
                {labelOf(name)} {labelOf(name) !== name && <code>{name}</code>}
              </th>
              <td>{say(from, name)}</td>
              <td>{say(to, name)}</td>
            </tr>
          ))}
        </Rows>
      )}
      {names.filter(isLong).map((name) => (
        <section key={name} className="stack">
          <h3>{labelOf(name)}</h3>
          <Suspense fallback={<p className="soft">Loading …</p>}>
            <Difference
              before={String(from[name] ?? '')}
              after={String(to[name] ?? '')}
              label={`Changes to ${labelOf(name)}`}
            />
          </Suspense>
        </section>
      ))}
    </>
  );
}

const emailParts: Readonly<Record<string, string>> = {
  content: 'Body',
  text: 'Text part',
  translations: 'Translations',
};

/** As on its page. */
function labelOf(name: string): string {
  const [, subject] = /^mailer_subjects_(.+)$/.exec(name) ?? [];
  if (subject !== undefined) return `${emailTitle(subject)}: Subject`;
  const [, email, part] = /^mailer_templates_(.+)_(content|text|translations)$/.exec(name) ?? [];
  if (email !== undefined && part !== undefined) return `${emailTitle(email)}: ${emailParts[part]}`;
  return fieldPlaces.get(name)?.field.label ?? name;
}

function isEqual(a: unknown, b: unknown): boolean {
  return JSON.stringify(a ?? null) === JSON.stringify(b ?? null);
}

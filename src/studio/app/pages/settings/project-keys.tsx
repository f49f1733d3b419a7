/** The addresses and API keys of the project, the keys that sign and verify tokens, and how they are rotated. */
import { lastTokenEnds } from '../../../../config/auth/token-seconds.ts';
import type { StudioProject } from '../../../routes/studio-project.ts';
import { CopyButton } from '../../components/copy-button.tsx';
import { Moment } from '../../components/moment.tsx';
import { Fault } from '../../components/problem.tsx';
import { ProjectCommand } from '../../components/project-command.tsx';
import { Rows } from '../../components/rows.tsx';
import { apiKeys } from '../../shared/keys.ts';
import { useAgain } from '../../shared/recent.ts';
import { useAnswer } from '../../shared/requests.ts';
import { readProjectAgain, session } from '../../shared/session.ts';
import { useStore } from '../../shared/store.ts';
import { NamedGroup } from './named-group.tsx';

type Signing = StudioProject['signing'];

const jwksPath = '/auth/v1/.well-known/jwks.json';

/** The section. */
export function ProjectKeys() {
  const { anon, service } = useStore(apiKeys);
  const answer = useAnswer('project', readProjectAgain);
  // Somebody rotates them in a terminal, and looks here.
  useAgain(answer, 5000);
  const now = useStore(session);
  if (now.kind === 'none') return null;
  const { signing } = now.project;
  const facts = [
    { title: 'Project URL', text: location.origin },
    { title: 'GraphQL', text: `${location.origin}/graphql/v1` },
    // A shared secret is not in the list.
    ...(signing.keys.length > 0 && signing.keys.every(({ algorithm }) => algorithm.startsWith('HS'))
      ? []
      : [{ title: 'Public keys (JWKS)', text: `${location.origin}${jwksPath}` }]),
    { title: 'Anon key', text: anon },
  ];
  return (
    <>
      <NamedGroup section="keys" title="For clients">
        {facts.map(({ title, text }) => (
          <div key={title} className="setting key">
            <p className="label">{title}</p>
            {text === '' ? (
              <p className="soft">
                Shown to access tokens with the scope project:operate, if a key of the gateway signs.
              </p>
            ) : (
              <p className="row">
                <code className="grow">{text}</code>
                <CopyButton text={text} what={title} isIcon />
              </p>
            )}
          </div>
        ))}
        {service === '' ? (
          <p className="soft small">
            The service role's key passes row security. It stays on the server; <code>pgreflect keys</code> prints it
            there.
          </p>
        ) : (
          <>
            <div className="setting key">
              <p className="label">Service key</p>
              <p className="row">
                <code className="grow">{'•'.repeat(24)}</code>
                <CopyButton text={service} what="Service key" isIcon />
              </p>
            </div>
            <p className="soft small">The service key passes row security: it is for servers only.</p>
          </>
        )}
      </NamedGroup>
      <NamedGroup section="keys" title="Signing keys">
        <Fault>{answer.problem?.message}</Fault>
        <SigningKeys signing={signing} />
      </NamedGroup>
      <NamedGroup section="keys" title="Rotate the keys">
        <Rotation signing={signing} isLocal={now.project.isLocal} />
      </NamedGroup>
    </>
  );
}

const states: Readonly<Record<Signing['keys'][number]['state'], string>> = {
  standby: 'On standby: it verifies, and signs after the next rotation',
  signs: 'Signs',
  verifies: 'Verifies',
};

/** What signs now, and what still verifies. */
function SigningKeys({ signing: { keys } }: { readonly signing: Signing }) {
  if (keys.length === 0) return <p className="soft">No key of the gateway: those of another service verify tokens.</p>;
  // A file has them from the newest to the oldest: each signs since the one behind it does not.
  const since = (at: number) => keys[at]?.state === 'signs' && keys[at + 1]?.signedUntil;
  return (
    <Rows label="States of the keys" columns={['Key ID', 'Algorithm', 'State']}>
      {keys.map(({ id, algorithm, state, signedUntil }, at) => {
        const from = since(at);
        return (
          <tr key={id ?? `without ${at}`}>
            <th scope="row">{id === null ? 'Secret without an ID' : <code>{id}</code>}</th>
            <td>{algorithm}</td>
            <td>
              {states[state]}
              {from && (
                <>
                  {' '}
                  since <Moment at={from} />
                </>
              )}
              {signedUntil !== null && (
                <>
                  ; signed until <Moment at={signedUntil} />
                </>
              )}
            </td>
          </tr>
        );
      })}
    </Rows>
  );
}

type Command = Parameters<typeof ProjectCommand>[0]['text'];

interface Step {
  readonly title: string;
  /** Null: a step by hand. */
  readonly command: Command | null;
}

const rotate =
  'Let a new key sign. The earlier one goes on verifying. The command prints the new API keys: give them to your clients.';
const retire =
  'Remove the earlier key. Access tokens and API keys that it signed are refused from then on. The command refuses while such access tokens can be in use.';

const fileSteps: readonly Step[] = [
  { title: rotate, command: 'pgreflect keys --rotate --jwt-keys keys.json' },
  { title: retire, command: 'pgreflect keys --retire --jwt-keys keys.json' },
];

const steps: Readonly<Record<Exclude<Signing['from'], 'nothing'>, readonly Step[]>> = {
  project: [
    { title: `${rotate} The running project uses them after some seconds.`, command: 'pgreflect keys --rotate' },
    { title: retire, command: 'pgreflect keys --retire' },
  ],
  secret: [
    {
      title:
        'Make a file of the shared secret and of the key that is to sign next. In a shell that has the secret in PGREFLECT_JWT_SECRET:',
      command: 'pgreflect keys --standby --out keys.json',
    },
    {
      title:
        'Set PGREFLECT_JWT_KEYS to its path, and remove PGREFLECT_JWT_SECRET, PGREFLECT_ANON_KEY and PGREFLECT_SERVICE_KEY. Then restart the gateway.',
      command: null,
    },
    ...fileSteps,
  ],
  keys: fileSteps,
};

/** What can be done now. */
function Rotation({
  signing: { from, keys, tokenSeconds },
  isLocal,
}: {
  readonly signing: Signing;
  readonly isLocal: boolean;
}) {
  if (from === 'nothing') return <p className="soft">No key signs here: the tokens are those of another service.</p>;
  const ends = keys.flatMap(({ state, signedUntil }) =>
    state === 'verifies' && signedUntil !== null ? [lastTokenEnds(Date.parse(signedUntil), tokenSeconds)] : [],
  );
  const end = ends.length === 0 ? undefined : Math.max(...ends);
  const hasOld = keys.some(({ state }) => state === 'verifies');
  return (
    <>
      {hasOld && (
        <p>
          {end === undefined ? (
            <>
              Retire the earlier key when access tokens that it signed have expired: they last {tokenSeconds} seconds.
            </>
          ) : end > Date.now() ? (
            <>
              Wait until <Moment at={new Date(end).toISOString()} /> before you retire the earlier key: access tokens
              that it signed can be in use until then.
            </>
          ) : (
            <>Access tokens that the earlier key signed have expired.</>
          )}{' '}
          API keys that it signed are good until you retire it: replace them first.
        </p>
      )}
      <ol className="key-steps">
        {steps[from].map(({ title, command }) => (
          <li key={title}>
            <p className="step">{title}</p>
            {command !== null && <ProjectCommand text={command} />}
          </li>
        ))}
      </ol>
      {from !== 'project' && (
        <p className="soft small">
          {from === 'keys' && <>Put the path of your file of keys in place of keys.json. </>}
          {!isLocal && <>Give each changed file to all gateways.</>}
        </p>
      )}
      <p className="soft small">
        If a key has leaked, do not wait: rotate, then retire with <code>--force</code>. Users get new access tokens
        with their refresh tokens.
      </p>
    </>
  );
}

/** The addresses and public keys of the project: what a client needs, and what verifies its tokens. */
import { CopyButton } from '../../components/copy-button.tsx';
import { Fault } from '../../components/problem.tsx';
import { ProjectCommand } from '../../components/project-command.tsx';
import { Rows } from '../../components/rows.tsx';
import { ask } from '../../shared/api.ts';
import { apiKeys } from '../../shared/keys.ts';
import { useAnswer } from '../../shared/requests.ts';
import { session } from '../../shared/session.ts';
import { useStore } from '../../shared/store.ts';
import { NamedGroup } from './named-group.tsx';

interface PublicKeys {
  readonly keys: readonly { readonly kid?: string; readonly alg?: string; readonly kty?: string }[];
}

const jwksPath = '/auth/v1/.well-known/jwks.json';

/** The section. */
export function ProjectKeys() {
  const { anon, service } = useStore(apiKeys);
  const { value, problem } = useAnswer('jwks', async (signal) => (await ask<PublicKeys>(jwksPath, { signal })).body);
  const facts = [
    { title: 'Project URL', text: location.origin },
    { title: 'GraphQL', text: `${location.origin}/graphql/v1` },
    { title: 'Public keys (JWKS)', text: `${location.origin}${jwksPath}` },
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
      <NamedGroup section="keys" title="Keys that verify tokens">
        <Fault>{problem?.message}</Fault>
        {value?.keys.length === 0 && (
          <p className="soft">
            No public key: tokens are signed and verified with the shared secret <code>--jwt-secret</code>. Give{' '}
            <code>--jwt-keys</code> to let others verify tokens.
          </p>
        )}
        {value !== null && value.keys.length > 0 && (
          <Rows label="Public keys" columns={['Key ID', 'Algorithm', 'Type']}>
            {value.keys.map(({ kid = '', alg = '', kty = '' }) => (
              <tr key={kid}>
                <th scope="row">
                  <code>{kid}</code>
                </th>
                <td>{alg}</td>
                <td>{kty}</td>
              </tr>
            ))}
          </Rows>
        )}
      </NamedGroup>
      <NamedGroup section="keys" title="Rotate the keys">
        <Rotation />
      </NamedGroup>
    </>
  );
}

type Command = Parameters<typeof ProjectCommand>[0]['text'];

interface Step {
  readonly title: string;
  /** Null: a step by hand. */
  readonly command: Command | null;
}

const old =
  'When all clients have the new API keys and access tokens have expired, remove the earlier key. What it has signed is refused from then on.';

const fileSteps: readonly Step[] = [
  {
    title: 'Let a new key sign. The earlier one goes on verifying. The new API keys are printed for your clients.',
    command: 'pgreflect keys --rotate --jwt-keys keys.json',
  },
  { title: old, command: 'pgreflect keys --retire --jwt-keys keys.json' },
];

const steps: Readonly<Record<'local' | 'secret' | 'keys', readonly Step[]>> = {
  local: [
    {
      title:
        'Let a new key sign. The earlier one goes on verifying. The new API keys are printed for your clients, and this project uses them after some seconds.',
      command: 'pgreflect keys --rotate',
    },
    { title: old, command: 'pgreflect keys --retire' },
  ],
  secret: [
    {
      title: 'Make a file of the shared secret and of the key that is to sign next.',
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

/** The steps of the project at hand. */
function Rotation() {
  const now = useStore(session);
  if (now.kind === 'none') return null;
  const { isLocal, signing } = now.project;
  if (signing === 'nothing') return <p className="soft">No key signs here: the tokens are those of another service.</p>;
  const shown = steps[isLocal ? 'local' : signing];
  return (
    <>
      <ol className="key-steps">
        {shown.map(({ title, command }) => (
          <li key={title}>
            <p className="step">{title}</p>
            {command !== null && <ProjectCommand text={command} />}
          </li>
        ))}
      </ol>
      <p className="soft small">
        {!isLocal && (
          <>
            The file of <code>--jwt-keys</code> may have another name than keys.json.{' '}
          </>
        )}
        The guide <cite>Rotate every secret</cite> of the package, docs/rotate-secrets.md, has more: several gateways,
        leaked keys, passwords.
      </p>
    </>
  );
}

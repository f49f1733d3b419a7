/** The addresses and public keys of the project: what a client needs, and what verifies its tokens. */
import { CommandLine } from '../../components/command-line.tsx';
import { CopyButton } from '../../components/copy-button.tsx';
import { Fault } from '../../components/problem.tsx';
import { Rows } from '../../components/rows.tsx';
import { ask } from '../../shared/api.ts';
import { apiKeys } from '../../shared/keys.ts';
import { useAnswer } from '../../shared/requests.ts';
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
        <p className="soft">
          On the server, this command adds a key that signs to the file of <code>--jwt-keys</code>, which the gateway
          reads again, and prints the new API keys for your clients. The earlier keys go on verifying. The guide in
          docs/rotate-secrets.md has the steps, also from a shared secret to such a file.
        </p>
        <CommandLine text="pgreflect keys --rotate --jwt-keys keys.json" />
      </NamedGroup>
    </>
  );
}

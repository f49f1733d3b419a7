/** The notice above GraphiQL if the caller may not read the schema. */
import { CopyButton } from '../../components/copy-button.tsx';

/** @param props.hint A sentence and the SQL that enables it; empty if the server sends none. */
export function IntrospectionOff({ hint }: { readonly hint: string }) {
  const [, sql] = hint.split('Change it with: ');
  return (
    <div className="notice warning spread">
      <span>
        Introspection is off for this role, so documentation and completion are unavailable. Operations still work. To
        turn it on,{' '}
        {sql === undefined ? 'set "introspection": true in the comment directive of the schema.' : <code>{sql}</code>}
      </span>
      {sql !== undefined && <CopyButton text={sql} what="the statement" />}
    </div>
  );
}

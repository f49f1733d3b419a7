/** The addresses that get no emails because one bounced or its reader complained, and how to lift them. */
import { useState } from 'react';
import type { SuppressedAddress } from '../../../../management/deliveries/deliveries.ts';
import { Link } from '../../components/link.tsx';
import { Moment } from '../../components/moment.tsx';
import { Fault } from '../../components/problem.tsx';
import { Rows } from '../../components/rows.tsx';
import { liftSuppressed, listSuppressed } from '../../shared/deliveries.ts';
import { useAnswer, useTask } from '../../shared/requests.ts';

/** The list; nothing without such addresses. */
export function SuppressedList() {
  const { value, problem, readAgain } = useAnswer('suppressed', listSuppressed);
  const { problem: refusal, run } = useTask();
  const [said, setSaid] = useState('');
  const lift = ({ id, recipient }: SuppressedAddress) =>
    run(async () => {
      await liftSuppressed(id);
      setSaid(`${recipient ?? 'The address'} gets emails again.`);
      readAgain();
    });
  return (
    <>
      <div role="status">{said !== '' && <p className="notice good">{said}</p>}</div>
      <Fault>{(refusal ?? problem)?.message}</Fault>
      {value !== null && value.length > 0 && <Table addresses={value} onLift={lift} />}
    </>
  );
}

interface TableProps {
  readonly addresses: readonly SuppressedAddress[];
  readonly onLift: (address: SuppressedAddress) => void;
}

function Table({ addresses, onLift }: TableProps) {
  const head = (
    <>
      <h2>Suppressed addresses</h2>
      <p className="soft small">They get no emails, because one bounced or its reader complained.</p>
    </>
  );
  return (
    <Rows label="Suppressed addresses" head={head} columns={['Address', 'Reason', 'Until']} hasActions>
      {addresses.map((address) => (
        <tr key={address.id}>
          <th scope="row">
            {address.userId === null ? (
              (address.recipient ?? 'not kept')
            ) : (
              <Link to={`users/${address.userId}?tab=emails`}>{address.recipient ?? 'user'}</Link>
            )}
          </th>
          <td>{address.reason}</td>
          <td>
            <Moment at={address.expiresAt} isDay />
          </td>
          <td>
            <button type="button" onClick={() => onLift(address)}>
              Lift <span className="visually-hidden">{address.recipient}</span>
            </button>
          </td>
        </tr>
      ))}
    </Rows>
  );
}

/** A user's panel: what the account is, with everything that belongs to it in tabs. */
import { useState } from 'react';
import { CopyButton } from '../../components/copy-button.tsx';
import { CloseIcon } from '../../components/icons.tsx';
import { Link } from '../../components/link.tsx';
import { Fault, Problem, Waiting } from '../../components/problem.tsx';
import { Tabs } from '../../components/tabs.tsx';
import { useAnswer, useTask } from '../../shared/requests.ts';
import { goTo } from '../../shared/router.ts';
import { readUser } from '../../shared/users.ts';
import { AccountTab } from './account-tab.tsx';
import { AuditTab, EmailsTab } from './activity-tabs.tsx';
import { fullNameOf, nameOf } from './describe-user.ts';
import { MetadataTab } from './metadata-tab.tsx';
import { type ListPlace, placeOf, type UserTab, userTabs } from './place-of.ts';
import { SessionsTab } from './sessions-tab.tsx';
import { SignInTab } from './sign-in-tab.tsx';
import { StateBadge } from './state-badge.tsx';
import type { SayDone } from './user-tab.ts';

interface UserPanelProps {
  readonly id: string;
  readonly place: ListPlace;
  readonly tab: UserTab;
  readonly onDone: SayDone;
}

/** The user of an id. */
export function UserPanel({ id, place, tab, onDone }: UserPanelProps) {
  const { value: user, problem, readAgain } = useAnswer(id, () => readUser(id));
  const task = useTask();
  const [done, setDone] = useState(0);
  if (user === null) {
    const isMissing = problem !== null && problem.status >= 400 && problem.status < 500;
    return (
      <section className="user" aria-label="User">
        <Link className="to-list" to={placeOf(place, null)}>
          All users
        </Link>
        {isMissing ? (
          <Problem title="User not found">{problem.message}</Problem>
        ) : (
          <Waiting what="user" problem={problem} />
        )}
      </section>
    );
  }
  const act = (work: () => Promise<unknown>, sentence: string): Promise<void> =>
    task.run(async () => {
      await work();
      onDone(sentence, id);
      setDone((count) => count + 1);
      readAgain();
    });
  const isChanged = task.problem?.status === 412;
  const props = { user, onAct: act, isBusy: task.isBusy };
  return (
    <section className="user" aria-labelledby="user-name">
      <Link className="to-list" to={placeOf(place, null)}>
        All users
      </Link>
      <header>
        <div className="user-title">
          <h2 id="user-name" title={nameOf(user)}>
            {nameOf(user)}
          </h2>
          <Link
            className="button quiet icon-button user-close"
            to={placeOf(place, null)}
            aria-label="Close"
            title="Close"
          >
            <CloseIcon />
          </Link>
        </div>
        <div className="row">
          <StateBadge user={user} />
          {fullNameOf(user) !== null && <span className="soft user-full-name">{fullNameOf(user)}</span>}
          <Link className="button user-data" to={`data?as=${user.id}`}>
            See data as the user
          </Link>
        </div>
        <div className="user-id">
          <code>{user.id}</code> <CopyButton text={user.id} what="the ID" isIcon />
        </div>
      </header>
      <div className="user-problem">
        <Fault>{(task.problem ?? problem)?.message}</Fault>
        {isChanged && (
          <button type="button" onClick={() => void task.run(async () => readAgain())}>
            Read again
          </button>
        )}
      </div>
      <Tabs
        label="About the user"
        tabs={userTabs}
        chosen={tab}
        onChoose={(name) => goTo(placeOf(place, id, name), { replace: true })}
      >
        <div className="user-tab">
          {tab === 'account' && <AccountTab {...props} onDeleted={(sentence) => onDone(sentence, null)} />}
          {tab === 'sign-in' && <SignInTab {...props} />}
          {tab === 'sessions' && <SessionsTab {...props} done={done} />}
          {tab === 'emails' && <EmailsTab {...props} />}
          {tab === 'audit' && <AuditTab {...props} done={done} />}
          {tab === 'metadata' && <MetadataTab {...props} />}
        </div>
      </Tabs>
    </section>
  );
}

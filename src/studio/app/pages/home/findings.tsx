/** What `pgreflect check` finds, the worst first, each with what to do about it. */
import { useState } from 'react';
import type { CheckReport } from '../../../../management/check-report.ts';
import { Moment } from '../../components/moment.tsx';
import { Statement } from '../../components/statement.tsx';
import type { Answer } from '../../shared/requests.ts';

/** A finding. */
type Finding = CheckReport['findings'][number];

/** So many are shown at first. */
const atFirst = 5;

const weights = { error: 'Error', warning: 'Warning', note: 'Note' } as const;

/** Without what each role may do, which is no finding and stands on the page Access. */
function findingsOf({ findings }: CheckReport): readonly Finding[] {
  return findings.filter(({ check }) => check !== 'role_summary');
}

/** How many there are that are more than notes: `1 error, 2 warnings`; empty for none. */
export function weightsOf({ findings }: CheckReport): string {
  const counts = (['error', 'warning'] as const).map((weight) => {
    const count = findings.filter(({ severity }) => severity === weight).length;
    return count === 0 ? [] : [`${count} ${weight}${count === 1 ? '' : 's'}`];
  });
  return counts.flat().join(', ');
}

/** The findings, or that they are looked for. */
export function Findings({ value, problem }: Pick<Answer<CheckReport>, 'value' | 'problem'>) {
  const [isWhole, setWhole] = useState(false);
  const findings = value === null ? [] : findingsOf(value);
  return (
    <section className="home-card" aria-labelledby="home-findings">
      <h2 id="home-findings">Findings {value !== null && <span className="badge">{findings.length}</span>}</h2>
      {value === null ? (
        <p className="soft">{problem === null ? 'Checking the database …' : problem.message}</p>
      ) : (
        <>
          {findings.length === 0 && (
            <p className="soft">Nothing. Row security, grants, indexes and comments are fine.</p>
          )}
          <ul className="home-findings">
            {(isWhole ? findings : findings.slice(0, atFirst)).map((finding) => (
              <li key={`${finding.check} ${finding.object} ${finding.message}`}>
                <OneFinding finding={finding} />
              </li>
            ))}
          </ul>
          {findings.length > atFirst && (
            <button type="button" className="quiet" aria-expanded={isWhole} onClick={() => setWhole(!isWhole)}>
              {isWhole ? `Show the first ${atFirst}` : `Show all ${findings.length}`}
            </button>
          )}
          <p className="small soft">
            By <code>pgreflect check</code>, <Moment at={value.checkedAt} />
          </p>
        </>
      )}
    </section>
  );
}

function OneFinding({ finding: { severity, message, fix, command } }: { readonly finding: Finding }) {
  const remedy = fix ?? command;
  const sentence = (
    <>
      <span className="badge" data-weight={severity}>
        {weights[severity]}
      </span>{' '}
      {message}
    </>
  );
  if (remedy === null) return <p>{sentence}</p>;
  return (
    <details>
      <summary>{sentence}</summary>
      <Statement text={remedy} />
    </details>
  );
}

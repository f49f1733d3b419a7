/** The saved versions of the configuration: a list, newest first, with the chosen one beside it. */
import type { ReactNode } from 'react';
import type { ConfigVersion } from '../../../management/version-history.ts';
import { Moment } from './moment.tsx';
import './versions.css';

interface VersionsProps {
  readonly versions: readonly ConfigVersion[];
  /** Null: none yet. */
  readonly chosen: number | null;
  readonly onChoose: (version: number) => void;
  /** What is told of a version below its number. */
  readonly say?: (version: ConfigVersion) => ReactNode;
  readonly children: ReactNode;
}

/** The list and what is beside it. */
export function Versions({ versions, chosen, onChoose, say, children }: VersionsProps) {
  return (
    <div className="versions">
      <ol aria-label="Versions, newest first">
        {versions.map((each) => (
          <li key={each.version}>
            <button type="button" aria-pressed={each.version === chosen} onClick={() => onChoose(each.version)}>
              <strong>Version {each.version}</strong>
              <span className="soft small">
                <Moment at={each.updatedAt} />, {each.updatedBy}
              </span>
              {say !== undefined && <span className="soft small">{say(each)}</span>}
            </button>
          </li>
        ))}
      </ol>
      {children}
    </div>
  );
}

/** What the parts of the page Users tell each other. */
import type { StudioUser } from '../../shared/users.ts';

/** @param next The user to show next; null: none. */
export type SayDone = (sentence: string, next: string | null) => void;

/** What of the address the form of a tab belongs to. */
export const tabTies = ['tab'];

/** What every tab gets. */
export interface UserTabProps {
  readonly user: StudioUser;
  /** Does something, says the sentence, and reads the user again. */
  readonly onAct: (work: () => Promise<unknown>, sentence: string) => Promise<void>;
  readonly isBusy: boolean;
}

/** A menu of actions behind a button. */
import { Menu as Base } from '@base-ui/react/menu';
import './menu.css';

/** An action. */
interface MenuAction {
  readonly title: string;
  readonly run: () => void;
  readonly isDisabled?: boolean;
}

interface MenuProps {
  readonly label: string;
  /** What it concerns, for those who do not see where it stands. */
  readonly what?: string;
  /** In groups, with a line between them. */
  readonly groups: readonly (readonly MenuAction[])[];
}

/** The button and its menu. */
export function Menu({ label, what, groups }: MenuProps) {
  return (
    <Base.Root>
      <Base.Trigger>
        {label}
        {what !== undefined && <span className="visually-hidden"> {what}</span>}
      </Base.Trigger>
      <Base.Portal>
        <Base.Positioner className="menu-place" sideOffset={4} align="end">
          <Base.Popup className="menu-popup">
            {groups.map((actions, index) => (
              <Base.Group key={actions[0]?.title ?? index}>
                {actions.map(({ title, run, isDisabled = false }) => (
                  <Base.Item key={title} disabled={isDisabled} onClick={run}>
                    {title}
                  </Base.Item>
                ))}
              </Base.Group>
            ))}
          </Base.Popup>
        </Base.Positioner>
      </Base.Portal>
    </Base.Root>
  );
}

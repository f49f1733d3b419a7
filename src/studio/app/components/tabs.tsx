/** Tabs between views of the same thing; arrow keys move between them. */
import { Tabs as Base } from '@base-ui/react/tabs';
import { type ReactNode, useRef } from 'react';

/** A view. */
export interface Tab<T extends string> {
  readonly name: T;
  readonly title: string;
  /** Shown to a pointer that rests on it. */
  readonly hint?: string;
}

interface TabsProps<T extends string> {
  readonly label: string;
  readonly tabs: readonly Tab<T>[];
  readonly chosen: T;
  readonly onChoose: (name: T) => void;
  readonly children: ReactNode;
  readonly end?: ReactNode;
}

/** The tabs above the view. */
export function Tabs<T extends string>({ label, tabs, chosen, onChoose, children, end }: TabsProps<T>) {
  // A click focuses the tab first: whoever does not let go of what they typed would be asked twice.
  const isPressed = useRef(false);
  return (
    <Base.Root
      className="tab-root"
      value={chosen}
      onValueChange={(name: T, { event }) => (isPressed.current && event.type !== 'click') || onChoose(name)}
    >
      <div className="tab-bar">
        <Base.List
          className="tabs"
          aria-label={label}
          activateOnFocus
          onPointerDown={() => {
            isPressed.current = true;
          }}
          onClick={() => {
            isPressed.current = false;
          }}
        >
          {tabs.map(({ name, title, hint }) => (
            <Base.Tab key={name} value={name} title={hint}>
              {title}
            </Base.Tab>
          ))}
        </Base.List>
        {end}
      </div>
      {/* One panel, so that what is in it keeps its state. */}
      <Base.Panel className="tab-panel" value={chosen} key="panel">
        {children}
      </Base.Panel>
    </Base.Root>
  );
}

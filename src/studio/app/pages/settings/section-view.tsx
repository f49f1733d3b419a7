/** The groups of a section with their fields, or those that a search finds. */
import { useRef, useState } from 'react';
import { Link } from '../../components/link.tsx';
import { Empty } from '../../components/problem.tsx';
import { goTo, usePlace } from '../../shared/router.ts';
import { useStore } from '../../shared/store.ts';
import { NamedGroup, useGroup } from './named-group.tsx';
import { groupAddress } from './place-of.ts';
import { type FieldPlace, fieldPlaces, type SettingsGroup, type SettingsSection } from './sections.ts';
import { SettingRow } from './setting-row.tsx';
import { settingsTasks } from './settings-commands.ts';
import { changes, problems, type StoredSettings, shownValue } from './settings-state.ts';

interface SectionViewProps {
  readonly section: SettingsSection;
  readonly stored: StoredSettings;
}

/** The section. */
export function SectionView({ section, stored }: SectionViewProps) {
  return (
    <>
      {section.path === 'emails' && (
        <p className="soft">
          Subjects and texts are on the page <Link to="emails">Emails</Link>.
        </p>
      )}
      {section.groups.map((group) =>
        group.card === undefined ? (
          <NamedGroup key={group.title} section={section.path} title={group.title}>
            <Fields group={group} stored={stored} />
          </NamedGroup>
        ) : (
          <Card key={group.title} section={section.path} group={group} stored={stored} />
        ),
      )}
    </>
  );
}

interface GroupProps {
  readonly group: SettingsGroup;
  readonly stored: StoredSettings;
}

function Fields({ group, stored }: GroupProps) {
  return group.fields.map((field) => <SettingRow key={field.name} setting={field} stored={stored} />);
}

/** Opens by itself where its address or a field of it is wanted, and for a field that is changed or wrong. */
function Card({ section, group, stored }: GroupProps & { readonly section: string }) {
  const { ref, address, isWanted } = useGroup<HTMLDetailsElement>(section, group.title);
  const { enabledBy } = group.card ?? { enabledBy: null };
  const wanted = usePlace().query.get('field');
  const unsaved = useStore(changes);
  const told = useStore(problems);
  const isNeeded = group.fields.some(({ name }) => name === wanted || name in unsaved || name in told);
  const [isOpen, setOpen] = useState(false);
  // It may also open by itself, which is no reason for another address.
  const wasClicked = useRef(false);
  const isOn = enabledBy !== null && shownValue(stored, unsaved[enabledBy], enabledBy) === true;
  const count = group.fields.filter(({ name }) => stored.fields.get(name)?.origin !== 'default').length;
  return (
    <details
      ref={ref}
      className="setting-group"
      open={isOpen || isNeeded || isWanted}
      onToggle={({ currentTarget: { open } }) => {
        setOpen(open);
        if (wasClicked.current && (open || isWanted)) goTo(open ? address : `settings/${section}`, { replace: true });
        wasClicked.current = false;
      }}
    >
      {/* biome-ignore lint/a11y/noStaticElementInteractions: a summary is a button */}
      <summary
        onClick={() => {
          wasClicked.current = true;
        }}
      >
        <span className="spread">
          <span>{group.title}</span>
          {enabledBy !== null && <span className={isOn ? 'badge on' : 'badge'}>{isOn ? 'On' : 'Off'}</span>}
          {enabledBy === null && count > 0 && <span className="badge">{count} set</span>}
        </span>
      </summary>
      <Fields group={group} stored={stored} />
    </details>
  );
}

/** What a search finds in names, labels and help, else in titles of sections; and what is done on the page beside fields. */
export function FoundSettings({ wanted, stored }: { readonly wanted: string; readonly stored: StoredSettings }) {
  const words = wanted.toLowerCase().split(/\s+/);
  const has = (text: string): boolean => words.every((word) => text.toLowerCase().includes(word));
  const tasks = settingsTasks.filter((task) => has(`${task.title} ${task.words}`));
  const places = [...fieldPlaces.values()];
  const ownText = ({ field: { name, label } }: FieldPlace) =>
    `${name} ${label} ${stored.fields.get(name)?.description ?? ''}`;
  const own = places.filter((place) => has(ownText(place)));
  // The words of a title are those of all its fields.
  const inTitles = (place: FieldPlace) => has(`${ownText(place)} ${place.section.title} ${place.group.title}`);
  const found = own.length > 0 ? own : places.filter(inTitles);
  if (found.length + tasks.length === 0) {
    return (
      <Empty title="No setting has these words">
        <p>Search for a name, a label or a word of the help.</p>
      </Empty>
    );
  }
  const byGroup = Map.groupBy(found, ({ group }) => group);
  return (
    <>
      {[...Map.groupBy(tasks, ({ section }) => section)].map(([section, those]) => (
        <section key={section} className="setting-group" aria-label={section}>
          <h2>{section}</h2>
          {those.map(({ title, address }) => (
            <p key={title} className="setting">
              <Link to={address}>{title}</Link>
            </p>
          ))}
        </section>
      ))}
      {[...byGroup.values()].map((places) => (
        <FoundGroup key={titleOf(places)} places={places} stored={stored} />
      ))}
    </>
  );
}

interface FoundGroupProps extends Pick<GroupProps, 'stored'> {
  readonly places: readonly FieldPlace[];
}

function FoundGroup({ places, stored }: FoundGroupProps) {
  const [first] = places;
  return (
    <section className="setting-group" aria-label={titleOf(places)}>
      <h2>
        <Link to={first === undefined ? 'settings' : groupAddress(first.section.path, first.group.title)}>
          {titleOf(places)}
        </Link>
      </h2>
      {places.map(({ field }) => (
        <SettingRow key={field.name} setting={field} stored={stored} />
      ))}
    </section>
  );
}

function titleOf([first]: readonly FieldPlace[]): string {
  return first === undefined ? '' : `${first.section.title}: ${first.group.title}`;
}

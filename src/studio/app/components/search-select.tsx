/** A field that finds one of many on the server while one types, and chooses it from a list. */
import { Combobox } from '@base-ui/react/combobox';
import { useState } from 'react';
import { useAnswer } from '../shared/requests.ts';
import { useRested } from '../shared/rested.ts';
import './search-select.css';

/** So many are listed. */
export const listedAtMost = 20;

interface SearchSelectProps<Item> {
  readonly label: string;
  readonly placeholder: string;
  /** What is said if nothing is found. */
  readonly nothing: string;
  /** Null: none. */
  readonly chosen: Item | null;
  readonly keyOf: (item: Item) => string;
  readonly titleOf: (item: Item) => string;
  /** @param text Empty: the first ones. @throws ApiError */
  readonly find: (text: string, signal: AbortSignal) => Promise<readonly Item[]>;
  readonly onChoose: (item: Item) => void;
}

/** The field. */
export function SearchSelect<Item>(props: SearchSelectProps<Item>) {
  const { label, placeholder, nothing, chosen, keyOf, titleOf, find, onChoose } = props;
  const [isOpen, setOpen] = useState(false);
  const [text, setText] = useState('');
  const search = useRested(text.trim());
  // The text of what is chosen is no search.
  const wanted = chosen !== null && search === titleOf(chosen) ? '' : search;
  const { value: found, problem } = useAnswer(isOpen ? `found ${wanted}` : null, async (signal) => ({
    wanted,
    items: await find(wanted, signal),
  }));
  const items = found?.items ?? [];
  const isSearching = text.trim() !== search || found === null || found.wanted !== wanted;
  const status = problem?.message ?? (isSearching ? 'Searching …' : items.length === 0 ? nothing : null);
  return (
    <Combobox.Root
      items={items}
      filter={null}
      value={chosen}
      open={isOpen}
      onOpenChange={setOpen}
      onInputValueChange={setText}
      itemToStringLabel={titleOf}
      isItemEqualToValue={(one: Item, other: Item) => keyOf(one) === keyOf(other)}
      onValueChange={(item: Item | null) => item !== null && onChoose(item)}
    >
      <Combobox.Input className="search-select" aria-label={label} placeholder={placeholder} spellCheck={false} />
      <Combobox.Portal>
        <Combobox.Positioner className="search-select-place" sideOffset={4} align="start">
          <Combobox.Popup className="search-select-popup">
            <Combobox.Status className="search-select-status">{status}</Combobox.Status>
            <Combobox.List className="search-select-list">
              {(item: Item) => (
                <Combobox.Item key={keyOf(item)} value={item} className="search-select-item" title={titleOf(item)}>
                  {titleOf(item)}
                </Combobox.Item>
              )}
            </Combobox.List>
          </Combobox.Popup>
        </Combobox.Positioner>
      </Combobox.Portal>
    </Combobox.Root>
  );
}

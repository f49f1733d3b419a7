/** A choice between a few options, side by side. */
import { useId } from 'react';

interface ChoiceProps<T extends string> {
  readonly label: string;
  readonly options: readonly { readonly name: T; readonly title: string; readonly isDisabled?: boolean }[];
  readonly chosen: string;
  readonly onChoose: (name: T) => void;
}

/** The choice. */
export function Choice<T extends string>({ label, options, chosen, onChoose }: ChoiceProps<T>) {
  const group = useId();
  return (
    <fieldset className="segments">
      <legend className="visually-hidden">{label}</legend>
      {options.map(({ name, title, isDisabled = false }) => (
        <label key={name}>
          <input
            type="radio"
            name={group}
            checked={name === chosen}
            disabled={isDisabled}
            onChange={() => onChoose(name)}
          />
          <span>{title}</span>
        </label>
      ))}
    </fieldset>
  );
}

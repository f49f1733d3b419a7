/** A choice between a few options, side by side. */
import { Radio } from '@base-ui/react/radio';
import { RadioGroup } from '@base-ui/react/radio-group';
import './choice.css';

interface ChoiceProps<T extends string> {
  readonly label: string;
  readonly options: readonly { readonly name: T; readonly title: string; readonly isDisabled?: boolean }[];
  readonly chosen: string;
  readonly onChoose: (name: T) => void;
}

/** The choice. */
export function Choice<T extends string>({ label, options, chosen, onChoose }: ChoiceProps<T>) {
  return (
    <RadioGroup className="segments" aria-label={label} value={chosen} onValueChange={(name) => onChoose(name as T)}>
      {options.map(({ name, title, isDisabled = false }) => (
        <Radio.Root key={name} value={name} disabled={isDisabled} aria-label={title}>
          {title}
        </Radio.Root>
      ))}
    </RadioGroup>
  );
}

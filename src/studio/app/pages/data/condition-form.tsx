/** Makes a condition: a column of the table or of related rows, an operator that its filter has, and a value. */
import { useState } from 'react';
import { type RoleTable, type TableColumn, useRoleTable } from '../../shared/role-schema.ts';
import { valuesOf } from './cell.tsx';
import { operatorsOf, operatorWords, takesList, textOfOperand, writeOperand } from './conditions.ts';
import type { Condition } from './data-place.ts';

interface ConditionFormProps {
  readonly table: RoleTable;
  /** Null: a new one. */
  readonly start: Condition | null;
  readonly onDone: (condition: Condition) => void;
  readonly onCancel: () => void;
}

const quantifiers = { some: 'some', none: 'none', every: 'all' } as const;

const filtered = (table: RoleTable | null): readonly TableColumn[] =>
  (table?.columns ?? []).filter((column) => operatorsOf(column).length > 0);

/** The form. */
export function ConditionForm({ table, start, onDone, onCancel }: ConditionFormProps) {
  const path = start?.path.split('.') ?? [];
  const [first, setFirst] = useState(path[0] ?? filtered(table)[0]?.name ?? '');
  const [quantifier, setQuantifier] = useState(path.length > 2 ? path[1]! : 'some');
  const [second, setSecond] = useState(path.length > 1 ? path.at(-1)! : '');
  const [operator, setOperator] = useState(start?.operator ?? '');
  const [value, setValue] = useState(start === null ? '' : textOfOperand(start.value));
  const link = table.relationships.find(({ name, isFiltered }) => isFiltered && name === first) ?? null;
  const { value: related } = useRoleTable(table.role, link?.target ?? null);
  const owner = link === null ? table : related;
  const columns = filtered(owner);
  const column = columns.find(({ name }) => name === (link === null ? first : second)) ?? columns[0];
  const operators = column === undefined ? [] : operatorsOf(column);
  const chosen = operators.find(({ name }) => name === operator) ?? operators[0];
  const isReady = column !== undefined && chosen !== undefined;
  const submit = (): void => {
    if (!isReady) return;
    const names = link === null ? [column.name] : [link.name, ...(link.isList ? [quantifier] : []), column.name];
    const text = value === '' ? (choicesOf(owner!, column, chosen.name)?.[0] ?? '') : value;
    const type = chosen.type === 'JSON' && !owner!.jsonValues ? 'String' : chosen.type;
    onDone({ path: names.join('.'), operator: chosen.name, value: writeOperand(text, type) });
  };
  return (
    <form
      className="row condition-form"
      onSubmit={(event) => {
        event.preventDefault();
        submit();
      }}
      onKeyDown={({ key }) => key === 'Escape' && onCancel()}
    >
      <select
        aria-label="Column"
        value={first}
        // biome-ignore lint/a11y/noAutofocus: the form has just been asked for
        autoFocus
        onChange={({ target }) => {
          setFirst(target.value);
          setValue('');
        }}
      >
        {filtered(table).map(({ name }) => (
          <option key={name}>{name}</option>
        ))}
        <optgroup label="Related rows">
          {table.relationships
            .filter(({ isFiltered }) => isFiltered)
            .map(({ name }) => (
              <option key={name}>{name}</option>
            ))}
        </optgroup>
      </select>
      {link?.isList && (
        <select
          aria-label="Of the related rows"
          value={quantifier}
          onChange={({ target }) => setQuantifier(target.value)}
        >
          {Object.entries(quantifiers).map(([name, words]) => (
            <option key={name} value={name}>
              {words}
            </option>
          ))}
        </select>
      )}
      {link !== null && (
        <select
          aria-label="Column of the related rows"
          value={column?.name ?? ''}
          onChange={({ target }) => setSecond(target.value)}
        >
          {columns.map(({ name }) => (
            <option key={name}>{name}</option>
          ))}
        </select>
      )}
      <select aria-label="Operator" value={chosen?.name ?? ''} onChange={({ target }) => setOperator(target.value)}>
        {operators.map(({ name }) => (
          <option key={name} value={name}>
            {operatorWords[name]}
          </option>
        ))}
      </select>
      {isReady && <Operand table={owner!} column={column} operator={chosen} value={value} onChange={setValue} />}
      <button type="submit" className="primary" disabled={!isReady}>
        Apply
      </button>
      <button type="button" className="quiet" onClick={onCancel}>
        Cancel
      </button>
    </form>
  );
}

/** The values to choose from; null: any text. */
function choicesOf(table: RoleTable, { type }: TableColumn, operator: string): readonly string[] | null {
  if (operator === 'is') return ['NULL', 'NOT_NULL'];
  if (operator === 'in') return null;
  return type.startsWith('Boolean') ? ['true', 'false'] : type.startsWith('[') ? null : valuesOf(table, type);
}

interface OperandProps {
  readonly table: RoleTable;
  readonly column: TableColumn;
  readonly operator: { readonly name: string; readonly type: string };
  readonly value: string;
  readonly onChange: (value: string) => void;
}

function Operand({ table, column, operator, value, onChange }: OperandProps) {
  const choices = choicesOf(table, column, operator.name);
  if (choices !== null) {
    const words: Readonly<Record<string, string>> = { NULL: 'yes', NOT_NULL: 'no' };
    return (
      <select
        aria-label="Value"
        value={value === '' ? choices[0] : value}
        onChange={({ target }) => onChange(target.value)}
      >
        {choices.map((choice) => (
          <option key={choice} value={choice}>
            {words[choice] ?? choice}
          </option>
        ))}
      </select>
    );
  }
  return (
    <input
      aria-label="Value"
      value={value}
      placeholder={takesList(operator.type) ? 'one, two, three' : operator.type}
      spellCheck={false}
      autoComplete="off"
      onChange={({ target }) => onChange(target.value)}
    />
  );
}

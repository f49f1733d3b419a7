/** Finds the row that a foreign key refers to, by its key and by the texts that the caller reads of it. */
import { useState } from 'react';
import { listedAtMost, SearchSelect } from '../../components/search-select.tsx';
import type { Caller } from '../../shared/caller.ts';
import { runAs } from '../../shared/graphql.ts';
import { type RoleTable, readRoleTable, type TableColumn, type TableLink } from '../../shared/role-schema.ts';
import { rowText, typeName } from './cell.tsx';
import { type FieldText, toFieldText } from './field-text.ts';
import { pageOperation } from './read-operations.ts';
import { keyOf, operandOf, type Row } from './row-key.ts';
import type { RowPage } from './use-rows.ts';

interface RowSelectProps {
  readonly table: RoleTable;
  readonly link: TableLink;
  readonly caller: Caller;
  /** What stands in the field of a column. */
  readonly textOf: (column: TableColumn) => FieldText | undefined;
  readonly onType: (name: string, text: FieldText) => void;
}

interface FoundRow {
  readonly key: string;
  readonly title: string;
  readonly row: Row;
}

/** The field. */
export function RowSelect({ table: { role, columns }, link, caller, textOf, onType }: RowSelectProps) {
  const { name, target, pairs } = link;
  const [chosen, setChosen] = useState<FoundRow | null>(null);
  const valuesOf = ({ row }: FoundRow) =>
    pairs.flatMap(({ local, foreign }) =>
      columns.flatMap((column) =>
        column.name === local ? [{ column, text: toFieldText(row[foreign], column.type) }] : [],
      ),
    );
  // Somebody may have typed another value since.
  const isKept = chosen !== null && valuesOf(chosen).every(({ column, text }) => textOf(column) === text);
  return (
    <SearchSelect
      label={`Find ${name}`}
      placeholder={`Find ${target}`}
      nothing={`No ${target} found.`}
      chosen={isKept ? chosen : null}
      keyOf={({ key }) => key}
      titleOf={({ title }) => title}
      find={async (text, signal) => {
        const table = await readRoleTable(role, target, signal);
        const filter = text === '' ? undefined : filterOf(table, text);
        if (filter === null) return [];
        const first = Math.min(listedAtMost, table.maxRows);
        const operation = pageOperation(table, { order: null, filter: [] }, { first, ...(filter && { filter }) });
        const data = await runAs<Readonly<Record<string, RowPage>>>(caller, operation, signal);
        return data[table.collection ?? '']!.edges.map(({ node }) => describe(table, node));
      }}
      onChoose={(found) => {
        setChosen(found);
        for (const { column, text } of valuesOf(found)) onType(column.name, text);
      }}
    />
  );
}

/** Null: no column can have the text. */
function filterOf({ columns }: RoleTable, text: string): Row | null {
  const pattern = `%${text.replace(/[\\%_]/g, '\\$&')}%`;
  const filters = columns.flatMap(({ name, type, isRead, isKey, operators }): readonly Row[] => {
    const has = (operator: string) => operators.some((each) => each.name === operator);
    if (isRead && has('ilike')) return [{ [name]: { ilike: pattern } }];
    return isKey && has('eq') && keyForms[typeName(type)]?.test(text)
      ? [{ [name]: { eq: operandOf(text, type) } }]
      : [];
  });
  return filters.length === 0 ? null : { or: filters };
}

/** Texts that the API reads as keys of a type. */
const keyForms: Readonly<Record<string, RegExp>> = {
  Int: /^-?\d{1,9}$/,
  BigInt: /^-?\d{1,18}$/,
  UUID: /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i,
};

/** The key with the texts of the row, or with whatever it has. */
function describe(table: RoleTable, row: Row): FoundRow {
  const key = keyOf(table, row);
  const isText = ({ operators }: TableColumn) => operators.some(({ name }) => name === 'ilike');
  const hasText = table.columns.some(isText);
  const left = table.columns.filter((column) => column.isKey || (hasText && !isText(column))).map(({ name }) => name);
  return {
    key,
    row,
    title: [decodeURIComponent(key), rowText(table, row, left)].filter((text) => text !== '').join(' · '),
  };
}

/** Values as the text of a form's field, and back. */
import type { RoleTable, TableColumn } from '../../shared/role-schema.ts';
import { typeName, valuesOf } from './cell.tsx';
import { operandOf } from './row-key.ts';

/** Text in a field; null is the value null. */
export type FieldText = string | null;

/** Whether the field holds JSON: of a list, too, which is written as `["a", "b"]`. */
export function isJsonField(type: string): boolean {
  return type.startsWith('[') || typeName(type) === 'JSON';
}

/** The values of a type that has few; null for others. */
export function choicesOf(table: RoleTable, type: string): readonly string[] | null {
  if (type.startsWith('[')) return null;
  return typeName(type) === 'Boolean' ? ['true', 'false'] : valuesOf(table, type);
}

/** The text of a field after a key in the cell: the key in place of what was there, or the first choice that begins so. */
export function textOfKey(table: RoleTable, { type }: TableColumn, key: string): FieldText | undefined {
  const choices = choicesOf(table, type);
  return choices === null ? key : choices.find((choice) => choice.toLowerCase().startsWith(key.toLowerCase()));
}

/** A value as text. */
export function toFieldText(value: unknown, type: string): FieldText {
  if (value === null || value === undefined) return null;
  if (type.startsWith('[')) return JSON.stringify(value);
  if (typeName(type) !== 'JSON') return String(value);
  // JSON that travels as text is shown as it is.
  return typeof value === 'string' ? value : JSON.stringify(value, null, 2);
}

/** What is wrong with the text, to be said below the field; null: nothing. */
export function faultOf(text: FieldText, type: string): string | null {
  if (text === null) return null;
  if (isJsonField(type)) {
    try {
      const value: unknown = JSON.parse(text);
      return type.startsWith('[') && !Array.isArray(value) ? 'Write a list in brackets: ["a", "b"].' : null;
    } catch (error) {
      return `This is not JSON: ${(error as Error).message}`;
    }
  }
  if (/^(Int|Float)\b/.test(type) && (text.trim() === '' || Number.isNaN(Number(text)))) return 'Write a number.';
  return null;
}

/** The value of a text without fault, for an input. @param jsonValues JSON travels as values. */
export function toValue(text: FieldText, { type }: Pick<TableColumn, 'type'>, jsonValues: boolean): unknown {
  if (text === null) return null;
  if (type.startsWith('[')) return JSON.parse(text);
  if (typeName(type) === 'JSON') return jsonValues ? JSON.parse(text) : text;
  return operandOf(text, type);
}

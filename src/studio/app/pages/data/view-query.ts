/** The present view as an operation that stands for itself: its values are in the text. */
import type { RoleTable } from '../../shared/role-schema.ts';
import { takesList } from './conditions.ts';
import type { Condition } from './data-place.ts';
import { directionOf, selectionOf, type View } from './read-operations.ts';

/** The operation. */
export function viewQuery(table: RoleTable, { order, filter }: View): string {
  const conditions = filter.map(printCondition);
  const given = [
    `first: ${Math.min(100, table.maxRows)}`,
    ...(conditions.length > 1
      ? [`filter: {and: [${conditions.join(', ')}]}`]
      : conditions.map((one) => `filter: ${one}`)),
    ...(order === null ? [] : [`orderBy: [{${order.column}: ${directionOf(order)}}]`]),
  ];
  return `query ${table.name}Rows {
  ${table.collection}(${given.join(', ')}) {
    edges {
      node {
        ${selectionOf(table).replaceAll(' ', '\n        ')}
      }
    }
    pageInfo {
      hasNextPage
      endCursor
    }
  }
}`;
}

function printCondition({ path, operator, value }: Condition): string {
  const at = value.indexOf(':');
  const [type, text] = [value.slice(0, at), value.slice(at + 1)];
  const sent = operator === 'ilike' && !/[%_]/.test(text) ? `%${text}%` : text;
  const operand = takesList(type)
    ? `[${text
        .split(',')
        .map((part) => literal(part.trim(), type.slice(1, -1)))
        .join(', ')}]`
    : literal(sent, type);
  return path.split('.').reduceRight((inner, name) => `{${name}: ${inner}}`, `{${operator}: ${operand}}`);
}

const texts = ['String', 'ID', 'UUID', 'BigInt', 'BigFloat', 'Date', 'Time', 'Datetime', 'Opaque'];

/** A literal of the type: enum values and numbers stand without quotes. Others may have written the address: no text is more than a value. */
function literal(text: string, type: string): string {
  if (type === 'JSON') return ofJson(text);
  return texts.includes(type) || !/^-?[\w.+-]+$/.test(text) ? JSON.stringify(text) : text;
}

function ofJson(text: string): string {
  const print = (value: unknown): string => {
    if (Array.isArray(value)) return `[${value.map(print).join(', ')}]`;
    if (typeof value !== 'object' || value === null) return JSON.stringify(value);
    if (Object.keys(value).some((name) => !/^[_A-Za-z]\w*$/.test(name))) throw new SyntaxError('not a GraphQL value');
    return `{${Object.entries(value)
      .map(([name, inner]) => `${name}: ${print(inner)}`)
      .join(', ')}}`;
  };
  try {
    return print(JSON.parse(text));
  } catch {
    return JSON.stringify(text);
  }
}

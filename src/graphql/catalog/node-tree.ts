/**
 * Parses the stored query of a view (`pg_node_tree`, see outfuncs.c and read.c of PostgreSQL): nodes in braces with
 * their fields, lists in parentheses, and words.
 */

/** A node by field name, with its type under `''`; a list; one word, or several with blanks between them. */
export type TreeValue = string | readonly TreeValue[] | TreeNode;

/** A node of the tree. */
export interface TreeNode {
  readonly [field: string]: TreeValue;
}

/** Parses such a text. Unknown fields keep their words, so that versions may differ. */
export function readNodeTree(text: string): TreeValue {
  return readValue((text.match(word) ?? []).reverse());
}

/** The nodes of a list field; none if it is empty. */
export function nodesOf(value: TreeValue | undefined): readonly TreeNode[] {
  return Array.isArray(value) ? value.filter(isNode) : [];
}

/** Whether it is a node. */
export function isNode(value: TreeValue | undefined): value is TreeNode {
  return typeof value === 'object' && !Array.isArray(value);
}

/** A bracket, or characters without blanks; a backslash escapes the next one. */
const word = /[(){}]|(?:\\[\s\S]|[^\s(){}\\])+/g;

/** The last word is the next one. */
type Words = string[];

function readValue(words: Words): TreeValue {
  if (words.at(-1) === '{') return readNode(words);
  if (words.at(-1) === '(') return readList(words);
  return words.pop() ?? '';
}

function readList(words: Words): readonly TreeValue[] {
  words.pop();
  const values: TreeValue[] = [];
  while (words.at(-1) !== undefined && words.at(-1) !== ')') values.push(readValue(words));
  words.pop();
  return values;
}

function readNode(words: Words): TreeNode {
  words.pop();
  const fields: Record<string, TreeValue> = { '': words.pop() ?? '' };
  while (words.at(-1) !== undefined && words.at(-1) !== '}') {
    const field = words.pop()!;
    const values: TreeValue[] = [];
    while (words.at(-1) !== undefined && words.at(-1) !== '}' && !words.at(-1)!.startsWith(':'))
      values.push(readValue(words));
    const [only] = values;
    if (field.startsWith(':')) fields[field.slice(1)] = values.length === 1 ? only! : values.join(' ');
  }
  words.pop();
  return fields;
}

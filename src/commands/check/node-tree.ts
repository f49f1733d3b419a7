/**
 * Reads the text in which PostgreSQL stores the query of a view (`pg_node_tree`, outfuncs.c and read.c of its source): nodes in
 * braces with their fields, lists in parentheses, and words.
 */

/** A node by the names of its fields, with its type under `''`; a list; a word, or several with blanks between them. */
export type TreeValue = string | readonly TreeValue[] | TreeNode;

/** A node of the tree. */
export interface TreeNode {
  readonly [field: string]: TreeValue;
}

/** The value of such a text. Fields that it does not know keep their words, so that versions may differ. */
export function readNodeTree(text: string): TreeValue {
  return readValue(new Words(text));
}

/** The nodes of a field that has a list of them; none where it is empty. */
export function nodesOf(value: TreeValue | undefined): readonly TreeNode[] {
  return Array.isArray(value) ? value.filter(isNode) : [];
}

/** Whether it is a node. */
export function isNode(value: TreeValue | undefined): value is TreeNode {
  return typeof value === 'object' && !Array.isArray(value);
}

/** A bracket, or characters without blanks; a backslash takes the next one with it. */
const word = /[(){}]|(?:\\[\s\S]|[^\s(){}\\])+/g;

class Words {
  readonly #words: readonly string[];
  #at = 0;

  constructor(text: string) {
    this.#words = text.match(word) ?? [];
  }

  get next(): string | undefined {
    return this.#words[this.#at];
  }

  take(): string | undefined {
    this.#at += 1;
    return this.#words[this.#at - 1];
  }
}

function readValue(words: Words): TreeValue {
  if (words.next === '{') return readNode(words);
  if (words.next === '(') return readList(words);
  return words.take() ?? '';
}

function readList(words: Words): readonly TreeValue[] {
  words.take();
  const values: TreeValue[] = [];
  while (words.next !== undefined && words.next !== ')') values.push(readValue(words));
  words.take();
  return values;
}

function readNode(words: Words): TreeNode {
  words.take();
  const fields: Record<string, TreeValue> = { '': words.take() ?? '' };
  while (words.next !== undefined && words.next !== '}') {
    const field = words.take()!;
    const values: TreeValue[] = [];
    while (words.next !== undefined && words.next !== '}' && !words.next.startsWith(':')) values.push(readValue(words));
    const [only] = values;
    if (field.startsWith(':')) fields[field.slice(1)] = values.length === 1 ? only! : values.join(' ');
  }
  words.take();
  return fields;
}

/** A list that several browsers share: one subscription shows it, and nothing is fetched again after a change. */
const url = `${settings.apiUrl.replace(/^http/, 'ws')}/graphql/v1`;
const client = graphqlWs.createClient({
  url,
  connectionParams: { apikey: settings.anonKey },
  // After a lost connection it subscribes again, for as long as the page is open.
  retryAttempts: Number.POSITIVE_INFINITY,
  on: { connected: () => say('Live'), closed: () => say('Connecting') },
});
const [status, add, list, clear] = ['status', 'add', 'list', 'clear'].map((id) => document.getElementById(id));

add.addEventListener('submit', (event) => {
  event.preventDefault();
  const title = new FormData(add).get('title');
  add.reset();
  write('mutation ($title: String!) { insertIntoTodoCollection(objects: [{ title: $title }]) { affectedCount } }', {
    title,
  });
});
clear.addEventListener('click', () =>
  write('mutation { deleteFromTodoCollection(filter: { done: { eq: true } }, atMost: 100) { affectedCount } }'),
);

const todos = 'subscription Todos { todoCollection(orderBy: [{ id: AscNullsLast }]) { nodes { id title done } } }';
for await (const { data, errors } of client.iterate({ query: todos })) {
  if (errors) say(errors[0].message);
  else list.replaceChildren(...data.todoCollection.nodes.map(entry));
}

function entry({ id, title, done }) {
  const box = Object.assign(document.createElement('input'), { type: 'checkbox', checked: done });
  box.addEventListener('change', () =>
    write('mutation ($id: BigInt!, $done: Boolean!) { updateTodoByPk(id: $id, set: { done: $done }) { id } }', {
      id,
      done: box.checked,
    }),
  );
  const label = document.createElement('label');
  label.append(box, ` ${title}`);
  const item = document.createElement('li');
  item.append(label);
  return item;
}

/** The change comes back as an event of the subscription. Not by graphql-ws, which repeats what a lost connection left unanswered. */
async function write(query, variables) {
  const headers = { apikey: settings.anonKey, 'content-type': 'application/json' };
  const body = JSON.stringify({ query, variables });
  const response = await fetch(`${settings.apiUrl}/graphql/v1`, { method: 'POST', headers, body });
  const { errors } = await response.json();
  if (errors) say(errors[0].message);
}

function say(text) {
  status.textContent = text;
}

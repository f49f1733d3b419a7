/** Signs in by a link in an email, keeps notes and shows them: the API gives out those of the signed-in user alone. */
const client = supabase.createClient(settings.apiUrl, settings.anonKey);
const [status, signIn, write, notes] = ['status', 'sign-in', 'write', 'notes'].map((id) => document.getElementById(id));

signIn.addEventListener('submit', async (event) => {
  event.preventDefault();
  const email = new FormData(signIn).get('email');
  const { error } = await client.auth.signInWithOtp({ email, options: { emailRedirectTo: location.origin } });
  status.textContent = error?.message ?? `An email is on its way to ${email}`;
});
write.addEventListener('submit', async (event) => {
  event.preventDefault();
  const keep = 'mutation($body: String!) { insertIntoNoteCollection(objects: [{ body: $body }]) { affectedCount } }';
  await graphql(keep, { body: new FormData(write).get('body') });
  await showNotes();
});

const { error } = await client.auth.initialize();
const { data } = await client.auth.getSession();
status.textContent = error?.message ?? (data.session ? `Signed in as ${data.session.user.email}` : 'Not signed in');
write.hidden = !data.session;
if (data.session) await showNotes();

async function showNotes() {
  const { noteCollection } = await graphql('{ noteCollection { edges { node { body } } } }');
  notes.textContent = noteCollection.edges.map(({ node }) => node.body).join('\n');
}
async function graphql(query, variables) {
  const token = (await client.auth.getSession()).data.session.access_token;
  const headers = { apikey: settings.anonKey, authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  const body = JSON.stringify({ query, variables });
  const response = await fetch(`${settings.apiUrl}/graphql/v1`, { method: 'POST', headers, body });
  const answer = await response.json();
  if (answer.errors) throw new Error(answer.errors[0].message);
  return answer.data;
}

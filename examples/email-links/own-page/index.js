/** Asks for the emails. Their links lead to confirm.html. */
const client = supabase.createClient(settings.apiUrl, settings.anonKey);
const status = document.querySelector('#status');

client.auth.onAuthStateChange((_event, session) => {
  status.textContent = session ? `Signed in as ${session.user.email}` : 'Not signed in';
  document.querySelector('#change').hidden = !session;
});

onSubmit('#sign-up', ({ email, password }) => client.auth.signUp({ email, password }));
onSubmit('#forgotten', ({ email }) => client.auth.resetPasswordForEmail(email));
onSubmit('#change', ({ email }) => client.auth.updateUser({ email }));

/** Sends a form with `send` and says what came of it. */
function onSubmit(selector, send) {
  document.querySelector(selector).addEventListener('submit', async (event) => {
    event.preventDefault();
    const fields = Object.fromEntries(new FormData(event.target));
    const { error } = await send(fields);
    status.textContent = error ? error.message : `An email is on its way to ${fields.email}`;
  });
}

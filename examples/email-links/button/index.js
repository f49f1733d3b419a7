/** Asks for the email, and is where the auth service sends the browser in the end: with a session or an error behind `#`. */
const client = supabase.createClient(settings.apiUrl, settings.anonKey);
const status = document.querySelector('#status');

document.querySelector('#sign-up').addEventListener('submit', async (event) => {
  event.preventDefault();
  const { email, password } = Object.fromEntries(new FormData(event.target));
  const { error } = await client.auth.signUp({ email, password });
  status.textContent = error ? error.message : `An email is on its way to ${email}`;
});

const { error } = await client.auth.initialize();
const { data } = await client.auth.getSession();
if (error) status.textContent = error.message;
else if (data.session) status.textContent = `Signed in as ${data.session.user.email}`;
else status.textContent = 'Not signed in';

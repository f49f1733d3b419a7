/**
 * The link of the email leads to the auth service, which uses up the token and sends the browser here. What came of it stands
 * behind `#`: a session, or an error. The client reads it while it starts, and takes it out of the address bar.
 */
const client = supabase.createClient(settings.apiUrl, settings.anonKey);
const status = document.querySelector('#status');

document.querySelector('#sign-up').addEventListener('submit', async (event) => {
  event.preventDefault();
  const { email, password } = Object.fromEntries(new FormData(event.target));
  // Must be the site URL of the project, or match its list of allowed URLs.
  const options = { emailRedirectTo: location.origin };
  const { error } = await client.auth.signUp({ email, password, options });
  status.textContent = error ? error.message : `An email is on its way to ${email}`;
});

const { error } = await client.auth.initialize();
const { data } = await client.auth.getSession();
if (error) status.textContent = error.message;
else if (data.session) status.textContent = `Signed in as ${data.session.user.email}`;
else status.textContent = 'Not signed in';

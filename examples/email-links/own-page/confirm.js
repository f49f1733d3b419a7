/**
 * Where the links of the emails lead: exchanges the hash of the token for a session. Nothing but this page's own address is in
 * the email, and what has to follow (here: a new password) can follow at once.
 */
const client = supabase.createClient(settings.apiUrl, settings.anonKey);
const status = document.querySelector('#status');
const passwordForm = document.querySelector('#new-password');

const link = new URLSearchParams(location.search);
const [tokenHash, type] = [link.get('token_hash') ?? '', link.get('type') ?? ''];
// Works once, so it need not stay in the address bar and the history.
history.replaceState(null, '', location.pathname);

const { data, error } = await client.auth.verifyOtp({ token_hash: tokenHash, type });
if (error) status.textContent = error.message;
else if (!data.session) status.textContent = 'Confirmed. Now follow the link in the email to your other address';
else {
  status.textContent = `Signed in as ${data.session.user.email}`;
  passwordForm.hidden = type !== 'recovery';
}

passwordForm.addEventListener('submit', async (event) => {
  event.preventDefault();
  const { password } = Object.fromEntries(new FormData(event.target));
  const { error } = await client.auth.updateUser({ password });
  status.textContent = error ? error.message : 'Your new password is saved';
});

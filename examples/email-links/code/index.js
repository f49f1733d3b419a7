/**
 * No link at all: the email brings a code, and the page that asked for it asks for the code. Works where emails are read on
 * another device, and no scanner of links can use it up.
 */
const client = supabase.createClient(settings.apiUrl, settings.anonKey);
const [status, ask, enter] = ['#status', '#ask', '#enter'].map((selector) => document.querySelector(selector));

client.auth.onAuthStateChange((_event, session) => {
  status.textContent = session ? `Signed in as ${session.user.email}` : 'Not signed in';
});

ask.addEventListener('submit', async (event) => {
  event.preventDefault();
  const { email } = Object.fromEntries(new FormData(ask));
  const { error } = await client.auth.signInWithOtp({ email });
  status.textContent = error ? error.message : `A code is on its way to ${email}`;
  enter.hidden = error !== null;
});

enter.addEventListener('submit', async (event) => {
  event.preventDefault();
  const { email } = Object.fromEntries(new FormData(ask));
  const { code } = Object.fromEntries(new FormData(enter));
  // `email` is right for new and for known users alike, whichever of the two emails they got.
  const { error } = await client.auth.verifyOtp({ email, token: code, type: 'email' });
  if (error) status.textContent = error.message;
});

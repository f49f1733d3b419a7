/**
 * Where the link of the email leads. Mail filters open every link to look for malware, and would use the token up before its
 * owner comes. They do not press buttons: only the button leads on to the auth service. It is a button and not a link,
 * because a filter that renders the page would follow a link as well.
 *
 * Anybody can send people here with a `confirmation_url` of their own, so it must be the one place that our emails name.
 */
const given = new URLSearchParams(location.search).get('confirmation_url') ?? '';
const target = URL.parse(given);
const verify = new URL('/auth/v1/verify', settings.apiUrl);
const status = document.querySelector('#status');
const button = document.querySelector('#confirm');

if (target?.origin === verify.origin && target.pathname === verify.pathname) {
  status.textContent = 'Is it you? Then go on.';
  button.hidden = false;
  button.addEventListener('click', () => location.replace(target));
} else if (given !== '') {
  status.textContent = 'This link does not come from us and was not opened.';
}

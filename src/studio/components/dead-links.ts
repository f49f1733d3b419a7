/**
 * Marks the links of an email that lead nowhere: their address or their token is empty, because its variable is.
 */

const addresses = [
  '[href=""]', '[href="#"]', '[href="#ZgotmplZ"]', '[href$="token="]', '[href*="token=&"]', '[href$="token_hash="]',
  '[href*="token_hash=&"]',
]; // biome-ignore format: a list
const dead = `a:is(${addresses.join()})`;

/** For the head of the email. */
export const deadLinkHead = `<style>
${dead} { outline: 2px dashed #c62828 !important; outline-offset: 2px !important }
${dead}::after { content: " leads nowhere" !important; color: #c62828 !important; background: #fff !important }
</style>`;

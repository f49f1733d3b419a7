/**
 * Invites a user: `node invite.ts ADDRESS`. Inviting is for programs that hold the service key, never for a page.
 */
import { createClient } from '@supabase/supabase-js';
import { apiUrl, required } from './settings.ts';

const [address] = process.argv.slice(2);
if (address === undefined) throw new Error('Usage: node invite.ts ADDRESS');

const supabase = createClient(apiUrl, required('SERVICE_KEY'), { auth: { persistSession: false } });
const { data, error } = await supabase.auth.admin.inviteUserByEmail(address);
if (error) throw error;
console.log('Invited', data.user.email);

/** Clients that send large requests, or do not read large answers, take no more memory than there is for all of them (bounded-messages.ts). */
import { testLargeMessages } from './bounded-messages.ts';

await testLargeMessages(64, 30, 100);

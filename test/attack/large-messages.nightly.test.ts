/** As large-messages.test.ts, with a gateway that may hold more, and three to four times as much that is sent. */
import { testLargeMessages } from './bounded-messages.ts';

await testLargeMessages(128, 90, 400);

/** The answer of requests that send a message. */
import { type AnswerJson, from, optional, serializerOf, text } from '../../shared/schema.ts';

/** The answer: empty, or with the id of the text message. */
export const messageSerializer = serializerOf<string>('AuthMessage', {
  message_id: from(optional(text), (id) => id || undefined),
});

/** Made by `messageSerializer`. */
export type MessageAnswer = AnswerJson;

/** The answer with the sender's id of a message, or without it if the id is empty. */
export function messageAnswer(messageId: string): MessageAnswer {
  return messageSerializer.print(messageId);
}

// Reads the journal of a thread as a transcript. Results stand where they were committed: putting each one behind its
// call is the repair's work, so that there is one place that knows what providers accept.

import type { JournalEvent } from '../journal.js';
import type { JsonValue } from '../json.js';
import type { Message } from './message.js';

/** Messages of `events` (whole turns, oldest first) as they were journaled; pass them through `repairHistory` before use. */
export function messagesOf(events: readonly JournalEvent[]): Message[] {
  const messages: Message[] = [];
  for (const event of events) {
    const message = messageOf(event);
    if (message !== null) messages.push(message);
  }
  return messages;
}

function messageOf(event: JournalEvent): Message | null {
  switch (event.kind) {
    case 'user_message':
      return { role: 'user', text: event.text };
    case 'assistant_message':
      return { role: 'assistant', text: event.text, calls: event.calls };
    case 'tool_result':
      return {
        role: 'tool',
        call_id: event.call_id,
        name: event.tool,
        content: withHandle(event.content, event.artifact_id),
        is_error: event.is_error,
      };
    case 'note':
      return { role: 'note', text: event.text };
    case 'tool_intent':
    case 'usage':
    case 'window_opened':
    case 'turn_ended':
      return null;
  }
}

/** The handle of the whole output, where the model saw it when the call ended. */
function withHandle(content: JsonValue, artifactId: string | undefined): JsonValue {
  if (artifactId === undefined || typeof content !== 'object' || content === null || Array.isArray(content))
    return content;
  return { ...content, artifact_id: artifactId };
}
